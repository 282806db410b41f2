#!/bin/bash
# bash make_postgres.sh > postgres.jsonl: random() after setseed(), in a server made for it.
set -e
place=$(mktemp -d)
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
as() { if [ "$(id -u)" = 0 ]; then runuser -u postgres -- "$@"; else "$@"; fi; }
[ "$(id -u)" != 0 ] || chown postgres "$place"
cd "$place"
trap 'as "$bin/pg_ctl" -D "$place/data" -m immediate stop > /dev/null; rm -rf "$place"' EXIT
as "$bin/initdb" -D "$place/data" -A trust > /dev/null
as "$bin/pg_ctl" -D "$place/data" -o "-k $place -c listen_addresses=" -w -l "$place/log" start > /dev/null
for seed in 0 1 42000000 500000000 123456789 1000000000 1000000001 1420000000 1999999999 2000000000; do
    if [ "$seed" -le 1000000000 ]; then value="$seed / 1e9::float8"; else value="-($seed - 1000000000) / 1e9::float8"; fi
    as psql -h "$place" -d template1 -qAt <<SQL
SELECT setseed(($value)::float8) \g /dev/null
SELECT json_build_object('family', 'postgres', 'output', 'scaled', 'modulus', 1000, 'seed', $seed,
    'first', (SELECT json_agg(floor(random() * 1000)::int) FROM generate_series(1, 40)));
SQL
done

#!/bin/bash
# bash make_jsc.sh > jsc.jsonl: Math.random() of WebKit's engine, the seed set by its options.
# Needs libjavascriptcoregtk-4.1-dev. Every seed has a process of its own.
set -e
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
cat > "$place/made.c" <<'C'
#include <jsc/jsc.h>
#include <stdio.h>

int main(void) {
    JSCValue *value = jsc_context_evaluate(jsc_context_new(),
        "JSON.stringify(Array.from({length: 60}, () => Math.floor(Math.random() * 1000)))", -1);
    puts(jsc_value_to_string(value));
    return 0;
}
C
cc -O1 -w -o "$place/made" "$place/made.c" $(pkg-config --cflags --libs javascriptcoregtk-4.1)
for seed in 0 1 1234 20240229 3735928559 4294967295; do
    first=$(JSC_useJIT=0 JSC_forceWeakRandomSeed=1 JSC_forcedWeakRandomSeed=$seed "$place/made")
    echo "{\"family\": \"jsc\", \"output\": \"scaled\", \"modulus\": 1000, \"seed\": $seed, \"first\": $first}"
done

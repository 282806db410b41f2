"""Check a ledger with nothing but Python: python verify_ledger.py RUN [SIZE ROOT]...

Follows docs/ledger-format.md and shares no code with Weft. SIZE and ROOT are heads that you know
from elsewhere; without one, a ledger that was cut or written anew as a whole cannot be found out.
"""

import base64
import hashlib
import json
import sys
from pathlib import Path


def need(holds, what):
    if not holds:
        raise ValueError(what)


def sha(data):
    return hashlib.sha256(data).digest()


def canonical(value):  # section 3: RFC 8785 for objects, arrays, strings and integers
    if isinstance(value, dict):
        pairs = sorted(value.items(), key=lambda pair: pair[0].encode("utf-16-be"))
        return "{" + ",".join(f"{canonical(k)}:{canonical(v)}" for k, v in pairs) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(canonical, value)) + "]"
    need(not isinstance(value, float), "a number that is no integer")
    return json.dumps(value, ensure_ascii=False)


def key_of(record, genesis, rounds):  # section 6
    body, kind = record["body"], record["kind"]
    asked = body if kind == "genesis" else [genesis, kind, body["lane"], body.get("round", rounds)]
    if kind == "result":
        asked = [
            "task",
            genesis,
            *(body[n] for n in ("lane", "round", "index", "function", "args")),
        ]
    return sha(canonical(asked).encode()).hex()


def root(lines):  # section 8: RFC 6962, by a stack of perfect trees
    trees = []
    for line in lines:
        trees.append((1, sha(b"\0" + line)))
        while len(trees) > 1 and trees[-2][0] == trees[-1][0]:
            (n, left), (_, right) = trees[-2:]
            trees[-2:] = [(2 * n, sha(b"\1" + left + right))]
    while len(trees) > 1:
        trees[-2:] = [(0, sha(b"\1" + trees[-2][1] + trees[-1][1]))]
    return trees[0][1] if trees else sha(b"")


def check(data, checkpoint, heads):  # sections 2, 7 and 9
    *lines, torn = data.split(b"\n")
    last, genesis, rounds, ended = "0" * 64, "", {}, False
    for seq, line in enumerate(lines):
        record = json.loads(line)
        body, kind, at = record["body"], record["kind"], f"record {seq}"
        need(canonical(record).encode() == line, f"{at} is not canonical")
        need(set(record) == {"body", "key", "kind", "prev_hash", "seq", "v"}, f"{at}: its fields")
        need((record["seq"], record["v"], ended) == (seq, 1, False), f"{at} cannot stand here")
        need(record["prev_hash"] == last, f"{at}: the line before it is another")
        need((kind == "genesis") == (seq == 0), f"{at} cannot be of kind {kind}")
        key = key_of(record, genesis, rounds.get(body.get("lane"), 0))
        need(record["key"] == key, f"{at}: its key is not that of its place")
        if kind in ("round", "lanes"):
            rounds[body["lane"]] = body["round"] + 1
        last, genesis = sha(line).hex(), genesis or key
        ended = kind == "answer" and body["lane"] == ""
    origin, size, noted = checkpoint.removesuffix("\n").split("\n")
    need(origin == "weft/" + json.loads(lines[0])["body"]["search"], "the checkpoint's origin")
    need(not ended or (not torn and int(size) == len(lines)), "something follows the answer")
    for count, wanted in [(int(size), base64.b64decode(noted)), *heads]:
        need(count <= len(lines), f"record {len(lines)} is missing: a head counts {count}")
        need(root(lines[:count]) == wanted, f"the root over {count} records is another")
    return f"{len(lines)} {root(lines).hex()} {'finished' if ended else 'unfinished'}"


if __name__ == "__main__":
    try:
        run, pairs = Path(sys.argv[1]), sys.argv[2:]
        heads = [(int(n), bytes.fromhex(r)) for n, r in zip(pairs[::2], pairs[1::2], strict=True)]
    except (IndexError, ValueError):
        sys.exit("usage: python verify_ledger.py RUN [SIZE ROOT]...")
    try:
        print(check((run / "ledger.jsonl").read_bytes(), (run / "checkpoint").read_text(), heads))
    except (ValueError, KeyError, TypeError, IndexError, RecursionError, OSError) as error:
        sys.exit(f"damaged: {error}")

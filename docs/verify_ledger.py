"""Check a ledger with nothing but Python: verify_ledger.py RUN [--public-key FILE] [SIZE ROOT]...

Follows docs/ledger-format.md and shares no code with Weft. SIZE and ROOT are heads that you know
from elsewhere; without one, and without a public key that must have signed the whole finished
ledger, a ledger that was truncated or entirely rewritten cannot be detected.
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


def root(lines):  # section 8: RFC 6962, with a stack of perfect trees
    trees = []
    for line in lines:
        trees.append((1, sha(b"\0" + line)))
        while len(trees) > 1 and trees[-2][0] == trees[-1][0]:
            (n, left), (_, right) = trees[-2:]
            trees[-2:] = [(2 * n, sha(b"\1" + left + right))]
    while len(trees) > 1:
        trees[-2:] = [(0, sha(b"\1" + trees[-2][1] + trees[-1][1]))]
    return trees[0][1] if trees else sha(b"")


def head_of(text):  # section 9
    origin, size, noted = text.removesuffix("\n").split("\n")
    return origin, int(size), base64.b64decode(noted, validate=True)


P, L = 2**255 - 19, 2**252 + 27742317777372353535851937790883648493  # RFC 8032, section 5.1
D = -121665 * pow(121666, -1, P) % P


def add(a, b):  # the points a and b as (X, Y, Z, T): section 5.1.4
    m, n = (a[1] - a[0]) * (b[1] - b[0]), (a[1] + a[0]) * (b[1] + b[0])
    c, d = 2 * a[3] * b[3] * D, 2 * a[2] * b[2]
    e, f, g, h = n - m, d - c, d + c, n + m
    return e * f % P, g * h % P, f * g % P, e * h % P


def times(n, point):
    total = (0, 1, 1, 0)
    for bit in bin(n)[2:]:
        total = add(total, total)
        total = add(total, point) if bit == "1" else total
    return total


def point_of(data):  # section 5.1.3
    number = int.from_bytes(data, "little")
    sign, y = number >> 255, number % 2**255
    square = (y * y - 1) * pow(D * y * y + 1, -1, P) % P
    x = pow(square, (P + 3) // 8, P)
    x = x if x * x % P == square else x * pow(2, (P - 1) // 4, P) % P
    need(y < P and x * x % P == square and (x or not sign), "no point of the curve")
    x = x if x % 2 == sign else P - x
    return x, y, 1, x * y % P


def holds(signature, text, key):  # RFC 8032, section 5.1.7
    r, s = signature[:32], int.from_bytes(signature[32:], "little")
    k = int.from_bytes(hashlib.sha512(r + key + text).digest(), "little") % L
    left, right = times(s, BASE), add(point_of(r), times(k, point_of(key)))
    same = [left[i] * right[2] % P == right[i] * left[2] % P for i in (0, 1)]
    return len(signature) == 64 and s < L and all(same)


BASE = point_of((4 * pow(5, -1, P) % P).to_bytes(32, "little"))


def public_key(pem):  # RFC 8410, section 4
    begin, *lines, _ = [*pem.split("\n"), ""]
    need(begin.strip() == "-----BEGIN PUBLIC KEY-----", "the key file is no public key in PEM")
    encoded = "".join(lines).partition("-----")[0]
    data = base64.b64decode("".join(encoded.split()), validate=True)
    need(data[:-32].hex() == "302a300506032b6570032100", "the public key is not one of Ed25519")
    return data[-32:]


def check_note(note, key):  # section 10
    text, separator, lines = note.rpartition("\n\n")
    need(separator and lines.endswith("\n"), "checkpoint.sig is no signed note")
    ours = []
    for line in lines[:-1].split("\n"):
        mark, name, encoded = line.split(" ")
        need(mark == "\u2014" and name, "checkpoint.sig has a damaged signature line")
        signed = base64.b64decode(encoded, validate=True)
        if key and signed[:4] == sha(name.encode() + b"\n\x01" + key)[:4]:
            ours.append(signed[4:])
    fits = all(holds(signature, text.encode() + b"\n", key) for signature in ours)
    need(fits, "the signature does not fit what checkpoint.sig says")
    return head_of(text), bool(ours)


def check_signed(data, checkpoint, heads, note, key):  # the signed head must hold too
    if note is None:
        found = check(data, checkpoint, heads)
        need(not key, "not signed: there is no checkpoint.sig")
        return found
    (origin, signed, noted), is_ours = check_note(note, key)
    need(origin == head_of(checkpoint)[0], "checkpoint.sig is of another search")
    found = check(data, checkpoint, [*heads, (signed, noted)])
    size, _, word = found.split()
    if key:
        need(is_ours, "not signed: checkpoint.sig has no signature of this key")
        need((size, word) == (str(signed), "finished"), f"signed to {signed} of {size}, {word}")
    return f"{found}, signed" if key else found


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
    origin, size, noted = head_of(checkpoint)
    need(origin == "weft/" + json.loads(lines[0])["body"]["search"], "the checkpoint's origin")
    need(not ended or not torn, "something follows the answer")
    for count, wanted in [(size, noted), *heads]:
        need(count <= len(lines), f"record {len(lines)} is missing: a head has {count} records")
        need(root(lines[:count]) == wanted, f"the root over {count} records is another")
    finished = ended and size == len(lines)
    return f"{len(lines)} {root(lines).hex()} {'finished' if finished else 'unfinished'}"


def main(words):
    try:
        at = words.index("--public-key") if "--public-key" in words else len(words)
        key = public_key(Path(words[at + 1]).read_text()) if words[at:] else None
        del words[at : at + 2]
        run, pairs = Path(words[0]), words[1:]
        heads = [(int(n), bytes.fromhex(r)) for n, r in zip(pairs[::2], pairs[1::2], strict=True)]
    except (IndexError, ValueError, OSError) as error:
        usage = "usage: python verify_ledger.py RUN [--public-key FILE] [SIZE ROOT]..."
        sys.exit(f"{usage} ({error})")
    try:
        data, checkpoint = (run / "ledger.jsonl").read_bytes(), (run / "checkpoint").read_text()
        signature = run / "checkpoint.sig"
        note = signature.read_bytes().decode() if signature.exists() else None
        print(check_signed(data, checkpoint, heads, note, key))
    except (ValueError, KeyError, TypeError, IndexError, RecursionError, OSError) as error:
        sys.exit(f"damaged: {error}")


if __name__ == "__main__":
    main(sys.argv[1:])

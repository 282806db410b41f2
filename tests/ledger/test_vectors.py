"""The golden ledger: code, vectors.json and docs/ledger-format.md agree.

`verify` below is the verifier an outsider would write from the document alone: it uses nothing
of Weft.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from tests.ledger.golden import VECTORS, vectors
from weft.ledger.merkle import check_consistency, check_inclusion
from weft.signing import check_signed_note

DOC = (Path(__file__).parents[2] / "docs" / "ledger-format.md").read_text("utf-8")
STORED: dict[str, Any] = json.loads(VECTORS.read_text("utf-8"))


def test_vectors_are_what_the_code_writes() -> None:
    assert vectors() == STORED


def block(label: str) -> str:
    """The fenced block of the document that follows `<!-- vector: label -->`."""
    match = re.search(rf"<!-- vector: {label} -->\n+```\w*\n(.*?)```\n", DOC, re.DOTALL)
    assert match, f"docs/ledger-format.md has no vector {label}"
    return match[1]


def test_document_shows_the_vectors() -> None:
    assert block("ledger").splitlines() == STORED["lines"]
    assert block("line-hashes").splitlines() == STORED["line_hashes"]
    assert block("roots").splitlines() == [
        f"{size:2} {root}" for size, root in enumerate(STORED["roots"])
    ]
    assert block("inclusion").splitlines() == STORED["inclusion_of_5"]
    assert block("consistency").splitlines() == STORED["consistency_from_6"]
    assert block("checkpoint") == STORED["checkpoint"]
    assert block("public-key").strip() == STORED["public_key"]
    assert block("signed-note") == STORED["signed_note"]


def test_document_names_hashes_of_its_key_texts() -> None:
    pairs = re.findall(r"^sha256\((.+)\)\n= ([0-9a-f]{64})$", block("keys"), re.MULTILINE)
    keys = {json.loads(line)["key"] for line in STORED["lines"]}
    assert len(pairs) == 3
    for text, key in pairs:
        assert hashlib.sha256(text.encode()).hexdigest() == key
        assert key in keys


def mth(lines: list[bytes]) -> bytes:
    if len(lines) < 2:
        return hashlib.sha256(b"\x00" + lines[0] if lines else b"").digest()
    k = 1 << (len(lines) - 1).bit_length() - 1
    return hashlib.sha256(b"\x01" + mth(lines[:k]) + mth(lines[k:])).digest()


def record_key(genesis: str, kind: str, body: dict[str, Any], rounds: dict[str, int]) -> str:
    lane = body["lane"]
    if kind == "result":
        head = ["task", genesis, lane, body["round"], body["index"]]
        return sha256_json([*head, body["function"], body["args"]])
    round_ = rounds.get(lane, 0)
    assert body.get("round", round_) == round_
    rounds[lane] = round_ + 1
    return sha256_json([genesis, kind, lane, round_])


def sha256_json(value: Any) -> str:
    return hashlib.sha256(rfc8785.dumps(value)).hexdigest()


def verify(lines: list[bytes]) -> bytes:
    """Check lines, chain and keys as the document specifies; return the root."""
    prev, genesis = "0" * 64, ""
    rounds: dict[str, int] = {}
    for seq, line in enumerate(lines):
        record = json.loads(line)
        assert rfc8785.dumps(record) == line
        assert (record["v"], record["seq"], record["prev_hash"]) == (1, seq, prev)
        assert (record["kind"] == "genesis") == (seq == 0)
        genesis = genesis or sha256_json(record["body"])
        expected = record_key(genesis, record["kind"], record["body"], rounds) if seq else genesis
        assert record["key"] == expected
        prev = hashlib.sha256(line).hexdigest()
    return mth(lines)


@pytest.mark.parametrize("size", range(1, len(STORED["lines"]) + 1))
def test_strangers_verifier_accepts_every_prefix(size: int) -> None:
    lines = [line.encode() for line in STORED["lines"][:size]]
    assert verify(lines).hex() == STORED["roots"][size]


def test_strangers_verifier_reads_checkpoint_and_note() -> None:
    origin, size, root, rest = STORED["checkpoint"].split("\n")
    assert (origin, int(size), rest) == ("weft/climb:climb", len(STORED["lines"]), "")
    assert base64.b64decode(root).hex() == STORED["roots"][-1]
    text, _, signature = STORED["signed_note"].rpartition("\n\n— ")
    name, encoded = signature.split()
    public = bytes.fromhex(STORED["public_key"])
    signed = base64.b64decode(encoded)
    assert signed[:4] == hashlib.sha256(name.encode() + b"\n\x01" + public).digest()[:4]
    key = Ed25519PublicKey.from_public_bytes(public)
    key.verify(signed[4:], (text + "\n").encode())
    assert check_signed_note(STORED["signed_note"], key) == STORED["checkpoint"]


def test_proofs_in_the_vectors_hold() -> None:
    leaf = bytes.fromhex(STORED["leaf_hashes"][5])
    roots = [bytes.fromhex(root) for root in STORED["roots"]]
    inclusion = [bytes.fromhex(step) for step in STORED["inclusion_of_5"]]
    consistency = [bytes.fromhex(step) for step in STORED["consistency_from_6"]]
    assert check_inclusion(leaf, 5, 10, inclusion, roots[10])
    assert check_consistency(6, roots[6], 10, roots[10], consistency)

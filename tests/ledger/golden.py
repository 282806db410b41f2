"""The golden ledger of docs/ledger-format.md, built with the code, and the vectors derived from it.

    python -m tests.ledger.golden        rewrites tests/ledger/vectors.json

A change in the vectors is a change of the format: earlier ledgers can no longer be read.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from weft.ledger import merkle
from weft.ledger.chain import Chain
from weft.ledger.checkpoint import Checkpoint, origin_of
from weft.ledger.records import line_hash
from weft.model.keys import record_key, sha256_hex, task_key
from weft.model.values import Object, canonical, encode, to_wire
from weft.signing import sign_checkpoint

VECTORS = Path(__file__).with_name("vectors.json")
SEARCH = "climb:climb"
KEY_NAME = "example.org/weft"
PRIVATE_KEY = bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")
"""The secret key of RFC 8032 §7.1, test 1."""

GENESIS = {
    "config": {
        "args": {"depth": 2, "rate": 0.1},
        "budget": {},
        "retries": 0,
        "strict": False,
        "timeout_s": None,
    },
    "format": 1,
    "inputs": {"table": hashlib.sha256(b"1,2\n3,4\n").hexdigest()},
    "libraries": {},
    "search": SEARCH,
    "seed": 7,
    "version": 1,
}
TIMED_OUT = {"exit_code": None, "stage": "run", "type": "timeout"}


class Golden:
    """Writes records of every kind, as a run would."""

    def __init__(self) -> None:
        self.chain = Chain()
        self.lines: list[bytes] = []
        body = encode(GENESIS)
        self.genesis = sha256_hex(body)
        self._add("genesis", self.genesis, body)

    def _add(self, kind: str, key: str, body: str) -> None:
        self.lines.append(self.chain.next_line(kind, key, body))

    def result(self, lane: str, index: int, args: Any, **outcome: Any) -> None:
        key = task_key(self.genesis, lane, 0, index, "climb:score", encode(args))
        body = {"args": to_wire(args), "function": "climb:score", "index": index, "lane": lane}
        wire = {name: to_wire(value) for name, value in outcome.items()}
        self._add("result", key, canonical({**body, **wire, "round": 0}))

    def record(self, kind: str, lane: str, round_: int, **body: Any) -> None:
        key = record_key(self.genesis, kind, lane, round_)
        self._add(kind, key, canonical({"lane": lane, **to_wire(body)}))


def golden() -> Golden:
    """Build the golden ledger: a round with a failure, two lanes, the answers."""
    run = Golden()
    run.result("", 0, {"x": -3}, value={"fit": 0.1, "score": -(2**60)})
    run.result("", 1, {"x": 10**20}, error=TIMED_OUT)
    run.record("round", "", 0, round=0, tasks=3, recorded=2, stopped=True)
    run.record("lanes", "", 1, round=1, names=["a", "é"])
    picture = Object(hashlib.sha256(b"picture").hexdigest())
    run.result("/a", 0, {"x": 1}, value={"$note": 'tab\tquote"', "image": picture})
    run.record("round", "/a", 0, round=0, tasks=1, recorded=1, stopped=False)
    run.record("answer", "/a", 1, status="answered", value=1)
    run.record("answer", "/é", 0, status="unknown", reason="incomplete", detail=None)
    totals = {"completed": 2, "failed": 1, "timing_dependent": True}
    run.record("answer", "", 2, status="answered", value=[1, None], **totals)
    return run


def vectors() -> dict[str, Any]:
    """Everything an outsider needs to test a verifier, computed from the golden ledger."""
    lines = golden().lines
    leaves = [merkle.leaf_hash(line) for line in lines]
    checkpoint = Checkpoint(origin_of(SEARCH), len(lines), merkle.root(leaves)).to_text()
    key = Ed25519PrivateKey.from_private_bytes(PRIVATE_KEY)
    return {
        "lines": [line.decode() for line in lines],
        "line_hashes": [line_hash(line) for line in lines],
        "leaf_hashes": [leaf.hex() for leaf in leaves],
        "roots": [merkle.root(leaves[:size]).hex() for size in range(len(lines) + 1)],
        "inclusion_of_5": [step.hex() for step in merkle.prove_inclusion(leaves, 5)],
        "consistency_from_6": [step.hex() for step in merkle.prove_consistency(leaves, 6)],
        "checkpoint": checkpoint,
        "key_name": KEY_NAME,
        "public_key": key.public_key().public_bytes_raw().hex(),
        "signed_note": sign_checkpoint(checkpoint, KEY_NAME, key),
    }


if __name__ == "__main__":
    VECTORS.write_text(json.dumps(vectors(), indent=1, ensure_ascii=False) + "\n", "utf-8")

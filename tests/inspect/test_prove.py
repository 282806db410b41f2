"""Proofs hold for recorded results and for nothing else."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.inspect.runs import (
    put_checkpoint,
    put_ledger,
    read_checkpoint,
    read_lines,
    rewritten,
    unseal,
)
from weft.errors import FileInvalid, InputError, LedgerDamaged, WeftError
from weft.inspect.explain import explain
from weft.inspect.prove import (
    ConsistencyProof,
    Proof,
    check_consistency_proof,
    check_proof,
    prove,
    prove_consistency,
)
from weft.ledger import merkle
from weft.ledger.records import parse


def key_of(run: Path, seq: int) -> str:
    return parse(read_lines(run)[seq].rstrip(b"\n")).key


@pytest.mark.parametrize("seq", [0, 1, 41, 128, 255, 256, 260])
def test_a_proof_of_a_record_holds_by_itself(finished: Path, seq: int) -> None:
    proof = prove(finished, key_of(finished, seq)[:12])
    assert proof.index == seq
    reread = Proof.from_dict(json.loads(json.dumps(proof.to_dict())))
    assert reread == proof
    check_proof(reread, root=read_checkpoint(finished).root)


def test_prove_accepts_what_explain_accepts(finished: Path) -> None:
    """By key, by key prefix and by place; in the root lane, in lanes, failed or not."""
    count = 0
    for seq, line in enumerate(read_lines(finished)):
        record = parse(line.rstrip(b"\n"))
        if record.kind != "result":
            continue
        body = record.body
        place = f"{body['lane']}:{body['round']}:{body['index']}"
        assert explain(finished, place).record == prove(finished, place).index == seq
        count += 1
        if count % 20 == 0:
            for key in (record.key, record.key[:8]):
                assert explain(finished, key).record == prove(finished, key).index == seq
    assert prove(finished, "/:0:1") == prove(finished, ":0:1")


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (":0:999", "no result of task :0:999 is recorded; weft explain"),
        ("/nowhere:0:0", "no result of task"),
        (":0", "not the position of a task; write LANE:ROUND:INDEX"),
        (":x:1", "not the position of a task"),
        (":0:-1", "not the position of a task"),
    ],
)
def test_a_place_without_a_record_is_refused(finished: Path, place: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        prove(finished, place)


def test_an_altered_proof_does_not_hold(finished: Path) -> None:
    proof = prove(finished, key_of(finished, 20))
    other = prove(finished, key_of(finished, 21))
    altered = [
        replace(proof, line=proof.line.replace('"height":', '"height":1')),
        replace(proof, line=other.line),
        replace(proof, line="rubbish"),
        replace(proof, index=21),
        replace(proof, index=-1),
        replace(proof, size=2 * proof.size),
        replace(proof, size=0),
        replace(proof, root=other.path[0]),
        replace(proof, root="no hash"),
        replace(proof, path=other.path),
        replace(proof, path=proof.path[:-1]),
        replace(proof, path=(*proof.path, proof.path[0])),
        replace(proof, path=("zz", *proof.path[1:])),
    ]
    for bad in altered:
        with pytest.raises(LedgerDamaged):
            check_proof(bad)
    with pytest.raises(LedgerDamaged, match="not 00"):
        check_proof(proof, root=bytes(32))
    with pytest.raises(LedgerDamaged, match="not 262"):
        check_proof(proof, size=262)


def test_a_genesis_proof_binds_the_origin(finished: Path) -> None:
    proof = prove(finished, key_of(finished, 0))
    with pytest.raises(LedgerDamaged, match="origin"):
        check_proof(replace(proof, origin="weft/other:other"))


@pytest.mark.parametrize("key", ["", "abc", "0123456", "XYZXYZXYZ", "g" * 64, "a" * 65, "../../.."])
def test_a_key_that_is_none_is_refused(finished: Path, key: str) -> None:
    with pytest.raises(InputError, match="8 to 64"):
        prove(finished, key)


def test_a_key_that_nobody_has_is_refused(finished: Path) -> None:
    with pytest.raises(InputError, match="no record has a key"):
        prove(finished, "00000000")


def test_a_key_that_several_have_is_refused(run: Path) -> None:
    lines = read_lines(run)
    lines.append(lines[5].replace(b'"seq":5,', b'"seq":261,'))
    put_ledger(run, b"".join(lines))
    with pytest.raises(InputError, match="2 records"):
        prove(run, key_of(run, 5))


def test_a_record_past_the_checkpoint_cannot_be_proven_yet(run: Path) -> None:
    lines = read_lines(run)
    put_checkpoint(run, lines[:30], sealed=False)
    unseal(run)
    assert prove(run, key_of(run, 29)).size == 30
    with pytest.raises(InputError, match="record 30 is past it"):
        prove(run, key_of(run, 30))


def test_nothing_is_proven_from_an_altered_ledger(run: Path) -> None:
    forged = rewritten(read_lines(run), 30, lambda body: body["value"].update(height=0))
    put_ledger(run, b"".join(forged))
    with pytest.raises(LedgerDamaged, match="not the checkpoint's"):
        prove(run, key_of(run, 5))


@pytest.mark.parametrize("old_size", [0, 1, 2, 100, 128, 255, 261])
def test_a_consistency_proof_holds_by_itself(finished: Path, old_size: int) -> None:
    leaves = [merkle.leaf_hash(line.rstrip(b"\n")) for line in read_lines(finished)]
    proof = prove_consistency(finished, old_size)
    reread = ConsistencyProof.from_dict(json.loads(json.dumps(proof.to_dict())))
    old_root, root = merkle.root(leaves[:old_size]), merkle.root(leaves)
    check_consistency_proof(reread, old_root=old_root, root=root)
    with pytest.raises(LedgerDamaged):
        check_consistency_proof(replace(reread, old_root="00" * 32))
    with pytest.raises(LedgerDamaged):
        check_consistency_proof(replace(reread, path=(*reread.path, "00" * 32)))
    with pytest.raises(LedgerDamaged, match="old root"):
        check_consistency_proof(reread, old_root=bytes(32))


def test_a_consistency_proof_beyond_the_ledger_is_refused(finished: Path) -> None:
    for old_size in (-1, 262):
        with pytest.raises(InputError):
            prove_consistency(finished, old_size)


@pytest.mark.parametrize(
    "change",
    [
        {"schema_version": 2},
        {"size": "261"},
        {"size": True},
        {"index": -1},
        {"root": "AB" * 32},
        {"path": ["00"]},
        {"path": "00"},
        {"path": ["00" * 32] * 65},
        {"line": None},
        {"more": 1},
    ],
)
def test_a_proof_file_is_read_strictly(finished: Path, change: dict[str, Any]) -> None:
    raw = prove(finished, key_of(finished, 20)).to_dict()
    with pytest.raises(FileInvalid):
        Proof.from_dict({**raw, **change})
    missing = {name: value for name, value in raw.items() if name != "line"}
    with pytest.raises(FileInvalid):
        Proof.from_dict(missing)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=6,
)
_NAMES = ("schema_version", "origin", "size", "root", "index", "line", "path")


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(_NAMES, _JSON)) | _JSON)
def test_anything_else_is_refused_in_our_words(raw: Any) -> None:
    try:
        check_proof(Proof.from_dict(raw))
    except WeftError:
        return
    raise AssertionError("a random document proves nothing")

"""The ledger's grammar: records that are chained correctly but not allowed at their place."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.inspect.runs import read_lines, rewritten
from weft.errors import LedgerDamaged
from weft.inspect.ledgercheck import check_ledger
from weft.ledger.chain import Chain
from weft.ledger.records import parse
from weft.model.values import canonical

GOLDEN = Path(__file__).parents[1] / "golden" / "engine-v1"
LINES = (GOLDEN / "ledger.jsonl").read_bytes().splitlines(keepends=True)
RECORDS = [parse(line[:-1]) for line in LINES]
FIRST = {kind: next(r.seq for r in RECORDS if r.kind == kind) for kind in ("round", "lanes")}
LAST = len(LINES) - 1
Change = Callable[[dict[str, Any]], Any]


def check(lines: list[bytes]) -> None:
    check_ledger(lines, None, sealed=False)


@pytest.mark.parametrize(
    ("seq", "change", "reason"),
    [
        (3, lambda b: b.update(index=9), "task 2 of round 0 in lane /"),
        (3, lambda b: b.update(lane="/x"), "task 2 of round 0 in lane /"),
        (3, lambda b: b.update(round=1), "task 2 of round 0 in lane /"),
        (3, lambda b: b.update(args={"x": 51}), "its key is not that of its task"),
        (3, lambda b: b.update(function="loom:step"), "its key is not that of its task"),
        (3, lambda b: b.pop("value"), "it has no outcome"),
        (3, lambda b: b.update(error=None), "it has no outcome"),
        (3, lambda b: b.pop("args"), "not that of kind result"),
        (FIRST["round"], lambda b: b.update(recorded=1), "40 results stand before it"),
        (FIRST["round"], lambda b: b.update(tasks=41), "not over"),
        (FIRST["round"], lambda b: b.update(tasks="x", stopped=True), "not that of kind round"),
        (FIRST["lanes"], lambda b: b.update(names=3), "not that of kind lanes"),
        (FIRST["lanes"], lambda b: b["names"].reverse(), "in lane /right"),
        (LAST, lambda b: b.update(completed=1), "its totals are not those"),
        (LAST, lambda b: b.update(timing_dependent=True), "its totals are not those"),
        (LAST, lambda b: b.update(status="sure"), "no status"),
        (LAST, lambda b: b.pop("failed"), "not that of kind answer"),
    ],
)
def test_a_body_that_cannot_stand_there_is_found(seq: int, change: Change, reason: str) -> None:
    with pytest.raises(LedgerDamaged, match=reason):
        check(rewritten(LINES, seq, change))


@pytest.mark.parametrize("seq", [FIRST["round"], FIRST["lanes"], LAST - 1, 100])
def test_a_record_left_out_is_found_though_the_chain_was_recomputed(seq: int) -> None:
    chain = Chain()
    rest = [r for r in RECORDS if r.seq != seq]
    lines = [chain.next_line(r.kind, r.key, canonical(r.body)) + b"\n" for r in rest]
    with pytest.raises(LedgerDamaged):
        check_ledger(lines, None, sealed=True)


def test_the_golden_ledger_passes() -> None:
    check(rewritten(LINES, 0, lambda body: None))


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@settings(max_examples=150)
@given(st.data())
def test_any_other_body_ends_in_our_words(data: st.DataObject) -> None:
    seq = data.draw(st.sampled_from([0, 3, 17, FIRST["round"], FIRST["lanes"], 60, LAST]))
    record = RECORDS[seq]
    name = data.draw(st.sampled_from(sorted(record.body)))
    body = {**record.body, name: data.draw(_JSON)}
    chain = Chain()
    for line in LINES[:seq]:
        chain.accept(line[:-1])
    try:
        check([*LINES[:seq], chain.next_line(record.kind, record.key, canonical(body)) + b"\n"])
    except LedgerDamaged as error:
        assert error.seq == seq  # noqa: PT017 - either outcome is right, nothing else is


@given(st.binary(max_size=300), st.booleans())
def test_any_other_bytes_end_in_our_words(data: bytes, sealed: bool) -> None:
    lines = data.splitlines(keepends=True)
    try:
        facts = check_ledger(lines, None, sealed=sealed)
    except LedgerDamaged:
        assert sealed
    else:
        assert facts.size == 0


def test_the_reader_of_a_run_uses_the_same_grammar(finished: Path) -> None:
    check(read_lines(finished))

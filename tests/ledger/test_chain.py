"""Damage to a ledger or its checkpoint is found and attributed to a record."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ledger.golden import GENESIS, SEARCH, golden
from tests.support.untraced import untraced
from weft.errors import LedgerDamaged
from weft.ledger.chain import Chain, check_lines
from weft.ledger.checkpoint import Checkpoint, origin_of, parse_checkpoint
from weft.ledger.merkle import leaf_hash, root
from weft.ledger.records import Record, line_hash, parse, render
from weft.ledger.resultcolumns import ResultColumns
from weft.model.keys import record_key, sha256_hex
from weft.model.values import canonical, encode


def long_ledger() -> list[bytes]:
    """A finished ledger of more than 4 KiB."""
    run = golden()
    lines = run.lines[:-1]
    chain = Chain()
    for line in lines:
        chain.accept(line)
    for round_ in range(2, 8):
        body = {"lane": "", "recorded": 0, "round": round_, "stopped": False, "tasks": 0}
        key = record_key(run.genesis, "round", "", round_)
        lines.append(chain.next_line("round", key, canonical(body)))
    last = parse(run.lines[-1])
    lines.append(chain.next_line("answer", last.key, canonical(last.body)))
    return lines


LINES = long_ledger()
FILE = b"".join(line + b"\n" for line in LINES)
HEAD = Checkpoint(origin_of(SEARCH), len(LINES), root([leaf_hash(line) for line in LINES]))


def check_all(lines: list[bytes], head: Checkpoint | None = None) -> list[Record]:
    return list(check_lines(lines, head)[1])


def check_bytes(file: bytes, head_text: bytes) -> None:
    """Verify a ledger file and its checkpoint as bytes."""
    *lines, rest = file.split(b"\n")
    if rest:
        raise LedgerDamaged("the last line has no newline")
    check_all(lines, parse_checkpoint(head_text.decode("ascii", "replace")))


def relinked(lines: list[bytes], alter: Callable[[int, Record], Record]) -> list[bytes]:
    """Rewrite the ledger with altered records and a matching chain."""
    out, prev = [], "0" * 64
    for position, line in enumerate(lines):
        record = alter(position, parse(line))
        out.append(render(record.seq, prev, record.kind, record.key, canonical(record.body)))
        prev = line_hash(out[-1])
    return out


def test_check_lines_good_ledger_gives_its_records_and_root() -> None:
    chain, records = check_lines(LINES, HEAD)
    assert chain.size == 0
    assert [record.seq for record in records] == list(range(len(LINES)))
    assert (chain.size, chain.root(), chain.prev_hash) == (
        len(LINES),
        HEAD.root,
        line_hash(LINES[-1]),
    )


def test_check_lines_is_lazy_and_the_chain_stands_behind_the_last_record() -> None:
    chain, records = check_lines(line for line in LINES)
    for size in (1, 2, 3):
        next(records)
        assert chain.size == size
        assert chain.root() == root([leaf_hash(line) for line in LINES[:size]])


def test_chain_continued_from_a_checked_prefix_writes_the_same_lines() -> None:
    for size in range(len(LINES)):
        chain, records = check_lines(LINES[:size])
        assert len(list(records)) == size
        twin = chain.copy()
        for line in LINES[size:]:
            record = parse(line)
            assert chain.next_line(record.kind, record.key, canonical(record.body)) == line
        assert chain.root() == HEAD.root
        assert twin.size == size


def test_every_bit_flip_in_ledger_and_checkpoint_is_detected() -> None:
    head_text = HEAD.to_text().encode()
    assert len(FILE) > 4096
    check_bytes(FILE, head_text)
    with untraced():
        missed = [bit for bit in range(len(FILE) * 8) if not refused(flip(FILE, bit), head_text)]
    assert missed == []
    bits = range(len(head_text) * 8)
    assert [bit for bit in bits if not refused(FILE, flip(head_text, bit))] == []


def flip(data: bytes, bit: int) -> bytes:
    out = bytearray(data)
    out[bit // 8] ^= 1 << bit % 8
    return bytes(out)


def refused(file: bytes, head_text: bytes) -> bool:
    try:
        check_bytes(file, head_text)
    except LedgerDamaged:
        return True
    return False


def test_deleted_line_is_named() -> None:
    for at in range(len(LINES)):
        with pytest.raises(LedgerDamaged, match=rf"^record {at}: ") as caught:
            check_all(LINES[:at] + LINES[at + 1 :], HEAD)
        assert caught.value.seq == at


def test_doubled_line_is_named() -> None:
    for at in range(len(LINES)):
        with pytest.raises(LedgerDamaged, match=rf"^record {at + 1}: ") as caught:
            check_all([*LINES[: at + 1], *LINES[at:]])
        assert caught.value.seq == at + 1


def test_swapped_lines_are_named() -> None:
    for at in range(len(LINES) - 1):
        swapped = [*LINES[:at], LINES[at + 1], LINES[at], *LINES[at + 2 :]]
        with pytest.raises(LedgerDamaged, match=rf"^record {at}: ") as caught:
            check_all(swapped)
        assert caught.value.seq == at


def test_line_cut_short_is_named() -> None:
    for at in range(len(LINES)):
        with pytest.raises(LedgerDamaged, match=rf"^record {at}: "):
            check_all([*LINES[:at], LINES[at][:-1], *LINES[at + 1 :]])


def test_clean_cut_is_seen_by_the_checkpoint_only() -> None:
    for size in range(len(LINES)):
        assert len(check_all(LINES[:size])) == size
        with pytest.raises(LedgerDamaged, match=rf"^record {size}: missing") as caught:
            check_all(LINES[:size], HEAD)
        assert caught.value.seq == size


def test_rewritten_ledger_with_a_fitting_chain_is_seen_by_the_checkpoint_only() -> None:
    def better(_: int, record: Record) -> Record:
        if record.kind != "result" or "value" not in record.body:
            return record
        return Record(record.seq, "", record.kind, record.key, {**record.body, "value": 1})

    forged = relinked(LINES, better)
    assert len(check_all(forged)) == len(LINES)
    with pytest.raises(LedgerDamaged, match=r"the root over the first 16 records is") as caught:
        check_all(forged, HEAD)
    assert caught.value.seq is None


def test_wrong_root_is_raised_before_the_last_record_under_the_checkpoint() -> None:
    head = Checkpoint(HEAD.origin, 5, bytes(32))
    records: list[Record] = []
    with pytest.raises(LedgerDamaged):
        records.extend(check_lines(LINES, head)[1])
    assert [record.seq for record in records] == [0, 1, 2, 3]


def test_checkpoint_inside_the_ledger_is_checked_where_it_was_taken() -> None:
    for size in range(len(LINES) + 1):
        good = Checkpoint(HEAD.origin, size, root([leaf_hash(line) for line in LINES[:size]]))
        assert len(check_all(LINES, good)) == len(LINES)
        with pytest.raises(LedgerDamaged, match="root over the first"):
            check_all(LINES, Checkpoint(HEAD.origin, size, bytes(32)))


def test_checkpoint_of_another_search_is_refused() -> None:
    with pytest.raises(LedgerDamaged, match=r"^record 0: its origin is weft/climb:climb"):
        check_all(LINES, Checkpoint("weft/other:search", HEAD.size, HEAD.root))


def test_seq_that_skips_in_a_fitting_chain_is_refused() -> None:
    def skip(at: int, record: Record) -> Record:
        return Record(at + (at > 6), "", record.kind, record.key, record.body)

    with pytest.raises(LedgerDamaged, match=r"^record 7: its seq is 8"):
        check_all(relinked(LINES, skip))


def test_other_prev_hash_is_refused() -> None:
    record = parse(LINES[3])
    line = render(3, "ab" * 32, record.kind, record.key, canonical(record.body))
    with pytest.raises(LedgerDamaged, match=r"^record 3: its prev_hash"):
        check_all([*LINES[:3], line])


def test_genesis_elsewhere_or_missing_is_refused() -> None:
    chain = Chain()
    genesis = encode(GENESIS)
    first = chain.next_line("genesis", sha256_hex(genesis), genesis)
    with pytest.raises(LedgerDamaged, match=r"^record 1: kind genesis"):
        check_all([first, chain.next_line("genesis", sha256_hex(genesis), genesis)])
    with pytest.raises(LedgerDamaged, match=r"^record 0: kind round"):
        check_all([Chain().next_line("round", "ab" * 32, "{}")])


def test_genesis_key_that_is_not_the_hash_of_its_body_is_refused() -> None:
    with pytest.raises(LedgerDamaged, match=r"^record 0: the genesis key"):
        check_all([Chain().next_line("genesis", "ab" * 32, encode(GENESIS))])


def test_record_after_the_root_answer_is_refused() -> None:
    chain, records = check_lines(LINES)
    assert len(list(records)) == len(LINES)
    after = chain.next_line("round", "ab" * 32, '{"lane":""}')
    with pytest.raises(LedgerDamaged, match=rf"^record {len(LINES)}: it comes after"):
        check_all([*LINES, after])


def test_unreadable_line_is_named_with_its_reason() -> None:
    with pytest.raises(LedgerDamaged, match=r"^record 2: byte 4 is not UTF-8$") as caught:
        check_all([*LINES[:2], b'{"bo\xff', *LINES[3:]])
    assert caught.value.seq == 2


def test_no_lines_are_an_empty_ledger() -> None:
    chain, records = check_lines([])
    assert list(records) == []
    assert chain.root() == root([])


@given(st.lists(st.integers(0, 3), max_size=3), st.lists(st.sampled_from(["{}", '{"a":"ü"}'])))
def test_next_lines_are_those_of_next_line_one_by_one(before, bodies):
    slow, fast = Chain(), Chain()
    for number in before:
        assert (
            slow.next_line("round", f"{number:064x}", "{}")
            == fast.next_lines([("round", f"{number:064x}", "{}")])[0]
        )
    records = [("result", f"{i:064x}", body) for i, body in enumerate(bodies)]
    assert fast.next_lines(records) == [slow.next_line(*record) for record in records]
    assert (fast.size, fast.prev_hash, fast.root()) == (slow.size, slow.prev_hash, slow.root())


@pytest.mark.parametrize("kind_key", [("round", "0" * 63), ("round", "G" * 64)])
def test_next_lines_of_what_no_record_holds_is_our_bug(kind_key):
    with pytest.raises(AssertionError, match="cannot hold"):
        Chain().next_lines([(*kind_key, "{}")])


RESULTS = ResultColumns(
    "lab:f",
    '"lane":"","round":0',
    5,
    [f"{number:064x}" for number in range(9)],
    [f'{{"x":{number}}}' for number in range(9)],
    ["null", "[]", '"é"', *"345678"],
)


def test_results_by_column_are_records_like_any_other():
    entries = [*RESULTS]
    assert len(RESULTS) == len(entries) == 9
    assert (RESULTS[2], RESULTS[-1], RESULTS[1:3]) == (entries[2], entries[-1], entries[1:3])
    bodies = [json.loads(body) for _, _, body in entries]
    assert bodies[2] == {
        "args": {"x": 2}, "function": "lab:f", "index": 7, "lane": "", "round": 0, "value": "é"
    }  # fmt: skip
    assert [canonical(body) for body in bodies] == [body for _, _, body in entries]


def test_lines_of_results_by_column_are_those_of_their_records():
    fast, slow = Chain(), Chain()
    assert fast.next_lines(RESULTS) == [slow.next_line(*entry) for entry in RESULTS]
    assert fast.state == slow.state


def test_results_by_column_with_a_wrong_key_are_refused_as_by_next_line():
    wrong = replace(RESULTS, keys=["A" * 64, *RESULTS.keys[1:]])
    with pytest.raises(AssertionError):
        Chain().next_lines(wrong)

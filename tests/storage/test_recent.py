"""Rows in memory: the size they are charged with, and when the oldest are forgotten."""

from __future__ import annotations

from dataclasses import replace

import pytest

from weft.storage import recent
from weft.storage.recent import BLOCK_ROW_BYTES, ROW_BYTES, Generation, RecentRows
from weft.storage.rows import BlockOrigin, RecordedRow, ValueBlock

ORIGIN = BlockOrigin("m:f", 1, 0.0, 1, 1.0, "n", None)


def row(id_: int, args: str, value: str | None) -> RecordedRow:
    return (id_, "completed", "k", "m:f", args, value, None)


def block(first: int, *pairs: tuple[str, str]) -> ValueBlock:
    args, values = zip(*pairs, strict=True)
    return ValueBlock(ORIGIN, first, ["k"] * len(pairs), args, values, 0.0, [1] * len(pairs))


def test_generation_weighs_its_texts_and_its_rows() -> None:
    generation = Generation()
    assert generation.size_bytes == 0
    generation.add([row(1, "abc", "de"), row(2, "f", None)])
    assert generation.size_bytes == 6 + 2 * ROW_BYTES
    generation.add_block(block(3, ("ab", "cde"), ("f", "gh")))
    assert generation.size_bytes == 6 + 2 * ROW_BYTES + 8 + 2 * BLOCK_ROW_BYTES


def test_oldest_rows_are_forgotten_once_packed_ones_take_too_much(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recent, "GENERATION_BYTES", 2 * (ROW_BYTES + 2))
    monkeypatch.setattr(recent, "PACKED_BYTES", 3 * (ROW_BYTES + 2))
    rows = RecentRows()
    for id_ in range(1, 4):
        rows.add([row(id_, "a", "b")])
    assert rows.rows(1, 4) == [row(id_, "a", "b") for id_ in (1, 2, 3)]
    for id_ in range(4, 7):
        rows.add([row(id_, "a", "b")])
    assert rows.rows(1, 7) is not None, "a generation that is just full takes one more"
    rows.add([row(7, "a", "b")])
    assert rows.rows(3, 4) is None
    assert rows.rows(4, 8) == [row(id_, "a", "b") for id_ in (4, 5, 6, 7)]


def test_packed_generation_takes_a_third_and_gives_the_same_rows() -> None:
    generation, plain = Generation(), Generation()
    numbers = range(1, 101)
    keys, args, values = zip(*((f"{n:064x}", f'{{"x":{n}}}', f"{n}") for n in numbers), strict=True)
    wide = ValueBlock(ORIGIN, 1, keys, args, values, 0.0, [1] * 100)
    for each in (generation, plain):
        each.add_block(wide)
    generation.pack()
    assert generation.size_bytes < plain.size_bytes / 3
    for first, end in ((1, 101), (1, 2), (50, 60), (100, 101), (101, 102)):
        assert generation.rows_from(first, end) == plain.rows_from(first, end)


def test_rows_in_memory_take_some_megabytes() -> None:
    assert recent.GENERATION_BYTES == 2_097_152
    assert recent.PACKED_BYTES == 10_485_760


def test_row_is_found_in_the_block_that_holds_it() -> None:
    generation = Generation()
    for first in (1, 3, 5):
        generation.add_block(block(first, (f"a{first}", "v"), (f"b{first}", "v")))
    for id_, args in ((1, "a1"), (2, "b1"), (3, "a3"), (4, "b3"), (6, "b5")):
        [stored_row] = generation.rows_from(id_, id_ + 1)
        assert (stored_row[0], stored_row[4]) == (id_, args)
    assert list(generation.rows_from(0, 1)) == []


def columns_of(rows: list[RecordedRow]) -> list[tuple[str, ...]]:
    return [tuple(row[place] for row in rows) for place in (2, 4, 5)]


@pytest.mark.parametrize("packed", [False, True])
def test_columns_are_those_of_the_rows(monkeypatch: pytest.MonkeyPatch, packed: bool) -> None:
    if packed:
        monkeypatch.setattr(recent, "GENERATION_BYTES", 0)
    rows = RecentRows()
    for first in (1, 3, 5):
        rows.add_block(block(first, (f"a{first}", "1"), (f"b{first}", "2")))
    for first, end in ((1, 7), (2, 6), (3, 5), (4, 5), (6, 7)):
        columns, plain = rows.columns(first, end), rows.rows(first, end)
        assert columns is not None
        assert plain is not None
        assert [tuple(column) for column in columns[1:]] == columns_of(plain)
        assert columns.function == "m:f"


def test_columns_are_of_blocks_of_one_function_that_are_here() -> None:
    rows = RecentRows()
    rows.add_block(block(1, ("a", "1"), ("b", "2")))
    rows.add([row(3, "c", "3")])
    rows.add_block(replace(block(4, ("d", "4")), origin=replace(ORIGIN, function="m:g")))
    rows.add_block(block(5, ("e", "5")))
    for first, end in ((1, 1), (0, 1), (1, 4), (3, 4), (4, 6), (5, 7)):
        assert rows.columns(first, end) is None, (first, end)
    assert rows.columns(1, 3) is not None
    assert rows.columns(4, 5) is not None

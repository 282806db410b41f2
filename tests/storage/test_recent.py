"""Rows in memory: how much they are taken to weigh, and when the older ones are forgotten."""

from __future__ import annotations

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


def test_oldest_rows_are_forgotten_once_two_generations_are_full(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(recent, "GENERATION_BYTES", 2 * (ROW_BYTES + 2))
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


def test_generation_holds_some_megabytes() -> None:
    assert recent.GENERATION_BYTES == 33_554_432

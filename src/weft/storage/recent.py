"""Rows that the manifest wrote lately, kept in memory up to a bound.

The ledger needs each of them once, soon, and a search reads those of a lazy round when it is
over: to read them from the file again would cost more than to write them did. Two generations:
when the younger one is full it takes the place of the older, which is forgotten. What was written
by the block is kept by the block.
"""

from __future__ import annotations

from bisect import bisect_right, insort
from collections.abc import Sequence
from itertools import repeat

from weft.storage.rows import RecordedRow, ValueBlock

GENERATION_BYTES = 32 * 2**20
ROW_BYTES = 420
"""Of a row without the texts of its arguments and value, about."""
BLOCK_ROW_BYTES = 270
"""Of a row in a block, without these."""


class Generation:
    """Rows that were written one after the other."""

    __slots__ = ("_blocks", "_firsts", "_rows", "size_bytes")

    def __init__(self) -> None:
        self.size_bytes = 0
        self._rows: dict[int, RecordedRow] = {}
        self._blocks: dict[int, ValueBlock] = {}
        """Blocks by the id of their first row; `_firsts` has these in order."""
        self._firsts: list[int] = []

    def add(self, rows: Sequence[RecordedRow]) -> None:
        """Remember rows, in any order."""
        self._rows.update(zip([row[0] for row in rows], rows, strict=True))
        self.size_bytes += sum([len(row[4]) + len(row[5] or "") for row in rows])
        self.size_bytes += ROW_BYTES * len(rows)

    def add_block(self, block: ValueBlock) -> None:
        """Remember the rows of a block."""
        self._blocks[block.first] = block
        insort(self._firsts, block.first)
        self.size_bytes += sum(map(len, block.args)) + sum(map(len, block.values))
        self.size_bytes += BLOCK_ROW_BYTES * len(block.keys)

    def rows_from(self, first: int, end: int) -> Sequence[RecordedRow]:
        """Return rows from id `first` on, before `end`: at least one of those that are here."""
        if (row := self._rows.get(first)) is not None:
            return (row,)
        place = bisect_right(self._firsts, first)
        return _block_rows(self._blocks[self._firsts[place - 1]], first, end) if place else ()


class RecentRows:
    """Rows by id; what it does not have is in the file."""

    __slots__ = ("_old", "_young")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Forget them: they were changed."""
        self._young, self._old = Generation(), Generation()

    def add(self, rows: Sequence[RecordedRow]) -> None:
        """Remember rows, in any order."""
        self._writable().add(rows)

    def add_block(self, block: ValueBlock) -> None:
        """Remember the rows of a block."""
        self._writable().add_block(block)

    def rows(self, first: int, end: int) -> list[RecordedRow] | None:
        """Return the rows with first ≤ id < end, by id; None unless all of them are here."""
        rows, young, old = list[RecordedRow](), self._young, self._old
        while (place := first + len(rows)) < end:
            found = young.rows_from(place, end) or old.rows_from(place, end)
            if not found:
                return None
            rows += found
        return rows

    def _writable(self) -> Generation:
        """Return the young generation, a new one if it is full."""
        if self._young.size_bytes > GENERATION_BYTES:
            self._old, self._young = self._young, Generation()
        return self._young


def _block_rows(block: ValueBlock, first: int, end: int) -> list[RecordedRow]:
    part = slice(first - block.first, end - block.first)
    keys, args, values = block.keys[part], block.args[part], block.values[part]
    function = block.origin.function
    ids = range(first, first + len(keys))
    return list(zip(ids, repeat("completed"), keys, repeat(function), args, values, repeat(None)))

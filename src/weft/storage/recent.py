"""A bounded cache of the rows that the manifest wrote recently.

The ledger needs each of them once, soon, and a search reads those of a lazy round when the round is
over; reading them from the file again would cost more than writing them did. Rows written as a
block are cached as a block. The youngest rows are stored as they are; once there are enough of
them, each column of a block is packed into one text, which takes a third of the memory.
"""

from __future__ import annotations

import sys
from bisect import bisect_right, insort
from collections import deque
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, repeat

from weft.storage.rows import RecordedRow, ValueBlock, ValueColumns

GENERATION_BYTES = 2 * 2**20
"""Size from which the youngest rows are packed."""
PACKED_BYTES = 10 * 2**20
"""Limit for all packed rows; the oldest are dropped."""
ROW_BYTES = 420
"""Approximate size of a row, without the texts of its arguments and value."""
BLOCK_ROW_BYTES = 270
"""The same for a row in a block."""


class PackedBlock:
    """The columns of a block, each as one text of lines: compact JSON has no line ends."""

    __slots__ = ("_columns", "_origin", "_size")

    def __init__(self, block: ValueBlock) -> None:
        self._columns = ["\n".join(texts) for texts in (block.keys, block.args, block.values)]
        self._size = len(block.keys)
        self._origin = replace(block, keys=(), args=(), values=(), run_us=())

    @property
    def is_exact(self) -> bool:
        """Whether unpacking restores the texts; False if one of them has a line end."""
        return all(column.count("\n") == self._size - 1 for column in self._columns)

    @property
    def size_bytes(self) -> int:
        """The approximate memory that it takes."""
        return ROW_BYTES + sum(map(sys.getsizeof, self._columns))

    def unpacked(self) -> ValueBlock:
        """Return the block, without the times of its tasks."""
        keys, args, values = (column.split("\n") for column in self._columns)
        return replace(self._origin, keys=keys, args=args, values=values)


class Generation:
    """Rows that were written in succession."""

    __slots__ = ("_blocks", "_firsts", "_rows", "size_bytes")

    def __init__(self) -> None:
        self.size_bytes = 0
        self._rows: dict[int, RecordedRow] = {}
        self._blocks: dict[int, ValueBlock | PackedBlock] = {}
        """Blocks by the id of their first row; `_firsts` has these ids in order."""
        self._firsts: list[int] = []

    def add(self, rows: Sequence[RecordedRow]) -> None:
        """Add rows, in any order."""
        self._rows.update(zip([row[0] for row in rows], rows, strict=True))
        self.size_bytes += sum([len(row[4]) + len(row[5] or "") for row in rows])
        self.size_bytes += ROW_BYTES * len(rows)

    def add_block(self, block: ValueBlock) -> None:
        """Add the rows of a block."""
        self._blocks[block.first] = block
        insort(self._firsts, block.first)
        self.size_bytes += _block_bytes(block)

    def pack(self) -> None:
        """Pack the blocks: they take less memory and are slower to read."""
        for first, block in self._blocks.items():
            if isinstance(block, ValueBlock) and (packed := PackedBlock(block)).is_exact:
                self._blocks[first] = packed
                self.size_bytes += packed.size_bytes - _block_bytes(block)

    def rows_from(self, first: int, end: int) -> Sequence[RecordedRow]:
        """Return rows from id `first` on, before `end`; at least one if row `first` is here."""
        if (row := self._rows.get(first)) is not None:
            return (row,)
        place = bisect_right(self._firsts, first)
        if not place:
            return ()
        block = self._blocks[self._firsts[place - 1]]
        return _block_rows(block if isinstance(block, ValueBlock) else block.unpacked(), first, end)

    def holds_alone(self, id_: int) -> bool:
        """Whether a row was added alone, not in a block."""
        return id_ in self._rows

    def block_of(self, id_: int) -> ValueBlock | None:
        """Return the block that contains a row, if it is here."""
        place = bisect_right(self._firsts, id_)
        if not place:
            return None
        block = self._blocks[self._firsts[place - 1]]
        whole = block if isinstance(block, ValueBlock) else block.unpacked()
        return whole if id_ < whole.first + len(whole.keys) else None


class RecentRows:
    """Recently written rows by id; all others are only in the file."""

    __slots__ = ("_packed", "_packed_bytes", "_young")

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        """Drop all rows, because some were changed in the file."""
        self._young = Generation()
        self._packed: deque[Generation] = deque()
        """Older generations, the youngest first."""
        self._packed_bytes = 0

    def add(self, rows: Sequence[RecordedRow]) -> None:
        """Add rows, in any order."""
        self._writable().add(rows)

    def add_block(self, block: ValueBlock) -> None:
        """Add the rows of a block."""
        self._writable().add_block(block)

    def rows(self, first: int, end: int) -> list[RecordedRow] | None:
        """Return the rows with first ≤ id < end, by id; None unless all of them are here."""
        rows = list[RecordedRow]()
        while (place := first + len(rows)) < end:
            part = self._rows_from(place, end)
            if not part:
                return None
            rows += part
        return rows

    def columns(self, first: int, end: int) -> ValueColumns | None:
        """Return the same rows as columns; None unless all are in blocks, and of one function."""
        parts = list[ValueColumns]()
        while first < end:
            block = self._block_of(first)
            if block is None or (parts and block.origin.function != parts[0].function):
                return None
            parts.append(_columns(block, first, end))
            first += len(parts[-1].keys)
        return parts[0] if len(parts) == 1 else _joined(parts)

    def _block_of(self, id_: int) -> ValueBlock | None:
        """Return the block that contains a row; None if it was added alone, or is not here."""
        for generation in (self._young, *self._packed):
            if generation.holds_alone(id_):
                return None
            if (block := generation.block_of(id_)) is not None:
                return block
        return None

    def _rows_from(self, first: int, end: int) -> Sequence[RecordedRow]:
        rows = self._young.rows_from(first, end)
        for generation in self._packed if not rows else ():
            if rows := generation.rows_from(first, end):
                break
        return rows

    def _writable(self) -> Generation:
        """Return the young generation; if it is full, pack it and start a new one."""
        if self._young.size_bytes > GENERATION_BYTES:
            self._young.pack()
            self._packed.appendleft(self._young)
            self._packed_bytes += self._young.size_bytes
            self._young = Generation()
            while self._packed_bytes > PACKED_BYTES:
                self._packed_bytes -= self._packed.pop().size_bytes
        return self._young


def _block_bytes(block: ValueBlock) -> int:
    texts_bytes = sum(map(len, block.args)) + sum(map(len, block.values))
    return texts_bytes + BLOCK_ROW_BYTES * len(block.keys)


def _columns(block: ValueBlock, first: int, end: int) -> ValueColumns:
    part = slice(first - block.first, end - block.first)
    return ValueColumns(
        block.origin.function, block.keys[part], block.args[part], block.values[part]
    )


def _joined(parts: Sequence[ValueColumns]) -> ValueColumns | None:
    """Concatenate consecutive columns; None if there are none."""
    if not parts:
        return None
    columns = zip(*((part.keys, part.args, part.values) for part in parts), strict=True)
    keys, args, values = ([*chain.from_iterable(column)] for column in columns)
    return ValueColumns(parts[0].function, keys, args, values)


def _block_rows(block: ValueBlock, first: int, end: int) -> list[RecordedRow]:
    part = slice(first - block.first, end - block.first)
    keys, args, values = block.keys[part], block.args[part], block.values[part]
    function = block.origin.function
    ids = range(first, first + len(keys))
    return list(zip(ids, repeat("completed"), keys, repeat(function), args, values, repeat(None)))

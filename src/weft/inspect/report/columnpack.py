"""Packs columns for a page: byte planes, deflated, as base64; with the precision that is left.

A column is stored as planes: first the lowest byte of all cells, then the next, which deflates
well. Widths of a cell in bytes:

    8   numbers unchanged (IEEE 754, little endian), missing ones NaN
    4   whole numbers, counted from the lowest
    2   numbers as steps from the lowest to the highest, on a log scale if `log` is set
    1   as above for whole numbers in a small range, and the index of a text in `words`

The highest code of widths 1 to 4 marks a missing cell. A table that is too large is stored with
fewer significant bits and finally as a sample; `precision` and `rows` state this.
"""

from __future__ import annotations

import base64
import math
import sys
import zlib
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from weft.inspect.report.valuetable import Cell, ValueColumn, ValueTable
from weft.model.values import JsonValue

EXACT = 64
LEVELS = (EXACT, 16, 12, 9)
"""Significant bits of a number, tried in this order until the table fits."""
STEPS = 65_534
SMALL = 254
LOG_RATIO = 1000.0
"""Positive numbers whose highest is more than this times the lowest are stored on a log scale."""
DEFLATE = 6
"""Compression level; the highest takes nine times as long and gains one percent."""
MIN_ROWS = 1000


@dataclass(frozen=True, slots=True)
class PackedColumn:
    """One column's bytes, and how to decode them."""

    name: str
    role: str
    width: int
    low: float
    high: float
    log: bool
    words: tuple[str, ...]
    data: bytes

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON form, without the data."""
        return {
            "name": self.name, "role": self.role, "width": self.width, "low": self.low,
            "high": self.high, "log": self.log, "words": list(self.words) or None,
        }  # fmt: skip


def pack_table(table: ValueTable, limit_bytes: int) -> dict[str, JsonValue] | None:
    """Return the JSON form in at most about `limit_bytes`; None if not even a sample fits."""
    reduced = table
    while reduced.rows >= min(MIN_ROWS, table.rows):
        for bits in LEVELS:
            if bits == EXACT and reduced.rows * len(reduced.columns) * 4 > limit_bytes * 3:
                continue  # it cannot fit: numbers in full precision hardly deflate
            packed = _packed(reduced, bits)
            if len(packed["body"]) + 6000 <= limit_bytes:  # type: ignore[arg-type] # the body is text
                return packed
        if reduced.rows < 2:
            return None
        reduced = _halved(reduced)
    return None


def _packed(table: ValueTable, bits: int) -> dict[str, JsonValue]:
    columns = [_pack(column, bits) for column in table.columns]
    body = zlib.compress(b"".join(_planes(column) for column in columns), DEFLATE)
    return {
        "rows": table.rows, "total": table.total, "precision": bits,
        "direction": table.direction, "chosen": table.chosen, "lanes": list(table.lanes),
        "functions": list(table.functions), "columns": [column.to_dict() for column in columns],
        "body": base64.b64encode(body).decode(),
    }  # fmt: skip


def _halved(table: ValueTable) -> ValueTable:
    columns = tuple(replace(column, cells=column.cells[::2]) for column in table.columns)
    return replace(table, columns=columns, rows=len(columns[0].cells))


def _planes(column: PackedColumn) -> bytes:
    return b"".join(column.data[plane :: column.width] for plane in range(column.width))


def _pack(column: ValueColumn, bits: int) -> PackedColumn:
    if column.is_text:
        return _pack_texts(column)
    numbers = [cell for cell in column.cells if isinstance(cell, float)]
    low, high = min(numbers, default=0.0), max(numbers, default=0.0)
    width = _whole_width(numbers, low, high, column.role == "place" or bits == EXACT)
    if width:
        codes, top = _codes(column.cells, low, 1.0, width), low + (1 << 8 * width) - 2
        return PackedColumn(column.name, column.role, width, low, top, False, (), codes)
    if bits == EXACT:
        data = array("d", (math.nan if c is None else float(c) for c in column.cells))
        return PackedColumn(column.name, column.role, 8, low, high, False, (), _little_endian(data))
    log = low > 0 and high / low > LOG_RATIO
    cells = [_log(cell) if log else cell for cell in column.cells]
    start, end = (math.log(low), math.log(high)) if log else (low, high)
    step = (end - start) / STEPS or 1.0
    if not math.isfinite(step):
        step = end / STEPS - start / STEPS
    codes = _codes(cells, start, step, 2, mask=0xFFFF << (16 - bits) & 0xFFFF)
    return PackedColumn(column.name, column.role, 2, low, high, log, (), codes)


def _whole_width(numbers: Sequence[float], low: float, high: float, any_range: bool) -> int:
    """Return the width that whole numbers need; 0 if they are not whole or need too much."""
    if not all(number.is_integer() for number in numbers):
        return 0
    span = high - low
    if span < SMALL:
        return 1
    return 2 if span < STEPS else 4 if any_range and span < 2**32 - 2 else 0


def _log(cell: Cell) -> Cell:
    return None if cell is None else math.log(float(cell))


def _codes(
    cells: Sequence[Cell], low: float, step: float, width: int, mask: int = 0xFFFFFFFF
) -> bytes:
    """Encode cells as steps from the lowest; the highest code marks a missing cell."""
    missing = (1 << 8 * width) - 1
    numbers = _steps(cells, low, step, missing, mask)
    return _little_endian(array({1: "B", 2: "H", 4: "I"}[width], numbers))


def _little_endian(numbers: array[Any]) -> bytes:
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tobytes()


def _steps(
    cells: Sequence[Cell], low: float, step: float, missing: int, mask: int
) -> Sequence[int]:
    start, top = low / step, missing - 1
    steps = [missing if c is None else round(float(c) / step - start) for c in cells]
    if min(steps, default=0) < 0 or max(steps, default=0) > missing:  # by rounding, at the ends
        steps = [code if code == missing else min(top, max(0, code)) for code in steps]
    return steps if mask & top == top else [c if c == missing else c & mask for c in steps]


def _pack_texts(column: ValueColumn) -> PackedColumn:
    words = sorted({cell for cell in column.cells if isinstance(cell, str)})
    order = {word: number for number, word in enumerate(words)}
    cells = [None if cell is None else float(order[str(cell)]) for cell in column.cells]
    codes = _codes(cells, 0.0, 1.0, 1)
    return PackedColumn(column.name, column.role, 1, 0.0, float(SMALL), False, tuple(words), codes)

"""The rule that continues the lines of a grid on one side, by repeated shifts or back and forth.

    down shift to 10        rows continue as before, up to ten: stairs go on
    right bounce passes 4   columns run back and forth between first and last, four times

How lines repeat, and by how much they are shifted, is determined for every grid separately.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.searches.arc.fitted.rule import BASE, Composed, number
from weft.searches.arc.ops.operator import BIT, ShapeEffect
from weft.searches.arc.values import MAX_SIDE, Grid

Line = Sequence[int]
TO, TIMES, PASSES = "to", "times", "passes"
SIDES = ("down", "up", "right", "left")
SETTING, NUMBER = 2 * BIT, 4 * BIT
"""Cost of one of four sides, two ways or three kinds of length; cost of a length."""


def shifted(lines: Sequence[Line], length: int) -> list[Line] | None:
    """Continue lines that are shifted copies of earlier ones: by the fewest lines, then places.

    Cells shifted in are black. Returns None if no line repeats.
    """
    width = len(lines[0])
    shifts = sorted(range(1 - width, width), key=lambda shift: (abs(shift), -shift))
    for period in range(1, len(lines)):
        pairs = list(zip(lines, lines[period:], strict=False))
        for shift in shifts:
            if all(_shifted(before, shift) == list(line) for before, line in pairs):
                result = list(lines)
                while len(result) < length:
                    result.append(_shifted(result[-period], shift))
                return result
    return None


def _shifted(line: Line, shift: int) -> list[int]:
    blank = [0] * abs(shift)
    moved = [*blank, *line] if shift > 0 else [*line, *blank]
    return moved[: len(line)] if shift > 0 else moved[-len(line) :]


def bounced(lines: Sequence[Line], length: int) -> list[Line] | None:
    """Continue lines backwards from the last one, then forwards from the first, and so on."""
    period = 2 * (len(lines) - 1)
    if not period:
        return None
    return [lines[min(n % period, period - n % period)] for n in range(length)]


WAYS: dict[str, Callable[[Sequence[Line], int], list[Line] | None]] = {
    "shift": shifted,
    "bounce": bounced,
}
LENGTHS: dict[str, Callable[[int, int], int]] = {
    TO: lambda lines, n: n,
    TIMES: lambda lines, n: lines * n,
    PASSES: lambda lines, n: (lines - 1) * n + 1,
}


def lines_of(grid: Grid, side: str) -> list[Line]:
    """Return the rows or columns of a grid in the direction of a side."""
    lines: list[Line] = list(grid.rows())
    if side in ("right", "left"):
        lines = list(zip(*lines, strict=True))
    return lines[::-1] if side in ("up", "left") else lines


def grid_of(lines: Sequence[Line], side: str) -> Grid:
    """Invert `lines_of`."""
    ordered = lines[::-1] if side in ("up", "left") else lines
    rows = ordered if side in ("down", "up") else list(zip(*ordered, strict=True))
    return Grid.of(rows)


def extended(grid: Grid, side: str, way: str, length: int) -> Grid | None:
    """Continue a grid to `length` lines; None if it is as long already or cannot be continued."""
    lines = lines_of(grid, side)
    if not len(lines) < length <= MAX_SIDE:
        return None
    result = WAYS[way](lines, length)
    return None if result is None else grid_of(result, side)


class ExtendLines(Composed):
    """Parameters: the side, the way, the kind of length, and the length."""

    name = "extend_lines"
    doc = (
        "Continues the rows or columns of the grid `down`, `up`, `right` or `left`: `down shift "
        "to 10`. With `shift` each new line is an earlier one, shifted along itself, by the "
        "smallest offset (lines, then cells) that holds for the whole grid; with `bounce` lines "
        "run back and forth. The result has a number of lines (`to 10`), a multiple of the grid's "
        "(`times 2`), or a number of passes (`passes 3`)."
    )
    shape = ShapeEffect.GROW

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        side, way, kind, n = read_extension(params.decode())
        return extended(value, side, way, LENGTHS[kind](len(lines_of(value, side)), n))

    def price(self, params: bytes) -> int:
        return BASE + 3 * SETTING + NUMBER

    def read(self, text: str) -> bytes:
        return parameters(*read_extension(text)).encode()


def parameters(side: str, way: str, kind: str, n: int) -> str:
    """Return the rule's parameters as text."""
    return f"{side} {way} {kind} {n}"


def read_extension(text: str) -> tuple[str, str, str, int]:
    """Invert `parameters`; raises ValueError if the text is invalid."""
    side, way, kind, n = text.split(" ")
    if side not in SIDES or way not in WAYS or kind not in LENGTHS:
        raise ValueError(text)
    return side, way, kind, number(n, 2, MAX_SIDE)

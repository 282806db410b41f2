"""Readings of targets as charts: the possible layouts, with the bars of each.

A layout is possible if all targets can be read in it: a bar in each line, perhaps with a fixed line
for each colour; concentric rings; squares side by side; or cells along a path.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise

from weft.searches.arc.fitted import chart
from weft.searches.arc.fitted.chart import Bar
from weft.searches.arc.ops.objectparts import grid_cells
from weft.searches.arc.values import Grid

MOST_PATH = 12
"""Most cells of a learned path."""
FEWEST_BARS = 4
"""Fewest bars of all targets together; with fewer, almost anything would fit."""
FEWEST_RINGS = 3
"""Fewest rings of the target with the most: two may be any object with a centre."""


@dataclass(frozen=True, slots=True)
class ChartReading:
    """A layout of all targets, and the bars of each target in it."""

    layout: str
    size: tuple[int, int] | None
    bars: tuple[tuple[Bar, ...], ...]
    path: tuple[tuple[int, int], ...] = ()
    slots: tuple[int, ...] = ()
    """The colour of each line, if lines may be empty."""

    @property
    def colour(self) -> int | None:
        """The colour of all bars, if there is one."""
        colours = [colour for bars in self.bars for colour, _ in bars]
        return colours[0] if colours == colours[:1] * len(colours) else None

    @property
    def is_unit(self) -> bool:
        """Whether each bar has one cell."""
        return all(length == 1 for bars in self.bars for _, length in bars)


def readings_of(targets: Sequence[Grid]) -> list[ChartReading]:
    """Return the layouts in which all targets are charts."""
    first = targets[0].size
    fixed = first if all(target.size == first for target in targets) else None
    readings = [
        *_runs(targets, fixed),
        *_bars(targets, fixed),
        *_slots(targets, fixed),
        *_rings(targets),
        *_squares(targets),
    ]
    return [r for r in readings if sum(map(len, r.bars)) >= max(FEWEST_BARS, len(targets) + 1)]


def _bars(targets: Sequence[Grid], fixed: tuple[int, int] | None) -> Iterator[ChartReading]:
    for layout in chart.BARS:
        bars = [_bars_in(target, layout) for target in targets]
        known = tuple(tuple(own) for own in bars if own is not None)
        if len(known) == len(targets):
            if all(_fits(t, layout, own) for t, own in zip(targets, known, strict=True)):
                yield ChartReading(layout, None, known)
            if fixed is not None:
                yield ChartReading(layout, fixed, known)


def _bars_in(target: Grid, layout: str) -> list[Bar] | None:
    """Return the bars of a target; None if a line is not a bar, or follows an empty one."""
    lines = _lines(target, layout)
    while lines and not any(lines[-1]):
        lines.pop()
    bars = [(line[0], sum(map(bool, line))) for line in lines]
    is_drawn = all(
        colour and line == [colour] * length + [0] * (len(line) - length)
        for line, (colour, length) in zip(lines, bars, strict=True)
    )
    return bars if bars and is_drawn else None


def _fits(target: Grid, layout: str, bars: Sequence[Bar]) -> bool:
    """Whether a target has exactly the size of its bars."""
    lines, room = target.size if layout.startswith("rows") else target.size[::-1]
    return lines == len(bars) and room == max(length for _, length in bars)


def _lines(target: Grid, layout: str) -> list[list[int]]:
    """Return the lines of a target, each from the start of its bar."""
    lines = [list(row) for row in target.rows()]
    if layout.startswith("columns"):
        lines = [list(column) for column in zip(*lines, strict=True)]
    return [line[::-1] for line in lines] if layout.endswith(("right", "bottom")) else lines


def _slots(targets: Sequence[Grid], fixed: tuple[int, int] | None) -> Iterator[ChartReading]:
    """Yield the readings as bars that may have empty lines between them, with a line per colour."""
    for layout in chart.BARS:
        lines = [_lines(target, layout) for target in targets]
        slots = _slot_colours(lines)
        bars = tuple(tuple((line[0], len(line) - line.count(0)) for line in own if any(line))
                     for own in lines)  # fmt: skip
        if not slots or not all(bars):
            continue
        rooms = [max(length for _, length in own) for own in bars]
        if all(len(own[0]) == room for own, room in zip(lines, rooms, strict=True)):
            yield ChartReading(layout, None, bars, slots=slots)
        if fixed is not None:
            yield ChartReading(layout, fixed, bars, slots=slots)


def _slot_colours(targets: Sequence[list[list[int]]]) -> tuple[int, ...]:
    """Return the colour of each line; empty if a line has two colours, or two lines share one.

    Unless some line is skipped, every line has to be drawn in two targets.
    """
    if len({len(lines) for lines in targets}) != 1:
        return ()
    colours = [{line[0] for line in same if any(line)} for same in zip(*targets, strict=True)]
    known = [sorted(own) for own in colours if own]
    flat = [colour for own in known for colour in own]
    are_bars = all(
        line == sorted(line, key=lambda cell: cell == 0) and len({*line} - {0}) <= 1
        for lines in targets
        for line in lines
    )
    is_skipped = any(any(b) and not any(a) for lines in targets for a, b in pairwise(lines))
    is_repeated = all(sum(any(line) for line in same) > 1 for same in zip(*targets, strict=True))
    is_shown = is_skipped or (is_repeated and len(flat) > 1)
    if not are_bars or not is_shown or len(flat) != len(set(flat)) or len(flat) != len(known):
        return ()
    return tuple(min(own, default=0) for own in colours)


def _rings(targets: Sequence[Grid]) -> Iterator[ChartReading]:
    """Yield the reading as squares of concentric rings."""
    known = []
    for target in targets:
        side = target.height
        colours = [target.at(n, n) for n in range((side + 1) // 2)]
        if target.size != (side, side) or side % 2 == 0 or 0 in colours:
            return
        if chart.ring_places(target.size, colours) != grid_cells(target):
            return
        known.append(tuple((colour, 1) for colour in colours))
    if max(map(len, known)) >= FEWEST_RINGS:
        yield ChartReading(chart.RINGS, None, tuple(known))


def _squares(targets: Sequence[Grid]) -> Iterator[ChartReading]:
    """Yield the reading as squares at the bottom, with a column between them."""
    known = []
    for target in targets:
        bottom = [target.at(target.height - 1, column) for column in range(target.width)]
        sides = [(colour, len(list(own))) for colour, own in groupby(bottom)]
        bars = tuple((colour, side * side) for colour, side in sides if colour)
        cells = chart.square_places(target.size, bars)
        if not bars or cells != {at: x for at, x in grid_cells(target).items() if x}:
            return
        known.append(bars)
    yield ChartReading(chart.SQUARES, None, tuple(known))


def _runs(targets: Sequence[Grid], fixed: tuple[int, int] | None) -> Iterator[ChartReading]:
    for layout in chart.RUNS:
        line = 0 if chart.has_rows(layout) else 1
        if all(target.size[line] == 1 for target in targets) and layout.startswith("along"):
            yield from _run(targets, layout, None, ())
        if fixed is not None and not (1 in fixed and layout.startswith("snake")):
            yield from _run(targets, layout, fixed, ())
    if fixed is not None:
        yield from _run(targets, chart.PATH, fixed, _path(targets))


def _run(
    targets: Sequence[Grid], layout: str, size: tuple[int, int] | None,
    learned: tuple[tuple[int, int], ...],
) -> Iterator[ChartReading]:  # fmt: skip
    """Yield the reading as a run of cells, if all cells after the run are black."""
    if layout == chart.PATH and not learned:
        return
    known = []
    for target in targets:
        path = learned or chart.path_of(layout, target.size)
        colours = [target.at(row, column) for row, column in path]
        ink_count = sum(map(bool, target.cells))
        if not ink_count or not all(colours[:ink_count]):
            return
        known.append(tuple((colour, 1) for colour in colours[:ink_count]))
    yield ChartReading(layout, size, tuple(known), learned)


def _path(targets: Sequence[Grid]) -> tuple[tuple[int, int], ...]:
    """Return the path of cells by which targets grow, if each has the cells of all smaller ones."""
    cells = {
        frozenset(n for n, colour in enumerate(target.cells) if colour): None for target in targets
    }
    sets = sorted(cells, key=len)
    if len(sets) < 2 or any(not a < b for a, b in pairwise(sets)):
        return ()
    steps = [sorted(own - before) for before, own in zip((frozenset(), *sets), sets, strict=False)]
    width, path = targets[0].width, [n for step in steps for n in step]
    return tuple(divmod(n, width) for n in path) if len(path) <= MOST_PATH else ()

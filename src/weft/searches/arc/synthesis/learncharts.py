"""Learn charts of objects: which are shown, in which order, and how many cells each gets.

    targets ──► layouts that could be meant, with the bars that each shows
    objects of a vector, measured ──► selections with as many ──► orders with these colours
                                  ──► measures with these lengths ──► programs

Most targets are no chart in any layout, so that nothing is segmented. Charts are guesses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby, pairwise

from weft.searches.arc.fitted import chart
from weft.searches.arc.fitted.chart import Bar, Chart, Measured
from weft.searches.arc.fitted.choose import MEASURES, SEGMENTATIONS, segment
from weft.searches.arc.ops.objectparts import colour_of, grid_cells
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.sample import GridVector, VectorSample
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.values import Grid, decode_grids, encode_grids

Pairs = Sequence[tuple[Measured, Sequence[Bar]]]
"""The objects of each training pair, and the bars of its target."""
MOST_OBJECTS = 40
MOST_PATH = 12
"""Cells of a path that is learned."""
WITNESSES, MOST = 4, 12
"""Programs kept of those that give the same outputs, and of one vector."""
FEWEST_BARS = 4
"""All targets together show so many, or else anything would fit."""


@dataclass(frozen=True, slots=True)
class ChartReading:
    """A layout of all targets, and the bars that each of them shows in it."""

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


def _order(candidate: ProgramCandidate) -> tuple[int, str]:
    return candidate.millibits, candidate.program.text()


# -- what targets show ----------------------------------------------------------------------------


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


def _lines(target: Grid, layout: str) -> list[list[int]]:
    """The lines of a target, each from where its bar begins."""
    lines = [list(row) for row in target.rows()]
    if layout.startswith("columns"):
        lines = [list(column) for column in zip(*lines, strict=True)]
    return [line[::-1] for line in lines] if layout.endswith(("right", "bottom")) else lines


def _slots(targets: Sequence[Grid], fixed: tuple[int, int] | None) -> Iterator[ChartReading]:
    """Bars with empty lines before them, if every colour has a line of its own."""
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
    """The colour of each line; nothing where one has two, two have one, or none is skipped."""
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
    if not are_bars or not is_skipped or len(flat) != len(set(flat)) or len(flat) != len(known):
        return ()
    return tuple(min(own, default=0) for own in colours)


def _rings(targets: Sequence[Grid]) -> Iterator[ChartReading]:
    """Squares of rings in each other."""
    known = []
    for target in targets:
        side = target.height
        colours = [target.at(n, n) for n in range((side + 1) // 2)]
        if target.size != (side, side) or side % 2 == 0 or 0 in colours:
            return
        if chart.ring_places(target.size, colours) != grid_cells(target):
            return
        known.append(tuple((colour, 1) for colour in colours))
    yield ChartReading(chart.RINGS, None, tuple(known))


def _squares(targets: Sequence[Grid]) -> Iterator[ChartReading]:
    """Squares of cells at the bottom, each with a column before the next."""
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


def _bars_in(target: Grid, layout: str) -> list[Bar] | None:
    """The bars of a target; None where a line is none, or follows an empty one."""
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
    """Whether a target is as large as its bars."""
    lines, room = target.size if layout.startswith("rows") else target.size[::-1]
    return lines == len(bars) and room == max(length for _, length in bars)


def _runs(targets: Sequence[Grid], fixed: tuple[int, int] | None) -> Iterator[ChartReading]:
    for layout in chart.RUNS:
        line = 0 if layout.endswith("rows") else 1
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
    """The reading of a run of cells, if the others are black and come last."""
    if layout == chart.PATH and not learned:
        return
    known = []
    for target in targets:
        path = learned or chart.path_of(layout, target.size)
        colours = [target.at(row, column) for row, column in path]
        shown = sum(map(bool, target.cells))
        if not shown or not all(colours[:shown]):
            return
        known.append(tuple((colour, 1) for colour in colours[:shown]))
    yield ChartReading(layout, size, tuple(known), learned)


def _path(targets: Sequence[Grid]) -> tuple[tuple[int, int], ...]:
    """The cells that more and more targets have, if each has those of the ones with fewer."""
    cells = {
        frozenset(n for n, colour in enumerate(target.cells) if colour): None for target in targets
    }
    sets = sorted(cells, key=len)
    if len(sets) < 2 or any(not a < b for a, b in pairwise(sets)):
        return ()
    steps = [sorted(own - before) for before, own in zip((frozenset(), *sets), sets, strict=False)]
    width, path = targets[0].width, [n for step in steps for n in step]
    return tuple(divmod(n, width) for n in path) if len(path) <= MOST_PATH else ()


# -- what shows it --------------------------------------------------------------------------------


def learn_charts(
    problem: EncodedTask, sample: VectorSample, vector: GridVector
) -> list[ProgramCandidate]:
    """Return the cheapest programs that draw charts of the objects in a vector."""
    counts: Counter[bytes] = Counter()
    chosen = []
    for each in sorted(_learned(problem, sample, vector), key=_order):
        counts[each.outputs] += 1
        if counts[each.outputs] <= WITNESSES:
            chosen.append(each)
    return chosen[:MOST]


def _learned(
    problem: EncodedTask, sample: VectorSample, vector: GridVector
) -> Iterator[ProgramCandidate]:
    targets = tuple(problem.targets_plain)
    readings = readings_of(targets)
    grids = decode_grids(vector.content)
    for name in SEGMENTATIONS if readings else ():
        measured = _measured(name, grids, problem.inputs, readings, problem.train)
        for each in (c for r in readings if measured for c in _charts(name, measured, r)):
            outputs = tuple(grid for grid in map(each.drawn, measured) if grid is not None)
            if len(outputs) == len(measured) and outputs[: len(targets)] == targets:
                program = Program(vector.chain, chart.ObjectChart.name, each.text())
                tests = encode_grids(outputs[len(targets) :])
                yield ProgramCandidate(program, program.millibits(), tests, sample.time)


def _measured(
    name: str, grids: Sequence[Grid], inputs: Sequence[Grid], readings: Sequence[ChartReading],
    train: int,
) -> list[Measured]:  # fmt: skip
    """Measure the objects of all examples; nothing where they cannot be what readings show."""
    objects = []
    for example, grid in enumerate(grids):
        pieces = segment(name, grid)
        colours = [colour_of(piece) for piece in pieces]
        if not 1 <= len(pieces) <= MOST_OBJECTS or (
            example < train and not any(_may_show(colours, r, example) for r in readings)
        ):
            return []
        objects.append(pieces)
    measured = [chart.measured_of(own, given) for own, given in zip(objects, inputs, strict=True)]
    known = [own for own in measured if own is not None]
    return known if len(known) == len(measured) else []


def _may_show(colours: Sequence[int], reading: ChartReading, example: int) -> bool:
    """Whether some objects of these colours could be the bars of a target."""
    wanted = [colour for colour, _ in reading.bars[example]]
    if reading.colour is not None:
        return len(colours) >= len(wanted)
    return all(colours.count(colour) >= wanted.count(colour) for colour in set(wanted))


def _charts(name: str, measured: Sequence[Measured], reading: ChartReading) -> Iterator[Chart]:
    """Charts whose bars are those of the targets; of equal selections and orders the cheapest."""
    own = Chart(name, (chart.ALL,), (chart.PLACE,), reading.layout, chart.ONE, reading.size, None,
                reading.path)  # fmt: skip
    pairs = list(zip(measured, reading.bars, strict=False))
    tried = set()
    for which in _selections(measured[: len(pairs)]):
        chosen = tuple(tuple(chart.selected(each, which)) for each in measured)
        if all(chosen) and chosen not in tried:
            tried.add(chosen)
            for once in ((chart.ONCE,),) if reading.slots else ((), (chart.ONCE,)):
                if _have_as_many(chosen, pairs, once, reading.colour):
                    some = replace(own, which=which)
                    yield from _in_order(some, chosen, measured, reading, once)
                    break  # each colour is there once, or else there would be too many


def _have_as_many(
    chosen: Sequence[Sequence[int]], pairs: Pairs, once: tuple[str, ...], constant: int | None
) -> bool:
    """Whether selected objects are as many of each colour as bars, or just as many."""
    for own, (measured, bars) in zip(chosen, pairs, strict=False):
        colours = [measured["colour"][n] for n in own]
        shown = sorted(set(colours) if once else colours)
        if len(shown) != len(bars):
            return False
        if constant is None and shown != sorted(colour for colour, _ in bars):
            return False
    return True


def _selections(measured: Sequence[Measured]) -> Iterator[tuple[str, ...]]:
    yield (chart.ALL,)
    for relation in ("most", "least"):
        yield from ((relation, measure) for measure in MEASURES)
    for measure in MEASURES:
        first, *rest = (set(each[measure]) for each in measured)
        shared = sorted(first.intersection(*rest))
        yield from (("is", measure, str(value)) for value in shared if value < 100)


def _in_order(
    own: Chart, chosen: Sequence[Sequence[int]], measured: Sequence[Measured],
    reading: ChartReading, once: tuple[str, ...],
) -> Iterator[Chart]:  # fmt: skip
    """Charts of selected objects in all orders that differ."""
    pairs = list(zip(measured, reading.bars, strict=False))
    tried = set()
    orders = [(chart.PLACE,), *((d, m) for d in chart.DIRECTIONS for m in MEASURES)]
    if reading.slots:
        orders = [(chart.SLOTS, *map(str, reading.slots))]
    for by in orders:
        order = (*by, *once)
        rows = tuple(
            tuple(chart.ordered(some, each, order))
            for some, each in zip(chosen, measured, strict=True)
        )
        if rows in tried:
            continue
        tried.add(rows)
        if _have_colours(rows, pairs):
            yield from _with_length(replace(own, order=order), rows, pairs, reading)
        elif reading.colour is not None:
            constant = replace(own, order=order, colour=reading.colour)
            yield from _with_length(constant, rows, pairs, reading)


def _have_colours(rows: Sequence[Sequence[int]], pairs: Pairs) -> bool:
    return all(
        measured["colour"][n] == colour
        for row, (measured, bars) in zip(rows, pairs, strict=False)
        for n, (colour, _) in zip(row, bars, strict=True)
    )


def _with_length(
    own: Chart, rows: Sequence[Sequence[int]], pairs: Pairs, reading: ChartReading
) -> Iterator[Chart]:
    """Charts whose bars are as long as a measure says."""
    if reading.is_unit:
        yield own
        return
    for measure in MEASURES:
        if all(
            measured[measure][n] == length
            for row, (measured, bars) in zip(rows, pairs, strict=False)
            for n, (_, length) in zip(row, bars, strict=True)
        ):
            yield replace(own, length=measure)

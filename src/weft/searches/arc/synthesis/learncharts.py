"""Learn charts of objects: which objects are shown, in which order, and with how many cells.

    targets ──► possible layouts, with the bars of each
    objects of a vector, measured ──► selections of as many ──► orders with the same colours
                                  ──► measures with the same lengths ──► programs

Most targets are not charts in any layout, so that nothing is segmented. Charts are guesses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from weft.searches.arc.fitted import chart
from weft.searches.arc.fitted.chart import Bar, Chart, Measured
from weft.searches.arc.fitted.choose import MEASURES, SEGMENTATIONS, segment
from weft.searches.arc.ops.objectparts import colour_of
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.chartreadings import ChartReading, readings_of
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.sample import GridVector, VectorSample
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.values import Grid, decode_grids, encode_grids

Pairs = Sequence[tuple[Measured, Sequence[Bar]]]
"""The objects of each training pair, and the bars of its target."""
MOST_OBJECTS = 40
WITNESSES, MOST = 4, 12
"""Most programs kept with the same outputs, and most programs kept of one vector."""


def _order(candidate: ProgramCandidate) -> tuple[int, str]:
    return candidate.millibits, candidate.program.text()


def learn_charts(
    problem: EncodedTask, sample: VectorSample, vector: GridVector
) -> list[ProgramCandidate]:
    """Return the cheapest programs that draw charts of the objects in a vector."""
    return few_of_each(_learned(problem, sample, vector))


def few_of_each(candidates: Iterable[ProgramCandidate]) -> list[ProgramCandidate]:
    """Return the cheapest programs, only a few of those with the same outputs."""
    counts: Counter[bytes] = Counter()
    chosen = []
    for each in sorted(candidates, key=_order):
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
    """Measure the objects of all examples; empty if they cannot be the bars of any reading."""
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
    bar_colours = [colour for colour, _ in reading.bars[example]]
    if reading.colour is not None:
        return len(colours) >= len(bar_colours)
    return all(colours.count(colour) >= bar_colours.count(colour) for colour in set(bar_colours))


def _charts(name: str, measured: Sequence[Measured], reading: ChartReading) -> Iterator[Chart]:
    """Yield the charts with the bars of the targets; of equal selections and orders the first."""
    own = Chart(name, (chart.ALL,), (chart.PLACE,), reading.layout, chart.ONE, reading.size, None,
                reading.path)  # fmt: skip
    pairs = list(zip(measured, reading.bars, strict=False))
    tried = set()
    for which in selections(measured[: len(pairs)]):
        chosen = tuple(tuple(chart.selected(each, which)) for each in measured)
        if all(chosen) and chosen not in tried:
            tried.add(chosen)
            for once in ((chart.ONCE,),) if reading.slots else ((), (chart.ONCE,)):
                if _have_as_many(chosen, pairs, once, reading.colour):
                    some = replace(own, which=which)
                    yield from _in_order(some, chosen, measured, reading, once)
                    break  # each colour occurs once, or there would be too many objects


def _have_as_many(
    chosen: Sequence[Sequence[int]], pairs: Pairs, once: tuple[str, ...], constant: int | None
) -> bool:
    """Whether selected objects are as many as the bars, of each colour unless it is constant."""
    for own, (measured, bars) in zip(chosen, pairs, strict=False):
        colours = [measured["colour"][n] for n in own]
        ordered = sorted(set(colours) if once else colours)
        if len(ordered) != len(bars):
            return False
        if constant is None and ordered != sorted(colour for colour, _ in bars):
            return False
    return True


def selections(measured: Sequence[Measured]) -> Iterator[tuple[str, ...]]:
    """Yield all selections of objects that the training pairs allow."""
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
    """Yield the charts of selected objects in all distinct orders."""
    pairs = list(zip(measured, reading.bars, strict=False))
    tried = set()
    orders = [(chart.PLACE,), *((d, m) for d in chart.DIRECTIONS for m in (*MEASURES, chart.DEPTH))]
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
    """Yield the charts whose bars have the length of a measure."""
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

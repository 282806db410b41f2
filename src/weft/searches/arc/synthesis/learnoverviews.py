"""Learn overviews of objects: which objects are shown, each as one cell, and in which colour.

    targets of few cells, more than one row and column
        ──► segmentations with enough objects of the targets' colours
        ──► selections whose objects lie in as many rows and columns ──► programs

Objects are measured only in the input itself, and only if they may have the targets' colours.
Overviews are guesses.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import repeat

from weft.searches.arc.fitted.chart import ALL, Measured, measured_of
from weft.searches.arc.fitted.choose import SEGMENTATIONS, segment
from weft.searches.arc.fitted.overview import (
    COLOURS,
    OUTER,
    ObjectOverview,
    OverviewSettings,
    crops_of,
    drawn,
    overview_grid,
    shown,
)
from weft.searches.arc.ops.objectparts import grid_cells, groups
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learncharts import few_of_each, selections
from weft.searches.arc.synthesis.sample import GridVector, VectorSample
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.values import Grid, Piece, decode_grids, encode_grids

MOST_OBJECTS, MOST_CELLS, FEWEST_CELLS = 60, 36, 4
"""Most objects of a grid, most cells of every target, and fewest cells of at least one."""
Objects = Sequence[Sequence[Piece]]
Crops = Sequence[Sequence[bytes]]
Examples = tuple[Objects, Sequence[Measured], Crops]


def learn_overviews(
    problem: EncodedTask, sample: VectorSample, vector: GridVector
) -> list[ProgramCandidate]:
    """Return the cheapest programs that show the objects of a vector as the targets do."""
    if not may_be_overviews(problem.targets_plain):
        return []
    grids = decode_grids(vector.content)
    return few_of_each(
        _candidate(vector, overview, outputs[problem.train :], sample.time)
        for name in SEGMENTATIONS
        for overview, outputs in _overviews(name, grids, problem.targets_plain, not vector.chain)
    )


def may_be_overviews(targets: Sequence[Grid]) -> bool:
    """Whether targets have few cells, and one has several rows and columns."""
    return max(len(target.cells) for target in targets) <= MOST_CELLS and any(
        min(target.size) > 1 and len(target.cells) >= FEWEST_CELLS for target in targets
    )


def _candidate(
    vector: GridVector, overview: OverviewSettings, tests: Sequence[Grid], time: int
) -> ProgramCandidate:
    program = Program(vector.chain, ObjectOverview.name, overview.text())
    return ProgramCandidate(program, program.millibits(), encode_grids(tests), time)


def _overviews(
    name: str, grids: Sequence[Grid], targets: Sequence[Grid], may_measure: bool
) -> Iterator[tuple[OverviewSettings, list[Grid]]]:
    """Yield the overviews in one segmentation that give the targets, with all outputs."""
    objects, crops = _segmented(name, grids, targets)
    kinds = [kind for kind in COLOURS if all(map(_may_show, crops, targets, repeat(kind)))]
    if not objects or not kinds:
        return
    measured = _measured(objects, grids) if may_measure else [{}] * len(grids)
    tried = set()
    for which in _selections(measured[: len(targets)]):
        chosen = tuple(tuple(shown(*each, which)) for each in zip(objects, measured, strict=True))
        if chosen in tried:
            continue
        tried.add(chosen)
        some = [[own[n] for n in few] for own, few in zip(objects, chosen, strict=True)]
        if all(map(_has_size, some, targets)):
            yield from _coloured(name, which, kinds, (objects, measured, crops), targets)


def _selections(measured: Sequence[Measured]) -> Iterator[tuple[str, ...]]:
    """Yield the selections to try; those by measures only if all objects are measured."""
    yield (ALL,)
    yield (OUTER,)
    if all(measured):
        yield from selections(measured)


def _coloured(
    name: str, which: tuple[str, ...], kinds: Sequence[str], examples: Examples,
    targets: Sequence[Grid],
) -> Iterator[tuple[OverviewSettings, list[Grid]]]:  # fmt: skip
    """Yield the overview of selected objects in the first kind of colours that fits the targets."""
    for overview in (OverviewSettings(name, which, kind) for kind in kinds):
        outputs = [drawn(overview, *each) for each in zip(*examples, strict=True)]
        if outputs[: len(targets)] == list(targets):
            known = [output for output in outputs if output is not None]
            if len(known) == len(outputs):
                yield overview, known
            return


def _segmented(name: str, grids: Sequence[Grid], targets: Sequence[Grid]) -> tuple[Objects, Crops]:
    """Return the objects of all grids with the cells in their boxes; empty if one does not fit."""
    objects, crops = [], []
    for n, grid in enumerate(grids):
        own = segment(name, grid)
        boxes = crops_of(own, grid) if 1 <= len(own) <= MOST_OBJECTS else []
        expected = targets[n : n + 1]
        if not boxes or not all(_may_be(boxes, target) for target in expected):
            return [], []
        objects.append(own)
        crops.append(boxes)
    return objects, crops


def _may_be(crops: Sequence[bytes], target: Grid) -> bool:
    return any(_may_show(crops, target, kind) for kind in COLOURS)


def _may_show(crops: Sequence[bytes], target: Grid, kind: str) -> bool:
    """Whether at least as many objects as areas of the target have each non-black colour."""
    return not _areas(target) - Counter(map(COLOURS[kind], crops))


@lru_cache(maxsize=16)
def _areas(target: Grid) -> Counter[int | None]:
    """Count the areas of each non-black colour in a target."""
    areas = groups(grid_cells(target), eight=False)
    return Counter(colour for area in areas if (colour := target.at(*area[0])))


def _measured(objects: Objects, grids: Sequence[Grid]) -> list[Measured]:
    """Return the measures of all objects; empty for an example with an object outside the grid."""
    return [measured_of(own, grid) or {} for own, grid in zip(objects, grids, strict=True)]


def _has_size(objects: Sequence[Piece], target: Grid) -> bool:
    grid = overview_grid(objects, [0] * len(objects))
    return grid is not None and grid.size == target.size

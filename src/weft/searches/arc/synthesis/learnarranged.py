"""Learn how objects are placed on a new canvas: layouts that give every training target.

Every object is placed once, so a target with more cells of a colour than the grid cannot be an
arrangement, and nothing is segmented. Otherwise the smallest grid is tried first; most layouts fail
there. Arrangements are guesses, and qualify as answers if every pair is predicted by the cheapest
arrangement that fits the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from weft.searches.arc.fitted import arrange
from weft.searches.arc.fitted.arrange import LAYOUTS, SEGMENTATIONS, Arrange
from weft.searches.arc.fitted.choose import segment
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.crossvalidation import each_predicted
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.sample import GridVector, VectorSample
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.values import Grid, decode_grids, encode_grids


def learn_arrangements(
    problem: EncodedTask, sample: VectorSample, vector: GridVector
) -> Iterator[ProgramCandidate]:
    """Yield the programs that arrange the objects of a vector as the targets show them."""
    grids, targets = decode_grids(vector.content), problem.targets_plain
    if not all(map(_may_show, targets, grids)):
        return
    loo_passed: int | None = None
    for name in SEGMENTATIONS:
        for layout, outputs in _fitting(name, grids, targets):
            if loo_passed is None:
                loo_passed = len(targets) if _loo_passes(grids, targets) else 0
            program = Program(vector.chain, Arrange.name, arrange.parameters(name, layout))
            tests = encode_grids(outputs[len(targets) :])
            yield ProgramCandidate(program, program.millibits(), tests, sample.time, loo_passed)


def _loo_passes(grids: Sequence[Grid], targets: Sequence[Grid]) -> bool:
    """Whether every pair is predicted by the cheapest arrangement that fits the others."""
    rules = [(name, layout) for name in SEGMENTATIONS for layout in LAYOUTS]
    rules.sort(key=lambda rule: Arrange().price(arrange.parameters(*rule).encode()))

    @cache
    def explains(rule: tuple[str, str], pair: int) -> bool:
        name, layout = rule
        return arrange.laid(layout, segment(name, grids[pair])) == targets[pair]

    return each_predicted(rules, explains, len(targets))


def _may_show(target: Grid, grid: Grid) -> bool:
    """Whether a target could be an arrangement of a grid's objects."""
    is_new = target.size != grid.size and target.cells.count(0) < len(target.cells)
    return is_new and all(
        target.cells.count(colour) <= grid.cells.count(colour) for colour in set(target.cells) - {0}
    )


def _fitting(
    name: str, grids: Sequence[Grid], targets: Sequence[Grid]
) -> Iterator[tuple[str, tuple[Grid, ...]]]:
    """Yield the layouts that give all targets, with all outputs; of equal outputs the first."""
    known: dict[str, dict[int, Grid]] = {layout: {} for layout in LAYOUTS}
    train = len(targets)
    order = sorted(range(len(grids)), key=lambda n: (n >= train, len(grids[n].cells), n))
    for n in order:
        pieces = segment(name, grids[n])
        laid = {layout: arrange.laid(layout, pieces) for layout in known}
        known = {
            layout: {**known[layout], n: grid}
            for layout, grid in laid.items()
            if grid is not None and (n >= train or grid == targets[n])
        }
        if not known:
            return
    results: dict[tuple[Grid, ...], str] = {}
    for layout, own in known.items():
        results.setdefault(tuple(own[n] for n in range(len(grids))), layout)
    for outputs, layout in results.items():
        yield layout, outputs

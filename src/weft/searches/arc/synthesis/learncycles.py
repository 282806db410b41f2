"""Learn how the colours of a grid are passed on: cyclic orders that give every target.

Most targets are rejected at once, because the cells of one colour become several colours. Colours
that change in no pair stay. Cycles are guesses, and qualify as answers if every pair is predicted
by the first cycle that fits the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.searches.arc.fitted.cycle import WAYS, CycleColours, cycled, parameters
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learnlists import FEW_PAIRS
from weft.searches.arc.synthesis.sample import GridVector
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.values import Grid, decode_grids, encode_grids

Cycle = tuple[str, str, Sequence[int]]
"""The order, the step, and the colours that stay."""
Pairs = Sequence[tuple[Grid, Grid]]


def learn_cycles(
    problem: EncodedTask, vector: GridVector, time: int = 0
) -> Iterator[ProgramCandidate]:
    """Yield the programs that cycle the colours of a vector as the targets show it."""
    grids, targets = decode_grids(vector.content), problem.targets_plain
    pairs = list(zip(grids, targets, strict=False))
    cycles: dict[bytes, Cycle] = {}
    for cycle in _fitting(pairs):
        outputs = [cycled(grid, *cycle) for grid in grids[len(targets) :]]
        tests = [output for output in outputs if output is not None]
        if len(tests) == len(outputs):
            cycles.setdefault(encode_grids(tests), cycle)  # of equal outputs, the first cycle
    loo_passed = len(targets) if cycles and _loo_passes(pairs) else 0
    for content, cycle in cycles.items():
        program = Program(vector.chain, CycleColours.name, parameters(*cycle))
        yield ProgramCandidate(program, program.millibits(), content, time, loo_passed)


def _loo_passes(pairs: Pairs) -> bool:
    """Whether every pair is predicted by the first cycle that fits the others."""
    return len(pairs) > FEW_PAIRS and all(
        _predicts(next(_fitting([*pairs[:n], *pairs[n + 1 :]]), None), *pair)
        for n, pair in enumerate(pairs)
    )


def _predicts(cycle: Cycle | None, grid: Grid, target: Grid) -> bool:
    return cycle is not None and cycled(grid, *cycle) == target


def _fitting(pairs: Pairs) -> Iterator[Cycle]:
    """Yield the cycles that give all targets, in a fixed order."""
    fixed = _fixed(pairs)
    if fixed is None:
        return
    for order, step in WAYS:
        if all(_predicts((order, step, fixed), *pair) for pair in pairs):
            yield order, step, fixed


def _fixed(pairs: Pairs) -> list[int] | None:
    """Return the colours that stay in all pairs; None if the changes are not permutations."""
    colours: set[int] = set()
    changing: set[int] = set()
    for grid, target in pairs:
        changes = _changes(grid, target)
        if changes is None:
            return None
        colours |= changes.keys()
        changing |= {old for old, new in changes.items() if old != new}
    return sorted(colours - changing) if changing else None


def _changes(grid: Grid, target: Grid) -> dict[int, int] | None:
    """Return what each colour becomes; None unless the target only permutes the grid's colours."""
    if grid.size != target.size or set(grid.cells) != set(target.cells):
        return None
    changes = dict(zip(grid.cells, target.cells, strict=True))
    table = bytes(changes.get(colour, colour) for colour in range(256))
    return changes if grid.cells.translate(table) == target.cells else None

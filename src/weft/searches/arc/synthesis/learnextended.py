"""Learn how the rows or columns of a grid continue: extensions that give every training target.

Targets that are not longer along one axis and equal along the other are rejected by their sizes.
Extensions are guesses, and qualify as answers if every pair is predicted by the first extension
that fits the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.searches.arc.fitted import extend
from weft.searches.arc.fitted.extend import LENGTHS, SIDES, WAYS, ExtendLines
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.crossvalidation import each_predicted
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.sample import GridVector, VectorSample
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.values import MAX_SIDE, Grid, decode_grids, encode_grids


def learn_extensions(
    problem: EncodedTask, sample: VectorSample, vector: GridVector
) -> Iterator[ProgramCandidate]:
    """Yield the programs that extend the grids of a vector to the targets."""
    grids, targets = decode_grids(vector.content), problem.targets_plain
    loo_passed: int | None = None
    for text in _texts(list(zip(grids, targets, strict=False))):
        outputs = _extended(grids, targets, text)
        if outputs is None:
            continue
        if loo_passed is None:
            loo_passed = len(targets) if _loo_passes(grids, targets) else 0
        program = Program(vector.chain, ExtendLines.name, text)
        tests = encode_grids(outputs[len(targets) :])
        yield ProgramCandidate(program, program.millibits(), tests, sample.time, loo_passed)


def _loo_passes(grids: Sequence[Grid], targets: Sequence[Grid]) -> bool:
    """Whether every pair is predicted by the first extension that fits the others."""
    pairs = list(zip(grids, targets, strict=False))
    texts = sorted({text for pair in pairs for text in _texts([pair])})

    def explains(text: str, pair: int) -> bool:
        grid, target = pairs[pair]
        return ExtendLines().apply(text.encode(), grid, grid) == target

    return each_predicted(texts, explains, len(pairs))


def _texts(pairs: Sequence[tuple[Grid, Grid]]) -> Iterator[str]:
    """Yield the parameters of the extensions that give the sizes of all targets."""
    for side in SIDES:
        for kind, n in _lengths(pairs, side):
            yield from (extend.parameters(side, way, kind, n) for way in WAYS)


def _lengths(pairs: Sequence[tuple[Grid, Grid]], side: str) -> Iterator[tuple[str, int]]:
    """Yield the lengths that fit all targets; none unless they only grow along the side's axis."""
    along = 0 if side in ("down", "up") else 1
    sizes = [(grid.size, target.size) for grid, target in pairs]
    if any(a[1 - along] != b[1 - along] or a[along] >= b[along] for a, b in sizes):
        return
    sides = [(a[along], b[along]) for a, b in sizes]
    for kind, length in LENGTHS.items():
        fitting = (
            n for n in range(2, MAX_SIDE + 1) if all(length(old, n) == new for old, new in sides)
        )
        yield from ((kind, n) for n in fitting)


def _extended(grids: Sequence[Grid], targets: Sequence[Grid], text: str) -> list[Grid] | None:
    """Return the rule's outputs for all grids; None if it fails or gets a target wrong."""
    outputs = []
    for place, grid in enumerate(grids):
        output = ExtendLines().apply(text.encode(), grid, grid)
        if output is None or (place < len(targets) and output != targets[place]):
            return None
        outputs.append(output)
    return outputs

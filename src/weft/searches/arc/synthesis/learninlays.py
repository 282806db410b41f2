"""Learn whether objects of the input are placed into a grid of the targets' size.

Tried if targets differ in size from inputs, on the cheapest grids and the one nearest to the
targets, provided the targets keep all its non-black cells. Inlays are guesses.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.searches.arc.fitted.inlay import SEGMENTATIONS, Inlay, inlaid
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.sample import GridVector, VectorSample
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.values import Grid, decode_grids, encode_grids


def learn_inlays(
    problem: EncodedTask, sample: VectorSample, vector: GridVector
) -> Iterator[ProgramCandidate]:
    """Yield the programs that place the input's objects into a vector as the targets show them."""
    grids, targets = decode_grids(vector.content), problem.targets_plain
    if not all(map(_may_become, grids, targets)):
        return
    for name in SEGMENTATIONS:
        outputs = _inlaid(grids, problem.inputs, targets, name)
        if outputs is not None:
            program = Program(vector.chain, Inlay.name, name)
            tests = encode_grids(outputs[len(targets) :])
            yield ProgramCandidate(program, program.millibits(), tests, sample.time)


def _may_become(grid: Grid, target: Grid) -> bool:
    """Whether a target has all non-black cells of a grid, and more."""
    if grid.size != target.size or grid == target:
        return False
    return all(a in (0, b) for a, b in zip(grid.cells, target.cells, strict=True))


def _inlaid(
    grids: Sequence[Grid], inputs: Sequence[Grid], targets: Sequence[Grid], name: str
) -> list[Grid] | None:
    """Return the rule's outputs for all grids; None if it fails or gets a target wrong."""
    outputs = []
    for place, (grid, given) in enumerate(zip(grids, inputs, strict=True)):
        output = inlaid(grid, given, name)
        if output is None or (place < len(targets) and output != targets[place]):
            return None
        outputs.append(output)
    return outputs

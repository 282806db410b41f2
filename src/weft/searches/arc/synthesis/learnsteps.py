"""Learn two tables in sequence: the first explains some of the changes, the second the rest.

    first tables ──► second tables on the result of each, in parts by segmentation

First tables are chosen by all pairs, so the result is not cross-validated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from weft.searches.arc.fitted import objecttable
from weft.searches.arc.fitted.objecttable import Objects
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learntables import SEGMENTATIONS, learn_tables
from weft.searches.arc.synthesis.sample import GridVector
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.tables.learn import TableSearch
from weft.searches.arc.tables.partial import partial_tables
from weft.searches.arc.tables.segmentation import scenes_of
from weft.searches.arc.values import encode_grids

FIRST_SEEN = SEGMENTATIONS[0]
"""The segmentation of first tables; others add time and hardly any solutions."""
MOST_ACTING, FIRSTS = 25, 2
"""Most objects of a grid, and most first tables for which second ones are learned."""
SEEN = (SEGMENTATIONS[:1], SEGMENTATIONS[1:2], SEGMENTATIONS[2:])
"""The segmentations of each part of learning second tables; the first two take longest."""


@dataclass(frozen=True, slots=True)
class StepPart:
    """One part of learning second tables."""

    first: str
    """The text of the first table."""
    seen: int
    """Index into `SEEN`."""


def learn_firsts(problem: EncodedTask) -> tuple[str, ...]:
    """Return the texts of the best tables that explain a part of the changes.

    Does not depend on the result of a phase.
    """
    if not problem.keeps_sizes:
        return ()
    ways = scenes_of((FIRST_SEEN,), problem.inputs, MOST_ACTING)
    return tuple(
        objecttable.parameters(name, partial.table)
        for name, scenes in ways.items()
        for partial in partial_tables(
            TableSearch(scenes[: problem.train], problem.targets_plain), scenes
        )[:FIRSTS]
    )


def step_parts(firsts: Sequence[str]) -> list[StepPart]:
    """Return the parts of learning second tables, the slowest first."""
    return [StepPart(first, seen) for seen in (1, 0, 2) for first in firsts]


def learn_seconds(problem: EncodedTask, part: StepPart) -> tuple[ProgramCandidate, ...]:
    """Return the cheapest pairs of tables that give the targets, with a given first table."""
    first = Program((), Objects.name, part.first)
    grids = [first.run(grid) for grid in problem.inputs]
    vector = GridVector((), 0, encode_grids([grid for grid in grids if grid is not None]))
    seconds = learn_tables(problem, vector, names=SEEN[part.seen], may_answer=False)
    return tuple(_behind(part.first, second) for second in seconds)


def _behind(first: str, second: ProgramCandidate) -> ProgramCandidate:
    both = first + objecttable.THEN + second.program.parameters
    program = Program((), Objects.name, both)
    return replace(second, program=program, millibits=program.millibits())

"""Small ARC tasks made from known programs, and searches small enough to check by hand."""

from __future__ import annotations

from collections.abc import Sequence

from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.budget import SearchBudget
from weft.searches.arc.synthesis.language import Language
from weft.searches.arc.synthesis.phases import Options
from weft.searches.arc.synthesis.reach import RULES
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid

SEEDS = (
    Grid.of([[1, 0, 2], [0, 3, 0]]),
    Grid.of([[0, 4, 4], [5, 0, 0], [0, 0, 6]]),
    Grid.of([[7, 0], [0, 0], [8, 9]]),
)


def task_of(program: Program, inputs: Sequence[Grid] = SEEDS) -> ArcTask | None:
    """A task that a program solves, its last input being the test; None where it fails."""
    outputs = [program.run(grid) for grid in inputs]
    if any(grid is None for grid in outputs):
        return None
    pairs = [Pair(i, o) for i, o in zip(inputs, outputs, strict=True) if o is not None]
    last = pairs[-1]
    return ArcTask("made", tuple(pairs[:-1]), (last.input,), (last.output,))


def options(
    *names: str, depth: int = 3, programs: int = 10**6, prune: Sequence[str] = RULES, **more: int
) -> Options:
    """A search with a few operators only, or with all when none is named."""
    language = Language((), [BY_NAME[name] for name in names]) if names else Language()
    budget = SearchBudget(max_programs=programs, max_depth=depth, max_states=10**6, **more)
    return Options(language, budget, prune)

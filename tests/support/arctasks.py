"""Small ARC tasks built from known programs, and searches small enough to check by hand."""

from __future__ import annotations

from collections.abc import Sequence

from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis import learnchoices, learnlists
from weft.searches.arc.synthesis.budget import SearchBudget
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.language import Language
from weft.searches.arc.synthesis.phases import Options, PhaseResult, shallow, with_learned
from weft.searches.arc.synthesis.planner import ParallelPlanner
from weft.searches.arc.synthesis.reach import RULES
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid

SEEDS = (
    Grid.of([[1, 0, 2], [0, 3, 0]]),
    Grid.of([[0, 4, 4], [5, 0, 0], [0, 0, 6]]),
    Grid.of([[7, 0], [0, 0], [8, 9]]),
)


def task_of(program: Program, inputs: Sequence[Grid] = SEEDS) -> ArcTask | None:
    """A task that a program solves, with its last input as the test; None if the program fails."""
    outputs = [program.run(grid) for grid in inputs]
    if any(grid is None for grid in outputs):
        return None
    pairs = [Pair(i, o) for i, o in zip(inputs, outputs, strict=True) if o is not None]
    last = pairs[-1]
    return ArcTask("made", tuple(pairs[:-1]), (last.input,), (last.output,))


def options(
    *names: str, depth: int = 3, programs: int = 10**6, prune: Sequence[str] = RULES, **more: int
) -> Options:
    """A search with the named operators only, or with all of them if none is named."""
    language = Language((), [BY_NAME[name] for name in names]) if names else Language()
    budget = SearchBudget(max_programs=programs, max_depth=depth, max_states=10**6, **more)
    return Options(language, budget, prune)


def phase_with_learned(task: ArcTask, own: Options) -> PhaseResult:
    """The shallow phase of a search, with the choices and lists learned from it."""
    problem, planner = EncodedTask(task.without_truth()), ParallelPlanner(own)
    first = shallow(problem, own)
    choices, lists = (
        [candidate for part in parts for candidate in part]
        for parts in planner.learn(problem, first)
    )
    return with_learned(first, learnchoices.cheapest(choices), learnlists.cheapest(lists))

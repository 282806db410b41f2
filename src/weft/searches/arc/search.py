"""`weft arc solve` on the engine: one lane per task, its phases as tasks.

    solve ── lane <task digest> ──► shallow ──► slices and views, if it found nothing ──► conclude

The generator only decides which parts to run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from weft import INPUTS, search
from weft.model.codec import Table, to_json
from weft.model.plan import Plan
from weft.model.results import Result
from weft.model.tasks import SearchBody, Unknown, make_lanes
from weft.model.values import Object, Value
from weft.searches.arc.records import SEARCH, AnswerRecord, PhaseRecord
from weft.searches.arc.tasks import conclude, planner_of, run_shallow, run_slice, run_view


@search(name="arc.solve_one", version=6)
def solve_one(puzzle: Object, options: Table) -> SearchBody:
    """Search one task; the answer is its verdict with the evidence."""
    [begun] = yield [run_shallow(puzzle, options)]
    first: PhaseRecord = begun.value
    planner = planner_of(options)
    spent, is_solved = first["programs"], bool(first["candidates"])
    views = first["views"][: planner.most_views(spent)]
    parts = planner.parts(spent, is_solved, first["exhausted"], len(views))
    results: Sequence[Result] = []
    if parts or views:
        results = yield [
            *(run_slice(puzzle, options, to_json(part), first["table"]) for part in parts),
            *(run_view(puzzle, options, view, number) for number, view in enumerate(views)),
        ]
    rest = [result.value for result in results[: len(parts)] if result.ok]
    viewed_parts = [result.value for result in results[len(parts) :] if result.ok]
    incomplete = len(rest) + len(viewed_parts) < len(results)
    [end] = yield [conclude(puzzle, options, first, rest, viewed_parts, incomplete)]
    return end.value


@search(name=SEARCH, version=6)
def solve(tasks: list[str], options: Table, *, inputs: Mapping[str, Object] = INPUTS) -> SearchBody:
    """Search every task in a lane of its own, named by the task's digest.

    The answer counts outcomes; each lane's own answer holds programs and grids.
    """
    yield Plan(lanes="puzzles", tally="outcome")
    answers = yield make_lanes({d: solve_one(inputs[d], options) for d in tasks})
    outcomes = [_outcome(answer) for answer in answers]
    counts: dict[str, Value] = {name: outcomes.count(name) for name in sorted(set(outcomes))}
    if counts.get("SOLVED", 0) == 0:
        return Unknown("unsolved", counts)
    return counts


def _outcome(answer: AnswerRecord | Unknown) -> str:
    return "UNKNOWN/incomplete" if isinstance(answer, Unknown) else answer["outcome"]

"""`weft arc solve` on the engine: one lane per task, its phases as tasks.

    solve ── lane <task digest> ──► shallow ──► slices and views, if it found nothing ──► conclude

The generator only decides which parts to run. What the shallow phase reached travels to the
slices as an object, and so does every log. All numbers are integers, so the ledger is the same
on every machine.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import cast

from weft.define import search, task
from weft.model.results import Result
from weft.model.tasks import SearchBody, Unknown, make_lanes
from weft.model.values import JsonValue, Object, Value
from weft.searches.arc import failure, wire
from weft.searches.arc.bank import Bank
from weft.searches.arc.normal.registry import FittedView
from weft.searches.arc.ops.registry import fingerprint
from weft.searches.arc.records import AnswerRecord, OptionsRecord, PhaseRecord, SliceRecord
from weft.searches.arc.search.budget import SearchBudget, WorkerBudget
from weft.searches.arc.search.cache import ApplyCache
from weft.searches.arc.search.encodedtask import EncodedTask
from weft.searches.arc.search.language import Language
from weft.searches.arc.search.log import SearchLog
from weft.searches.arc.search.phases import Options, PhaseResult, deep, shallow, viewed
from weft.searches.arc.search.planner import ParallelPlanner
from weft.searches.arc.task import ArcTask
from weft.worker.context import get, note, put

_cache = ApplyCache()
"""One per worker: slices of one task that a worker runs share what they expand."""


@task
def run_shallow(puzzle: Object, options: OptionsRecord) -> PhaseRecord:
    """Run the shallow phase of one task."""
    problem = EncodedTask(ArcTask.from_canonical(get(puzzle)))
    hits, misses = _cache.hits, _cache.misses
    phase = shallow(problem, _planner(options).options, _cache)
    _report(phase, hits, misses)
    value = wire.phase_to_wire(phase)
    value["log"] = put(phase.log.to_bytes())
    value["table"] = put(phase.table) if phase.table else None
    return value


@task
def run_slice(
    puzzle: Object, options: OptionsRecord, part: SliceRecord, table: Object
) -> PhaseRecord:
    """Run one slice of the deep phase."""
    problem = EncodedTask(ArcTask.from_canonical(get(puzzle)))
    hits, misses = _cache.hits, _cache.misses
    own = WorkerBudget.from_dict(part)
    phase = deep(problem, _planner(options).options, own, get(table), _cache)
    _report(phase, hits, misses)
    return {**wire.phase_to_wire(phase), "log": put(phase.log.to_bytes())}


@task
def run_view(puzzle: Object, options: OptionsRecord, view: list[str], number: int) -> PhaseRecord:
    """Search one task as a view shows it."""
    hits, misses = _cache.hits, _cache.misses
    task = ArcTask.from_canonical(get(puzzle))
    phase = viewed(task, _planner(options).options, FittedView(*view), number, _cache)
    _report(phase, hits, misses)
    return {**wire.phase_to_wire(phase), "log": put(phase.log.to_bytes())}


@task
def conclude(
    puzzle: Object,
    options: OptionsRecord,
    first: PhaseRecord,
    rest: list[PhaseRecord],
    views: list[PhaseRecord],
    incomplete: bool,
) -> AnswerRecord:
    """Assemble the parts: the verdict, why not if there is none, and the merged log."""
    task = ArcTask.from_canonical(get(puzzle))
    begun, *phases = [
        wire.phase_from_wire(raw, SearchLog.from_bytes(get(raw["log"])))
        for raw in (first, *rest, *views)
    ]
    slices, viewed_parts = phases[: len(rest)], phases[len(rest) :]
    result = _planner(options).combine(task, begun, slices, viewed_parts, incomplete)
    answer = wire.answer_to_wire(result, failure.analyse(result))
    return {**answer, "log": put(result.log.to_bytes())}


@search(version=5)
def solve_one(puzzle: Object, options: OptionsRecord) -> SearchBody:
    """Search one task; the answer is its verdict with the evidence."""
    [begun] = yield [run_shallow(puzzle, options)]
    first: PhaseRecord = begun.value
    planner = _planner(options)
    spent, is_solved = first["programs"], bool(first["candidates"])
    views = first["views"][: planner.most_views(spent)]
    parts = planner.parts(spent, is_solved, first["exhausted"], len(views))
    results: Sequence[Result] = []
    if parts or views:
        results = yield [
            *(run_slice(puzzle, options, part.to_dict(), first["table"]) for part in parts),
            *(run_view(puzzle, options, view, number) for number, view in enumerate(views)),
        ]
    rest = [result.value for result in results[: len(parts)] if result.ok]
    viewed_parts = [result.value for result in results[len(parts) :] if result.ok]
    incomplete = len(rest) + len(viewed_parts) < len(results)
    [end] = yield [conclude(puzzle, options, first, rest, viewed_parts, incomplete)]
    return end.value


@search(version=5)
def solve(tasks: list[str], options: OptionsRecord, *, inputs: Mapping[str, Object]) -> SearchBody:
    """Search every task in a lane of its own, named by the task's digest.

    The answer counts outcomes; each lane's own answer holds programs and grids.
    """
    answers = yield make_lanes({d: solve_one(inputs[d], options) for d in tasks})
    outcomes = [_outcome(answer) for answer in answers]
    counts: dict[str, Value] = {name: outcomes.count(name) for name in sorted(set(outcomes))}
    if counts.get("SOLVED", 0) == 0:
        return Unknown("unsolved", counts)
    return counts


def make_options(
    budget: SearchBudget,
    *,
    prune: Sequence[str],
    seed: int,
    slices: int,
    margin_millibits: int | None,
    bank: Bank | None,
    without: Sequence[str] = (),
) -> OptionsRecord:
    """Everything that decides a search's outcome, bound into the genesis record."""
    return {
        "budget": budget.to_dict(),
        "prune": list(prune),
        "seed": seed,
        "slices": slices,
        "margin_millibits": margin_millibits,
        "operators": fingerprint(),
        "bank": None if bank is None else bank.to_dict(),
        "without": list(without),
    }


def _planner(options: OptionsRecord) -> ParallelPlanner:
    raw = options["bank"]
    language = _language(None if raw is None else Bank.from_dict(cast(JsonValue, raw)))
    assert options["operators"] == fingerprint(), "the operators are not those of the run"
    own = Options(
        language, SearchBudget.from_dict(options["budget"]), options["prune"], options["seed"],
        options["without"],
    )  # fmt: skip
    return ParallelPlanner(own, options["slices"], options["margin_millibits"])


@lru_cache(maxsize=2)
def _language(bank: Bank | None) -> Language:
    return Language(bank.entries() if bank is not None else ())


def _outcome(answer: AnswerRecord | Unknown) -> str:
    return "UNKNOWN/incomplete" if isinstance(answer, Unknown) else answer["outcome"]


def _report(phase: PhaseResult, hits: int, misses: int) -> None:
    """Telemetry: to the manifest, never to the ledger."""
    note(
        **phase.counts.to_dict(),
        vectors=phase.states,
        states=phase.counts.programs * phase.examples,
        cache_hits=_cache.hits - hits,
        cache_misses=_cache.misses - misses,
        cache_bytes=_cache.size_bytes,
    )

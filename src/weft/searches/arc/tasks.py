"""The phases of one puzzle as tasks of the engine: shallow, slice, view, conclude.

What the shallow phase reached travels to the slices as an object, and so does every log. All
numbers are integers, so the ledger is the same on every machine.
"""

from __future__ import annotations

from functools import lru_cache

from weft.define import task
from weft.model.codec import Table, from_json, to_json
from weft.model.values import Object
from weft.searches.arc import failure, wire
from weft.searches.arc.bank import Bank
from weft.searches.arc.normal.registry import FittedView
from weft.searches.arc.ops.registry import fingerprint
from weft.searches.arc.records import SLICE, AnswerRecord, OptionsRecord, PhaseRecord
from weft.searches.arc.synthesis.budget import WorkerBudget
from weft.searches.arc.synthesis.cache import ApplyCache
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.language import Language
from weft.searches.arc.synthesis.log import SearchLog
from weft.searches.arc.synthesis.phases import Options, PhaseResult, deep, shallow, viewed
from weft.searches.arc.synthesis.planner import ParallelPlanner
from weft.searches.arc.task import ArcTask
from weft.worker.context import get, note, put

_cache = ApplyCache()
"""One per worker: slices of one task that a worker runs share what they expand."""


@task(name="arc.shallow")
def run_shallow(puzzle: Object, options: Table) -> PhaseRecord:
    """Run the shallow phase of one task."""
    problem = EncodedTask(ArcTask.from_canonical(get(puzzle)))
    hits, misses = _cache.hits, _cache.misses
    phase = shallow(problem, planner_of(options).options, _cache)
    _report(phase, hits, misses)
    value = wire.phase_to_wire(phase)
    value["log"] = put(phase.log.to_bytes())
    value["table"] = put(phase.table) if phase.table else None
    return value


@task(name=SLICE)
def run_slice(puzzle: Object, options: Table, part: Table, table: Object) -> PhaseRecord:
    """Run one slice of the deep phase."""
    problem = EncodedTask(ArcTask.from_canonical(get(puzzle)))
    hits, misses = _cache.hits, _cache.misses
    own = from_json(WorkerBudget, part)
    phase = deep(problem, planner_of(options).options, own, get(table), _cache)
    _report(phase, hits, misses)
    return {**wire.phase_to_wire(phase), "log": put(phase.log.to_bytes())}


@task(name="arc.view")
def run_view(puzzle: Object, options: Table, view: list[str], number: int) -> PhaseRecord:
    """Search one task as a view shows it."""
    hits, misses = _cache.hits, _cache.misses
    task = ArcTask.from_canonical(get(puzzle))
    phase = viewed(task, planner_of(options).options, FittedView(*view), number, _cache)
    _report(phase, hits, misses)
    return {**wire.phase_to_wire(phase), "log": put(phase.log.to_bytes())}


@task(name="arc.conclude")
def conclude(
    puzzle: Object,
    options: Table,
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
    result = planner_of(options).combine(task, begun, slices, viewed_parts, incomplete)
    answer = wire.answer_to_wire(result, failure.analyse(result))
    return {**answer, "log": put(result.log.to_bytes())}


def planner_of(options: Table) -> ParallelPlanner:
    """Return the planner that recorded options ask for; its operators must be those of the run."""
    record = from_json(OptionsRecord, options)
    assert record.operators == fingerprint(), "the operators are not those of the run"
    language = _language(record.bank)
    own = Options(language, record.budget, record.prune, record.seed, record.without)
    return ParallelPlanner(own, record.slices, record.margin_millibits)


@lru_cache(maxsize=2)
def _language(bank: Bank | None) -> Language:
    return Language(bank.entries() if bank is not None else ())


def _report(phase: PhaseResult, hits: int, misses: int) -> None:
    """Telemetry: to the manifest, never to the ledger."""
    note(
        **to_json(phase.counts),
        vectors=phase.states,
        states=phase.counts.programs * phase.examples,
        cache_hits=_cache.hits - hits,
        cache_misses=_cache.misses - misses,
        cache_bytes=_cache.size_bytes,
    )

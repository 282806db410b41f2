"""The parts of one puzzle's search as tasks of the engine.

    shallow, tables ──► lists, choices, slices, views ──► lists that scan, in layers
            ──► assemble; the same on a black background ──► join
            ──► the same without one pair each (omit), if nothing fits ──► guess
            ──► examine ──► conclude

Every task reads its puzzle as it is searched, on a black background (`normal.ground`); `conclude`
reports the answer in terms of the original puzzle. The vectors of the shallow phase are passed to
later parts as objects, and so is every log. All numbers are integers, so the ledger is the same on
every machine.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from weft import get, note, put, task
from weft.model.codec import Table, from_json, to_json
from weft.model.values import Object
from weft.searches.arc import failure
from weft.searches.arc.assessment import Found, Standard, examined, needed
from weft.searches.arc.bank import Bank
from weft.searches.arc.evidence import Evidence
from weft.searches.arc.normal.ground import as_it_is, read_puzzle, searched_task
from weft.searches.arc.normal.registry import FittedView, is_coloured
from weft.searches.arc.ops.registry import fingerprint
from weft.searches.arc.records import (
    CHOICES,
    EACH,
    FIRSTS,
    LISTS,
    SLICE,
    STEPS,
    TABLES,
    VIEW_TABLES,
    AnswerRecord,
    AssembledRecord,
    GroundRecord,
    LearnedRecord,
    OmissionRecord,
    OptionsRecord,
    PhaseRecord,
    ShallowRecord,
)
from weft.searches.arc.spent import noted
from weft.searches.arc.synthesis.budget import WorkerBudget
from weft.searches.arc.synthesis.cache import ApplyCache
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.language import Language
from weft.searches.arc.synthesis.learnchoices import learn_choices
from weft.searches.arc.synthesis.learnlists import ListPart, learn_part
from weft.searches.arc.synthesis.learnsteps import StepPart, learn_firsts, learn_seconds
from weft.searches.arc.synthesis.learntables import joined, learn_input_tables
from weft.searches.arc.synthesis.log import SearchLog
from weft.searches.arc.synthesis.phases import (
    Options,
    PhaseResult,
    deep,
    parted,
    shallow,
    viewed,
    viewed_tables,
    with_tables,
)
from weft.searches.arc.synthesis.planner import (
    ParallelPlanner,
    ShallowFacts,
)
from weft.searches.arc.synthesis.sample import VectorSample, pack, unpack
from weft.searches.arc.task import ArcTask
from weft.searches.arc.wire import (
    answer_to_wire,
    assembled_from_wire,
    assembled_to_wire,
    found_from_wire,
    learned_from_wire,
    learned_to_wire,
    omission_from_wire,
    omission_to_wire,
    phase_from_wire,
    phase_to_wire,
)

_cache = ApplyCache()
"""One per worker, so that a worker's slices of one puzzle share expanded values."""


@task(name="arc.shallow")
@noted()
def run_shallow(puzzle: Object, options: Table) -> ShallowRecord:
    """Run the shallow phase of one puzzle."""
    before, planner = _lookups(), planner_of(options)
    phase = shallow(_problem(get(puzzle)), planner.options, _cache, planner.owners())
    assert phase.sample is not None
    return {
        **_recorded(phase, before),
        "table": put(phase.table) if phase.table else None,
        "sample": put(pack(phase.sample)),
        "facts": to_json(ShallowFacts.of(phase)),
        **_on_ground(planner, phase, *read_puzzle(get(puzzle))),
    }


@task(name=SLICE)
@noted()
def run_slice(puzzle: Object, options: Table, part: Table, table: Object | None) -> PhaseRecord:
    """Run one slice of the deep phase, on the table of a shallow phase that found nothing short."""
    assert table is not None
    before, own = _lookups(), from_json(WorkerBudget, part)
    phase = deep(_problem(get(puzzle)), planner_of(options).options, own, get(table), _cache)
    return _recorded(phase, before)


@task(name=LISTS)
@noted()
def run_lists(puzzle: Object, sample: Object, part: Table) -> LearnedRecord:
    """Run one part of decision-list learning."""
    own = from_json(ListPart, part)
    learned = learn_part(_problem(get(puzzle)), _sample(get(sample)), own)
    return learned_to_wire(learned.candidates, learned.beginnings)


@task(name=CHOICES)
@noted()
def run_choices(puzzle: Object, sample: Object, start: int, end: int) -> LearnedRecord:
    """Learn which object each output is, in a range of vectors."""
    return learned_to_wire(learn_choices(_problem(get(puzzle)), _sample(get(sample)), start, end))


@task(name=TABLES)
@noted()
def run_tables(puzzle: Object, part: int) -> LearnedRecord:
    """Learn tables over the input's objects, for some segmentations."""
    return learned_to_wire(learn_input_tables(_problem(get(puzzle)), part))


@task(name=FIRSTS)
@noted()
def run_firsts(puzzle: Object) -> list[str]:
    """Learn first tables that second ones can follow."""
    return list(learn_firsts(_problem(get(puzzle))))


@task(name=STEPS)
@noted()
def run_steps(puzzle: Object, part: Table) -> LearnedRecord:
    """Learn second tables after a first one, for some segmentations."""
    return learned_to_wire(learn_seconds(_problem(get(puzzle)), from_json(StepPart, part)))


@task(name=EACH)
@noted()
def run_each(puzzle: Object, options: Table, way: str) -> LearnedRecord:
    """Learn one program for all parts of the puzzle's grids, divided as `way` says."""
    task = searched_task(get(puzzle))
    return learned_to_wire(parted(task, planner_of(options).options, way, _cache))


@task(name="arc.view")
@noted()
def run_view(puzzle: Object, options: Table, view: list[str], number: int) -> PhaseRecord:
    """Search one puzzle through a view."""
    task, before = searched_task(get(puzzle)), _lookups()
    phase = viewed(task, planner_of(options).options, FittedView(*view), number, _cache)
    return _recorded(phase, before)


@task(name=VIEW_TABLES)
@noted()
def run_view_tables(puzzle: Object, view: list[str], part: int) -> LearnedRecord:
    """Learn tables over the objects of the viewed input, for some segmentations."""
    task = searched_task(get(puzzle))
    return learned_to_wire(viewed_tables(task, FittedView(*view), part))


@task(name="arc.assemble")
@noted()
def assemble(
    options: Table,
    first: PhaseRecord,
    rest: list[PhaseRecord],
    views: list[PhaseRecord],
    view_tables: list[list[LearnedRecord]],
    tables: list[LearnedRecord],
    choices: list[LearnedRecord],
    lists: list[LearnedRecord],
) -> AssembledRecord:
    """Assemble the parts: the programs found, the number to examine, and the merged log.

    `view_tables` has the tables of each view.
    """
    first_phase, *phases = [
        phase_from_wire(raw, SearchLog.from_bytes(get(raw["log"])))
        for raw in (first, *rest, *views)
    ]
    slices = phases[: len(rest)]
    viewed_parts = [
        with_tables(phase, map(learned_from_wire, own))
        for phase, own in zip(phases[len(rest) :], view_tables, strict=True)
    ]
    drawn, chosen, learned = (
        [learned_from_wire(part) for part in parts] for parts in (tables, choices, lists)
    )
    chosen.append(list(joined(drawn, first_phase.counts.programs)))
    planner = planner_of(options)
    assembled = planner.assemble(first_phase, slices, viewed_parts, chosen, learned)
    return assembled_to_wire(assembled, planner.standard)


@task(name="arc.join")
@noted()
def join(
    puzzle: Object, options: Table, assembled: AssembledRecord, grounded: AssembledRecord
) -> AssembledRecord:
    """Join the search of a puzzle with that of the same puzzle on another background."""
    planner, (task, exchange) = planner_of(options), read_puzzle(get(puzzle))
    own, other = assembled_from_wire(assembled), assembled_from_wire(grounded)
    view = planner.ground(task, exchange, own.found)
    if view is None:  # a learned rule qualifies as an answer
        return assembled
    return assembled_to_wire(own.beside(other, task, view), planner.standard)


@task(name="arc.omit")
@noted()
def omit(puzzle: Object, options: Table, assembled: AssembledRecord) -> list[OmissionRecord]:
    """Return the puzzle without each of its training pairs, if nothing fits them all."""
    task, exchange = read_puzzle(get(puzzle))
    found = assembled_from_wire(assembled).found
    return [omission_to_wire(each) for each in planner_of(options).omissions(task, exchange, found)]


@task(name="arc.guess")
@noted()
def guess(
    puzzle: Object,
    options: Table,
    assembled: AssembledRecord,
    omitted: list[OmissionRecord],
    searched: list[AssembledRecord],
) -> AssembledRecord:
    """Add what was found without one of the training pairs, as guesses."""
    task = searched_task(get(puzzle))
    others = [
        (omission_from_wire(each), assembled_from_wire(other))
        for each, other in zip(omitted, searched, strict=True)
    ]
    together = assembled_from_wire(assembled).guessed(others, task)
    return assembled_to_wire(together, planner_of(options).standard)


@task(name="arc.examine")
@noted()
def run_examine(puzzle: Object, options: Table, found: Object, number: int) -> Table:
    """Gather the evidence on one of the programs that compete for the answer."""
    task, standard = searched_task(get(puzzle)), planner_of(options).standard
    examination = needed(found_from_wire(get(found)), standard)[number]
    return to_json(examined(task, standard, examination))


@task(name="arc.conclude")
@noted()
def conclude(
    puzzle: Object,
    options: Table,
    assembled: AssembledRecord,
    evidence: list[Table | None],
    incomplete: bool,
) -> AnswerRecord:
    """Judge the programs found by the evidence; return the answer, with the reason if UNKNOWN.

    An item of `evidence` is None if its examination failed.
    """
    puzzle_task, planner = ArcTask.from_canonical(get(puzzle)), planner_of(options)
    task, exchange = read_puzzle(get(puzzle))
    search = assembled_from_wire(assembled)
    known = {
        each.program: from_json(Evidence, raw)
        for each, raw in zip(needed(search.found, planner.standard), evidence, strict=True)
        if raw is not None
    }
    result = planner.conclude(task, search, known, incomplete).through(exchange, puzzle_task)
    answer = answer_to_wire(result, failure.analyse(result))
    return {**answer, "log": put(result.log.to_bytes())}


def _on_ground(
    planner: ParallelPlanner, phase: PhaseResult, task: ArcTask, exchange: FittedView | None
) -> GroundRecord:
    """Return the task on another background, if it is to be searched there too."""
    view = planner.ground(task, exchange, Found(phase.candidates, ()))
    if view is None:
        return {"ground": None, "ground_ways": [], "is_coloured": False}
    viewed_task = view.of(task)
    return {
        "ground": put(as_it_is(viewed_task)),
        "ground_ways": list(planner.ways(viewed_task)),
        "is_coloured": exchange is not None or is_coloured(task),
    }


def planner_of(options: Table) -> ParallelPlanner:
    """Return the planner for recorded options; asserts that the operators are those of the run."""
    record = from_json(OptionsRecord, options)
    assert record.operators == fingerprint(), "the operators are not those of the run"
    language = _language(record.bank)
    own = Options(language, record.budget, record.prune, record.seed, record.without)
    standard = Standard(
        record.needed_permille, record.margin_millibits, record.budget.max_millibits, record.without
    )
    return ParallelPlanner(own, record.slices, standard)


def on_ground(options: Table, is_coloured: bool) -> Table:
    """Return the options for a task on a black background; see `ParallelPlanner.on_ground`."""
    return _with(options, planner_of(options).on_ground(is_coloured))


def on_omission(options: Table) -> Table:
    """Return the options for a task without a pair; see `ParallelPlanner.on_omission`."""
    return _with(options, planner_of(options).on_omission())


def _with(options: Table, planner: ParallelPlanner) -> Table:
    """Return recorded options with the budget and the parts of another planner."""
    own = planner.options
    record = from_json(OptionsRecord, options)
    return to_json(replace(record, budget=own.budget, without=tuple(own.without)))


@lru_cache(maxsize=2)
def _language(bank: Bank | None) -> Language:
    return Language(bank.entries() if bank is not None else ())


@lru_cache(maxsize=2)
def _problem(puzzle: bytes) -> EncodedTask:
    """Return the encoded task; cached, so that a worker's parts of one puzzle share it."""
    return EncodedTask(searched_task(puzzle))


@lru_cache(maxsize=2)
def _sample(data: bytes) -> VectorSample:
    return unpack(data)


def _lookups() -> tuple[int, int]:
    return _cache.hits, _cache.misses


def _recorded(phase: PhaseResult, before: tuple[int, int]) -> PhaseRecord:
    """Return the record of a phase; telemetry goes to the manifest, never to the ledger."""
    note(
        **to_json(phase.counts),
        vectors=phase.states,
        states=phase.counts.programs * phase.examples,
        cache_hits=_cache.hits - before[0],
        cache_misses=_cache.misses - before[1],
        cache_bytes=_cache.size_bytes,
    )
    return {**phase_to_wire(phase), "log": put(phase.log.to_bytes())}

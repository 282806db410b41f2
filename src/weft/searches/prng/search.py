"""`weft prng analyse` on the engine: plan, attack in waves, score candidates, conclude.

    plan ──► wave 0: the beginnings of all attacks ──► candidates? ──► score ──► conclude
                 │ none                                                        ▲
                 ▼                                                             │
             wave 1 … (costs more) ──► none at all ──► detectors ──────────────┘

Every range of work is a task; a wave stops early at the first range, in task order, that found a
hypothesis beyond chance. All numbers are integers, so the ledger is the same on every machine,
with CPU or GPU. Tasks take and return recorded forms; modules exchange dataclasses.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from weft import INPUTS, device, get, note, search, task
from weft.model.codec import Table, from_json, to_json
from weft.model.plan import Plan
from weft.model.results import Result
from weft.model.tasks import TaskCall, Unknown, make_round
from weft.model.values import Object
from weft.searches.prng import planning, verdict
from weft.searches.prng.answer import ScoredCandidate, StreamCandidate
from weft.searches.prng.attack import Case, Gap, HypothesisMatch, Units, best
from weft.searches.prng.attacks import attack_named
from weft.searches.prng.attacks.detectors import Detection, detect
from weft.searches.prng.generate import generate
from weft.searches.prng.history import History
from weft.searches.prng.planning import PlanLimits, Range, StreamPlan
from weft.searches.prng.request import AnalyseRequest
from weft.searches.prng.rounds import Rounds
from weft.searches.prng.scoring import ValueFrequencies, is_periodic
from weft.searches.prng.statistics import corrected_at

VERSION = 18
"""Incremented whenever plans or verdicts change."""
NAME = "prng.analyse"
STRONG = 9000
"""Evidence at which a wave stops early: one in 10^9 after correction."""


@dataclass(frozen=True, slots=True)
class Plans:
    """The result of `make_plan`."""

    plans: tuple[StreamPlan, ...]
    gaps: tuple[Gap, ...]


@task(name="prng.plan")
def make_plan(history: Object, settings: Table) -> Table:
    """Return what will be covered, in which order, and what will not."""
    plans, gaps = planning.make_plans(_history(history), from_json(AnalyseRequest, settings))
    return to_json(Plans(tuple(plans), tuple(gaps)))


@task(name="prng.cover")
def cover(history: Object, settings: Table, planned: Table, lo: int, hi: int, plans: int) -> Table:
    """Cover one range of one plan; `strong` is set if a candidate is beyond chance."""
    request, stream_plan = from_json(AnalyseRequest, settings), from_json(StreamPlan, planned)
    case = request.case(_history(history).streams()[stream_plan.stream])
    candidates, strong = attacked(case, stream_plan, Units(lo, hi, device()), plans)
    note(units=hi - lo)
    return {
        "covered": [lo, hi],
        "found": [to_json(candidate) for candidate in candidates],
        "strong": strong,
    }


def attacked(
    case: Case, planned: StreamPlan, units: Units, plans: int
) -> tuple[list[StreamCandidate], bool]:
    """Cover units of one of `plans` plans; return the candidates and whether one is strong."""
    plan, tried = planned.plan, planned.plan.tried * plans
    matches = best(attack_named(plan.attack).run(case, plan, units))
    predicted = [(match, generate(match.hypothesis, match.compared)) for match in matches]
    aperiodic = [(match, draws) for match, draws in predicted if not is_periodic(draws)]
    strong = any(_evidence(match, draws, case, tried) >= STRONG for match, draws in aperiodic)
    return [_on_stream(planned.stream, match, tried) for match, _ in aperiodic], strong


@task(name="prng.score")
def score(history: Object, settings: Table, found: list[Table]) -> list[Table]:
    """Score every candidate on all draws, including the holdout; return them best first."""
    request, streams = from_json(AnalyseRequest, settings), _history(history).streams()
    candidates = [from_json(StreamCandidate, raw) for raw in found]
    return [to_json(scored) for scored in verdict.score_all(candidates, streams, request)]


@task(name="prng.detect")
def look_for_structure(history: Object, settings: Table) -> list[Table]:
    """Run the detectors that need no generator."""
    case = from_json(AnalyseRequest, settings).case(_history(history).draws)
    return [to_json(detection) for detection in detect(case)]


@search(name="prng.analyse", version=VERSION)
def analyse(settings: Table, *, inputs: Mapping[str, Object] = INPUTS) -> Rounds[Table | Unknown]:
    """Find the generator behind the draws; Unknown if there is no signal."""
    history, request = inputs["history"], from_json(AnalyseRequest, settings)
    [planned] = yield [make_plan(history, settings)]
    todo = from_json(Plans, planned.value)
    ranked, covered = yield from _attack(history, request, todo.plans)
    hints: list[Detection] = []
    if not verdict.is_confirmed(ranked, request):
        [structure] = yield [look_for_structure(history, settings)]
        hints = [from_json(Detection, raw) for raw in structure.value]
    answer = verdict.conclude(request, todo.plans, covered, todo.gaps, ranked, hints)
    return to_json(answer) if answer.is_signal else Unknown("no-signal", to_json(answer))


def found_at_once(history: History, request: AnalyseRequest) -> ScoredCandidate | None:
    """Return a certain candidate of the uncompiled attacks, which run in this process; else None.

    They take milliseconds and are the first wave of every analysis, so a run reaches the same
    conclusion.
    """
    plans, _ = planning.make_plans(history, request)
    streams, candidates = history.streams(), list[StreamCandidate]()
    for number, lo, hi in planning.uncompiled_ranges(plans):
        planned = plans[number]
        case = request.case(streams[planned.stream])
        matches, strong = attacked(case, planned, Units(lo, hi), len(plans))
        candidates += matches
        if strong:
            break
    ranked = verdict.score_all(candidates, streams, request, described=1)
    return ranked[0] if verdict.is_certain(ranked, request) else None


def _attack(
    history: Object, request: AnalyseRequest, plans: Sequence[StreamPlan]
) -> Rounds[tuple[list[ScoredCandidate], list[Range]]]:
    """Execute the waves until one has found the generator.

    Returns the candidates, best first, and the ranges that were covered. A candidate that is
    beyond chance in training but not confirmed by the holdout does not end the search. After one
    that explains only part of the draws, the search continues with its family only.
    """
    settings = to_json(request)
    records = [to_json(plan) for plan in plans]
    ranked: list[ScoredCandidate] = []
    covered: list[Range] = []
    waves = planning.waves(plans, PlanLimits.of(request))
    yield _expected(plans, waves, covered)
    for wave in waves:
        pending = _worth_trying(wave, plans, ranked, request)
        while pending:
            calls = [
                cover(history, settings, records[n], lo, hi, len(plans)) for n, lo, hi in pending
            ]
            results = yield make_round(calls, until=_is_strong)
            covered += pending[: len(results)]
            pending = pending[len(results) :]
            yield _expected(plans, waves, covered)
            if any(result.value["found"] for result in results):
                [scored] = yield [_score_call(history, request, ranked, results)]
                ranked = [from_json(ScoredCandidate, raw) for raw in scored.value]
            if verdict.is_certain(ranked, request):
                return ranked, covered
            pending = _worth_trying(pending, plans, ranked, request)
    return ranked, covered


def _worth_trying(
    ranges: Sequence[Range],
    plans: Sequence[StreamPlan],
    ranked: Sequence[ScoredCandidate],
    request: AnalyseRequest,
) -> list[Range]:
    """Return all ranges or, once a candidate is confirmed, those of its family."""
    if not verdict.is_confirmed(ranked, request):
        return list(ranges)
    family = ranked[0].hypothesis.family
    return [item for item in ranges if any(family == name for name, _ in plans[item[0]].plan.calls)]


def _expected(
    plans: Sequence[StreamPlan], waves: Sequence[Sequence[Range]], covered: Sequence[Range]
) -> Plan:
    """Return the expected work, with a note on the calls whose ranges are all covered."""
    searched = set(covered)
    ranges = [item for wave in waves for item in wave]
    remaining = [item for item in ranges if item not in searched]
    calls = {call for number, _, _ in ranges for call in plans[number].plan.calls}
    pending = {call for number, _, _ in remaining for call in plans[number].plan.calls}
    minutes = -(-planning.cost_ms(plans, remaining) // 60_000)
    excluded = f"{len(calls) - len(pending)} of {len(calls)} calls excluded"
    note = f"{excluded}; at most {minutes:,} min of one core left"
    return Plan(total=len(ranges) + 2, unit="ranges", note=note)


def _score_call(
    history: Object,
    request: AnalyseRequest,
    ranked: Sequence[ScoredCandidate],
    results: Sequence[Result],
) -> TaskCall:
    """Score the candidates in these results together with those scored before."""
    earlier = [to_json(scored) for scored in ranked]
    recent = [raw for result in results for raw in result.value["found"]]
    return score(history, to_json(request), [*earlier, *recent])


def _is_strong(result: Result) -> bool:
    return bool(result.ok and result.value["strong"])


def _on_stream(stream: str, candidate: HypothesisMatch, tried: int) -> StreamCandidate:
    """Return the candidate on its stream; choices of varying skips are left to the score."""
    skips = candidate.hypothesis.skips
    tried //= skips.choices ** len(skips.listed)
    return StreamCandidate(stream, candidate.hypothesis, tried)


def _evidence(match: HypothesisMatch, predicted: Sequence[int], case: Case, tried: int) -> int:
    """Return the training evidence of a match, relative to draws with the same frequencies."""
    null = ValueFrequencies.of(case.draws, case.modulus)
    chance = null.chance_of(predicted, case.draws[: match.compared])
    return corrected_at(match.hits, match.compared, chance, tried)


@lru_cache(maxsize=2)
def _history(reference: Object) -> History:
    """Read the draws, cached since the tasks of a run all read the same ones."""
    return History.from_canonical(get(reference))

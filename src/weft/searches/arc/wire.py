"""Values passed between the tasks of one puzzle's search, as JSON: `…_to_wire` and its inverse.

Programs and logs are passed as objects, since most of them remain unused.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache

from weft import get, put
from weft.model.codec import to_json
from weft.model.values import canonical
from weft.searches.arc.assessment import Found, Standard, needed
from weft.searches.arc.failure import Failure
from weft.searches.arc.normal.ground import as_it_is, searched_task
from weft.searches.arc.normal.registry import FittedView
from weft.searches.arc.program import parse
from weft.searches.arc.records import (
    AnswerRecord,
    AssembledRecord,
    CandidateRecord,
    GroupRecord,
    LearnedRecord,
    NearestRecord,
    OmissionRecord,
    PhaseRecord,
)
from weft.searches.arc.synthesis.learnlists import Beginning
from weft.searches.arc.synthesis.log import SearchLog
from weft.searches.arc.synthesis.omission import Omission
from weft.searches.arc.synthesis.phases import Nearest, PhaseResult
from weft.searches.arc.synthesis.planner import AssembledSearch, ParallelSearchResult
from weft.searches.arc.synthesis.space import ProgramCandidate, SearchCounts
from weft.searches.arc.verdict import Group


def learned_to_wire(
    candidates: Sequence[ProgramCandidate], beginnings: Sequence[Beginning] = ()
) -> LearnedRecord:
    """Return the record of a part; programs are passed as an object, as most remain unused."""
    wire = [_candidate_to_wire(candidate) for candidate in candidates]
    return {
        "found": put(canonical(wire).encode()) if wire else None,
        "is_validated": any(candidate.loo_passed for candidate in candidates),
        "beginnings": [to_json(beginning) for beginning in beginnings],
    }


def learned_from_wire(raw: LearnedRecord) -> list[ProgramCandidate]:
    """Return the programs that a part of rule learning found."""
    stored = raw["found"]
    items = [] if stored is None else json.loads(get(stored))
    return [_candidate_from_wire(item) for item in items]


def omission_to_wire(omission: Omission) -> OmissionRecord:
    """Return the record of an omission."""
    view = omission.view
    return {
        "puzzle": put(as_it_is(omission.task)),
        "pair": omission.pair,
        "view": None if view is None else [view.name, view.parameters],
    }


def omission_from_wire(raw: OmissionRecord) -> Omission:
    """Return the omission that a record stands for."""
    view = None if raw["view"] is None else FittedView(*raw["view"])
    return Omission(searched_task(get(raw["puzzle"])), raw["pair"], view)


@lru_cache(maxsize=2)
def found_from_wire(data: bytes) -> Found:
    """Return the programs that a search found, from the object of an assembled search."""
    candidates, guesses = (
        tuple(_candidate_from_wire(raw) for raw in part) for part in json.loads(data)
    )
    return Found(candidates, guesses)


def phase_to_wire(phase: PhaseResult) -> PhaseRecord:
    """Return a phase's result without its log and table, which are passed as objects."""
    return {
        "candidates": [_candidate_to_wire(candidate) for candidate in phase.candidates],
        "guesses": [_candidate_to_wire(candidate) for candidate in phase.guesses],
        "nearest": _nearest_to_wire(phase.nearest),
        "programs": phase.counts.programs,
        "exhausted": phase.exhausted,
        "states": phase.states,
        "examples": phase.examples,
        "views": [[view.name, view.parameters] for view in phase.views],
    }


def phase_from_wire(raw: PhaseRecord, log: SearchLog) -> PhaseResult:
    """Undo `phase_to_wire`; `log` is passed separately."""
    near = raw["nearest"]
    return PhaseResult(
        tuple(_candidate_from_wire(item) for item in raw["candidates"]),
        tuple(_candidate_from_wire(item) for item in raw["guesses"]),
        Nearest(parse(near["program"]), near["shape_loss"], near["cell_loss"]),
        SearchCounts(programs=raw["programs"]),
        log,
        raw["exhausted"],
        raw["states"],
        raw["examples"],
        views=tuple(FittedView(*view) for view in raw["views"]),
    )


def assembled_to_wire(assembled: AssembledSearch, standard: Standard) -> AssembledRecord:
    """Return the record of an assembled search; its programs and log are passed as objects."""
    groups = [
        [_candidate_to_wire(candidate) for candidate in candidates]
        for candidates in (assembled.found.candidates, assembled.found.guesses)
    ]
    return {
        "found": put(canonical(groups).encode()),
        "nearest": _nearest_to_wire(assembled.nearest),
        "exhausted": assembled.exhausted,
        "programs": assembled.programs,
        "log": put(assembled.log.to_bytes()),
        "examinations": len(needed(assembled.found, standard)),
        "is_explained": assembled.found.is_explained,
        "is_empty": not (assembled.found.candidates or assembled.found.guesses),
    }


def assembled_from_wire(raw: AssembledRecord) -> AssembledSearch:
    """Undo `assembled_to_wire`."""
    near = raw["nearest"]
    return AssembledSearch(
        found_from_wire(get(raw["found"])),
        Nearest(parse(near["program"]), near["shape_loss"], near["cell_loss"]),
        raw["exhausted"],
        raw["programs"],
        SearchLog.from_bytes(get(raw["log"])),
    )


def answer_to_wire(result: ParallelSearchResult, failure: Failure | None) -> AnswerRecord:
    """Return a lane's answer: the outcome, its evidence, and the nearest program."""
    weighing = result.verdict.weighing
    return {
        "outcome": result.verdict.outcome.value,
        "confidence_permille": result.verdict.confidence_permille,
        "groups": [_group_to_wire(group) for group in result.verdict.groups],
        "weighing": None if weighing is None else to_json(weighing),
        "nearest": _nearest_to_wire(result.nearest),
        "failure": None if failure is None else {"class": failure.kind.value, "why": failure.why},
        "programs": result.programs,
        "exhausted": result.exhausted,
    }


def _candidate_to_wire(candidate: ProgramCandidate) -> CandidateRecord:
    return {
        "program": candidate.program.text(),
        "millibits": candidate.millibits,
        "outputs": candidate.outputs.hex(),
        "time": candidate.time,
        "loo_passed": candidate.loo_passed,
    }


def _candidate_from_wire(raw: CandidateRecord) -> ProgramCandidate:
    outputs = bytes.fromhex(raw["outputs"])
    return ProgramCandidate(
        parse(raw["program"]), raw["millibits"], outputs, raw["time"], raw["loo_passed"]
    )


def _nearest_to_wire(nearest: Nearest) -> NearestRecord:
    return {
        "program": nearest.program.text(),
        "shape_loss": nearest.shape_loss,
        "cell_loss": nearest.cell_loss,
    }


def _group_to_wire(group: Group) -> GroupRecord:
    return {
        "outputs": [grid.rows() for grid in group.outputs],
        "programs": [program.text() for program in group.programs],
        "millibits": group.millibits,
        "size": group.size,
        "shortest_millibits": group.shortest_millibits,
        "evidence": None if group.evidence is None else group.evidence.to_dict(),
    }

"""What travels between the tasks of a search, as JSON values: writers and their inverses."""

from __future__ import annotations

from weft.model.codec import to_json
from weft.searches.arc.failure import Failure
from weft.searches.arc.normal.registry import FittedView
from weft.searches.arc.program import parse
from weft.searches.arc.records import (
    AnswerRecord,
    CandidateRecord,
    GroupRecord,
    NearestRecord,
    PhaseRecord,
)
from weft.searches.arc.synthesis.log import SearchLog
from weft.searches.arc.synthesis.phases import Nearest, PhaseResult
from weft.searches.arc.synthesis.planner import ParallelSearchResult
from weft.searches.arc.synthesis.space import ProgramCandidate, SearchCounts
from weft.searches.arc.verdict import Group


def phase_to_wire(phase: PhaseResult) -> PhaseRecord:
    """What a phase found, without its log and table, which travel as objects."""
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
    """Read what `phase_to_wire` wrote."""
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


def answer_to_wire(result: ParallelSearchResult, failure: Failure | None) -> AnswerRecord:
    """A lane's answer: the outcome, its evidence, and what came nearest."""
    weighing = result.verdict.weighing
    return {
        "outcome": result.verdict.outcome.value,
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

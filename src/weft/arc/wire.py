"""What travels between the tasks of a search, as JSON values: pairs of functions with a law."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.arc.failure import Failure
from weft.arc.normal.registry import Chosen
from weft.arc.program import parse
from weft.arc.search.log import SearchLog
from weft.arc.search.phases import Nearest, PhaseResult
from weft.arc.search.planner import ParallelSearchResult
from weft.arc.search.space import Candidate, Counts
from weft.arc.verdict import Group


def phase_to_wire(phase: PhaseResult) -> dict[str, Any]:
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


def phase_from_wire(raw: Mapping[str, Any], log: SearchLog) -> PhaseResult:
    """Read what `phase_to_wire` wrote."""
    return PhaseResult(
        tuple(_candidate_from_wire(item) for item in raw["candidates"]),
        tuple(_candidate_from_wire(item) for item in raw["guesses"]),
        _nearest_from_wire(raw["nearest"]),
        Counts(programs=raw["programs"]),
        log,
        raw["exhausted"],
        raw["states"],
        raw["examples"],
        views=tuple(Chosen(*view) for view in raw["views"]),
    )


def answer_to_wire(result: ParallelSearchResult, failure: Failure | None) -> dict[str, Any]:
    """A lane's answer: the outcome, its evidence, and what came nearest."""
    weighing = result.verdict.weighing
    return {
        "outcome": result.verdict.outcome.value,
        "groups": [_group_to_wire(group) for group in result.verdict.groups],
        "weighing": None if weighing is None else weighing.to_dict(),
        "nearest": _nearest_to_wire(result.nearest),
        "failure": None if failure is None else {"class": failure.kind.value, "why": failure.why},
        "programs": result.programs,
        "exhausted": result.exhausted,
    }


def _candidate_to_wire(candidate: Candidate) -> dict[str, Any]:
    return {
        "program": candidate.program.text(),
        "millibits": candidate.millibits,
        "outputs": candidate.outputs.hex(),
        "time": candidate.time,
        "foretold": candidate.foretold,
    }


def _candidate_from_wire(raw: Mapping[str, Any]) -> Candidate:
    outputs = bytes.fromhex(raw["outputs"])
    return Candidate(parse(raw["program"]), raw["millibits"], outputs, raw["time"], raw["foretold"])


def _nearest_to_wire(nearest: Nearest) -> dict[str, Any]:
    return {
        "program": nearest.program.text(),
        "shape_loss": nearest.shape_loss,
        "cell_loss": nearest.cell_loss,
    }


def _nearest_from_wire(raw: Mapping[str, Any]) -> Nearest:
    return Nearest(parse(raw["program"]), raw["shape_loss"], raw["cell_loss"])


def _group_to_wire(group: Group) -> dict[str, Any]:
    return {
        "outputs": [grid.rows() for grid in group.outputs],
        "programs": [program.text() for program in group.programs],
        "millibits": group.millibits,
        "size": group.size,
        "shortest_millibits": group.shortest_millibits,
        "evidence": None if group.evidence is None else group.evidence.to_dict(),
    }

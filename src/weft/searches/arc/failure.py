"""Why a task was not solved: a class, and the reason as a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from weft.searches.arc.synthesis.planner import ParallelSearchResult
from weft.searches.arc.verdict import Outcome

LATE = 3
"""A search that improved in its last 1/`LATE` might have improved further."""


class FailureKind(StrEnum):
    """Classes of failure."""

    MISSING_OPERATOR = "MISSING_OPERATOR"
    SEARCH_BUDGET = "SEARCH_BUDGET"
    AMBIGUOUS = "AMBIGUOUS"
    UNSURE = "UNSURE"
    SIZE_UNKNOWN = "SIZE_UNKNOWN"
    INCOMPLETE = "INCOMPLETE"


@dataclass(frozen=True, slots=True)
class Failure:
    """The class and why it applies."""

    kind: FailureKind
    why: str


def analyse(result: ParallelSearchResult) -> Failure | None:
    """Classify why there is no answer; return None if there is one."""
    outcome, near = result.verdict.outcome, result.nearest
    if outcome is Outcome.SOLVED:
        return None
    if outcome is Outcome.INCOMPLETE:
        return Failure(FailureKind.INCOMPLETE, "a part of the search failed")
    if outcome is Outcome.AMBIGUOUS:
        n = len(result.verdict.groups)
        return Failure(FailureKind.AMBIGUOUS, f"{n} explanations differ on the tests")
    if outcome is Outcome.UNSURE:
        return Failure(FailureKind.UNSURE, "a program is right on every pair, but not sure enough")
    if result.verdict.weighing is not None:
        kind = FailureKind.MISSING_OPERATOR if result.exhausted else FailureKind.SEARCH_BUDGET
        return Failure(kind, "a program is right on every pair, but too doubtful to be accepted")
    if near.shape_loss:
        why = f"no program found the size of {near.shape_loss} training outputs"
        return Failure(FailureKind.SIZE_UNKNOWN, why)
    reason = f"the nearest program leaves {near.cell_loss} cells wrong"
    if result.exhausted:
        return Failure(FailureKind.MISSING_OPERATOR, f"{reason}, and every program was tried")
    if _came_nearer_late(result):
        return Failure(FailureKind.SEARCH_BUDGET, f"{reason}, and it was found late")
    return Failure(FailureKind.MISSING_OPERATOR, f"{reason}, and it was found early")


def _came_nearer_late(result: ParallelSearchResult) -> bool:
    ends = {event.slice: event.time for event in result.log.events if event.kind == "end"}
    best = [event for event in result.log.events if event.kind == "best"]
    last = best[-1]
    return last.time * LATE >= ends[last.slice] * (LATE - 1)

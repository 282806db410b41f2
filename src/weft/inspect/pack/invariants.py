"""The invariants that a pack reports, each with how it was checked. An unchecked one is never true.

`holds` is True, False, or None if this pack did not check it; `how` then states the reason.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.inspect.pack.request import RecordedRequest
from weft.inspect.report.overview import Badge, Overview
from weft.inspect.report.text import counted
from weft.inspect.verify import Verdict


@dataclass(frozen=True, slots=True)
class Invariant:
    """One property of the run."""

    name: str
    holds: bool | None
    how: str


@dataclass(frozen=True, slots=True)
class RunEvidence:
    """The facts about a run from which its invariants are judged."""

    overview: Overview
    verdict: Verdict | None
    badge: Badge
    request: RecordedRequest | None
    commands: int
    """Number of tasks that were external commands."""
    replayed: bool | None
    """Whether running every function task again gave the same ledger; None if not tried."""
    run: str


def judge_invariants(evidence: RunEvidence) -> tuple[Invariant, ...]:
    """Judge each invariant."""
    return (
        Invariant("ledger verified", evidence.verdict is not None, evidence.badge.reason),
        _outside(evidence),
        _deterministic(evidence),
        _fail_closed(evidence),
        _budgets(evidence),
    )


def _outside(evidence: RunEvidence) -> Invariant:
    name, verdict = "head known outside the run", evidence.verdict
    if verdict is None:
        return Invariant(name, None, "not judged: the run is not verified")
    if verdict.outside == "no outside head":
        how = (
            "no head is stored outside the run:"
            " a rewritten ledger could not be distinguished from this one"
        )
        return Invariant(name, None, how)
    return Invariant(name, True, verdict.outside)


def _deterministic(evidence: RunEvidence) -> Invariant:
    name, run = "deterministic", evidence.run
    if evidence.overview.timing_dependent:
        how = "the ledger contains a timeout, an out-of-memory failure or a dead worker"
        return Invariant(name, False, how)
    note = ""
    if evidence.commands:
        note = f"; {counted(evidence.commands, 'external command')} answered from the record"
    if evidence.replayed is None:
        return Invariant(name, None, f"not run again here; weft replay {run} does it{note}")
    result = "the same ledger, byte for byte" if evidence.replayed else "another ledger"
    return Invariant(name, evidence.replayed, f"every function task run again gave {result}{note}")


def _fail_closed(evidence: RunEvidence) -> Invariant:
    name, verdict, overview = "fail closed", evidence.verdict, evidence.overview
    if verdict is None:
        return Invariant(name, None, "not judged: the run is not verified")
    failed = counted(verdict.failed, "failed task")
    if not verdict.failed:
        return Invariant(name, True, "no task failed for good")
    if overview.answered == "unknown":
        return Invariant(name, True, f"{failed} recorded, and the answer is UNKNOWN")
    if evidence.request is not None and evidence.request.strict and overview.answered == "answered":
        return Invariant(name, False, f"{failed} recorded in a strict run that answered")
    how = f"{failed} recorded; using one's value would have made its lane's answer UNKNOWN"
    return Invariant(name, True, how)


def _budgets(evidence: RunEvidence) -> Invariant:
    name, request = "budgets explicit", evidence.request
    if request is None:
        return Invariant(name, None, "the genesis cannot be read")
    limits = [f"{budget} = {count:,}" for budget, count in sorted(request.budget.items())]
    if request.timeout_s is not None:
        limits.append(f"{request.timeout_s:g} s for one attempt")
    if limits:
        return Invariant(name, True, f"bound in the genesis: {', '.join(limits)}")
    how = "no budget beyond the arguments; a wall-clock limit only interrupts"
    return Invariant(name, True, how)

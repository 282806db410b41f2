"""What a pack vouches for, each with how it was checked. Nothing unchecked is called true.

`holds` is True, False, or None where this pack did not check it; `how` says what to do then.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.inspect.pack.asked import Asked
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
class Checked:
    """What was found out about a run, for judging its invariants."""

    overview: Overview
    verdict: Verdict | None
    badge: Badge
    asked: Asked | None
    commands: int
    """Tasks that were external commands."""
    replayed: bool | None
    """Whether running every function task again gave the same ledger; None if not tried."""
    run: str


def judge_invariants(checked: Checked) -> tuple[Invariant, ...]:
    """Say of each invariant whether it holds."""
    return (
        Invariant("ledger verified", checked.verdict is not None, checked.badge.reason),
        _outside(checked),
        _deterministic(checked),
        _fail_closed(checked),
        _budgets(checked),
    )


def _outside(checked: Checked) -> Invariant:
    name, verdict = "head known outside the run", checked.verdict
    if verdict is None:
        return Invariant(name, None, "not judged: the run is not verified")
    if verdict.outside == "no outside head":
        how = "no head is noted outside: a rewritten ledger could not be told from this one"
        return Invariant(name, None, how)
    return Invariant(name, True, verdict.outside)


def _deterministic(checked: Checked) -> Invariant:
    name, run = "deterministic", checked.run
    if checked.overview.timing_dependent:
        how = "the ledger holds a time-out, an out-of-memory or a dead worker"
        return Invariant(name, False, how)
    noted = ""
    if checked.commands:
        noted = f"; {counted(checked.commands, 'external command')} answered from the record"
    if checked.replayed is None:
        return Invariant(name, None, f"not run again here; weft replay {run} does it{noted}")
    said = "the same ledger, byte for byte" if checked.replayed else "another ledger"
    return Invariant(name, checked.replayed, f"every function task run again gave {said}{noted}")


def _fail_closed(checked: Checked) -> Invariant:
    name, verdict, overview = "fail closed", checked.verdict, checked.overview
    if verdict is None:
        return Invariant(name, None, "not judged: the run is not verified")
    failed = counted(verdict.failed, "failed task")
    if not verdict.failed:
        return Invariant(name, True, "no task failed for good")
    if overview.answered == "unknown":
        return Invariant(name, True, f"{failed} recorded, and the answer is UNKNOWN")
    if checked.asked is not None and checked.asked.strict and overview.answered == "answered":
        return Invariant(name, False, f"{failed} recorded in a strict run that answered")
    how = f"{failed} recorded; using one's value would have made its lane's answer UNKNOWN"
    return Invariant(name, True, how)


def _budgets(checked: Checked) -> Invariant:
    name, asked = "budgets explicit", checked.asked
    if asked is None:
        return Invariant(name, None, "the genesis cannot be read")
    limits = [f"{budget} = {count:,}" for budget, count in sorted(asked.budget.items())]
    if asked.timeout_s is not None:
        limits.append(f"{asked.timeout_s:g} s for one attempt")
    if limits:
        return Invariant(name, True, f"bound in the genesis: {', '.join(limits)}")
    how = "no budget beyond the arguments; a wall-clock limit only interrupts"
    return Invariant(name, True, how)

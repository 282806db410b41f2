"""F24: the coordinator is stopped (SIGSTOP) for longer than any limit of its tasks, then continued.

A sleeping laptop or a debugger has the same effect. Tasks that ended in time meanwhile are not
charged, nothing runs twice, and the ledger is that of a run that was never stopped.
"""

from __future__ import annotations

import signal
import time
from pathlib import Path

import pytest

from tests.faults.case import HERE, Case, Search
from tests.support.checker import Reference, check_finished, open_copy
from tests.support.figures import print_figures
from tests.support.waiting import wait_until

LIMITS = Search("limits", f"{HERE / 'strikers.py'}:short_limits", {"width": 8, "work_ms": 300})
STOPPED_S = 2.5
"""Longer than the time limit of one second."""
WATCHED_S = 0.15
"""Time within which the coordinator has noted a task's start and enforces its limit."""


@pytest.mark.parametrize("stops", [1, pytest.param(20, marks=pytest.mark.slow)])
def test_stopped_coordinator_charges_no_task(stops: int, tmp_path: Path) -> None:
    plain = Case(tmp_path / "plain", LIMITS)
    assert plain.run().returncode == 0
    reference, violations = Reference.of(plain.out), []
    for number in range(stops):
        case = Case(tmp_path / str(number), LIMITS, workers=1 + number % 3)
        complaints = stop_and_go_on(case, reference, after=1 + number % 6)
        violations += [f"stop {number}: {text}" for text in complaints]
    print_figures("F24", stops=stops, violations=len(violations))
    assert violations == []


def stop_and_go_on(case: Case, reference: Reference, after: int) -> list[str]:
    """Stop the coordinator while it watches the n-th execution; name each violation afterwards."""
    with case.start() as process:
        wait_until(lambda: case.count_executed() >= after, "executions")
        time.sleep(WATCHED_S)
        process.send_signal(signal.SIGSTOP)
        time.sleep(STOPPED_S)
        process.send_signal(signal.SIGCONT)
        ended = case.end_of(process)
    if ended.returncode != 0:
        return [f"exit {ended.returncode}: {ended.stderr.strip()}"]
    executed = case.executed()
    violations = [*check_finished(case.place, reference), *case.leftovers()]
    if len(executed) != len(set(executed)):
        violations.append("a task ran twice")
    with open_copy(case.out) as db:
        violations += [
            f"an attempt was charged: {row}" for row in db.execute("SELECT * FROM attempts")
        ]
    return violations

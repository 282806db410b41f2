"""The check that runs a search: a worker starts, and the head is the same as on every machine."""

from __future__ import annotations

from pathlib import Path

from weft.demo.picture import picture
from weft.doctor.result import NOTE, OK, PROBLEM, CheckResult
from weft.errors import WeftError
from weft.inspect.report.view import RunView
from weft.model.tasks import Budget, SearchCall
from weft.runs import world
from weft.runs.decision import Decision
from weft.runs.execution import Execution
from weft.runs.run import checked_policy, execute, unnoted_place

KNOWN_HEAD = "b62b3f93b2e1ffb94913e292e3d2401bd03e261c88ad1ce7924c18468f34e17b"
"""Head of `trial()`, the same on every machine."""
SLOW_START_S = 2.0


def trial() -> SearchCall:
    """Return a search of four tasks whose head is known."""
    return picture(rounds=1, climbers=1)


def check_run(folder: Path, known_head: str = KNOWN_HEAD) -> CheckResult:
    """A worker starts, a small search runs, and its head is the known one."""
    decision = Decision(trial(), 0, {}, Budget({}), checked_policy(0, None, False))
    clock = world.RealClock()
    begin_s, start_s = clock.wall(), clock.monotonic()
    try:
        run = execute(decision, Execution(folder / "run", 1, "local"), {}, place=unnoted_place())
    except WeftError as error:
        return CheckResult("run", PROBLEM, error.message, error.hint or "see the message")
    total_s = clock.monotonic() - start_s
    first_task_s = max(0.0, _first_task_start(folder / "run") - begin_s)
    if run.head != known_head:
        detail = f"head {run.head[:16]}… instead of {known_head[:16]}…"
        return CheckResult(
            "run", PROBLEM, detail, "this installation makes different decisions: reinstall weft"
        )
    detail = f"first task after {first_task_s:.2f} s, finished after {total_s:.2f} s, head as known"
    if first_task_s > SLOW_START_S:
        return CheckResult(
            "run", NOTE, detail, "workers start slowly: a slow disk, or a busy machine"
        )
    return CheckResult("run", OK, detail)


def _first_task_start(run: Path) -> float:
    """Return when the first task was started, by the wall clock."""
    starts = [task.started_at for task in RunView(run, "").tasks()]
    return min(start_s for start_s in starts if start_s is not None)

"""F13: two coordinators start the same run at the same moment. One runs, one names the other."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
import time
from pathlib import Path

import pytest
from filelock import FileLock

from tests.faults.case import GATED, Case
from tests.support.checker import Reference, check_finished
from tests.support.figures import print_figures
from tests.support.waiting import wait_until
from weft.errors import RunFolderInvalid, RunLocked
from weft.storage.folder import RunFolder

LOCKED = 75


@pytest.mark.parametrize("races", [4, pytest.param(200, marks=pytest.mark.slow)])
def test_two_coordinators_at_once_exactly_one_runs_and_is_named(races: int, tmp_path: Path) -> None:
    plain = Case(tmp_path / "plain", GATED)
    (plain.folder / "gate").touch()
    assert plain.run().returncode == 0
    reference, start_s, violations = Reference.of(plain.out), time.monotonic(), []
    for number in range(races):
        complaints = race(tmp_path / str(number), reference, stale=number % 2 == 1)
        violations += [f"race {number}: {text}" for text in complaints]
    spent_s = round(time.monotonic() - start_s, 1)
    print_figures("F13", races=races, violations=len(violations), seconds=spent_s)
    assert violations == []


def race(folder: Path, reference: Reference, *, stale: bool) -> list[str]:
    """Let two start at once; with `stale`, in a folder whose last coordinator was killed."""
    case = Case(folder, GATED, workers=1, environment={"WEFT_FAULTS_SIGNAL": str(folder / "go")})
    if stale:
        leave_killed(case)
    executed_before = case.count_executed()
    with case.start() as first, case.start() as second:
        (folder / "go").touch()
        wait_until(lambda: first.poll() is not None or second.poll() is not None, "the loser")
        loser, winner = (first, second) if first.poll() is not None else (second, first)
        violations = check_loser(case, loser, winner.pid)
        (folder / "gate").touch()
        ended = case.end_of(winner)
    if ended.returncode != 0:
        return [*violations, f"the winner: exit {ended.returncode}: {ended.stderr.strip()}"]
    executed = case.executed()[executed_before:]
    if len(executed) != len(set(executed)):
        violations.append("a task ran twice")
    return [*violations, *check_finished(case.place, reference), *case.leftovers()]


def check_loser(case: Case, loser: subprocess.Popen[str], holder: int) -> list[str]:
    ended = case.end_of(loser)
    named = f"pid {holder} on {socket.gethostname()}"
    if ended.returncode == LOCKED and "RunLocked" in ended.stderr and named in ended.stderr:
        return []
    return [f"the loser should name {named}: exit {ended.returncode}: {ended.stderr.strip()}"]


def leave_killed(case: Case) -> None:
    """Kill a run whose task waits at the gate; the folder still names the killed coordinator."""
    (case.folder / "go").touch()
    with case.start() as process:
        wait_until(case.count_executed, "a task at the gate")
        process.kill()
        case.end_of(process)
    assert process.returncode == -9
    assert case.leftovers() == []
    os.unlink(case.folder / "go")  # noqa: PTH108


def test_holder_that_was_killed_is_not_named_in_place_of_the_one_just_starting(
    tmp_path: Path,
) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()
    owner = tmp_path / ".owner"
    owner.write_text(json.dumps({"pid": ended.pid, "host": "here"}))
    starting = {"pid": os.getpid(), "host": "here"}
    writes_its_name = threading.Timer(0.1, owner.write_text, [json.dumps(starting)])
    with FileLock(tmp_path / ".lock"):
        writes_its_name.start()
        with pytest.raises(RunLocked, match=f"pid {os.getpid()} on here"):
            RunFolder(tmp_path).locked("here").__enter__()
    writes_its_name.join()


def test_folder_that_becomes_a_run_while_it_is_looked_at_is_not_called_foreign(
    tmp_path: Path,
) -> None:
    (tmp_path / "manifest.sqlite").touch()
    with pytest.raises(RunFolderInvalid):
        RunFolder(tmp_path).check_free()
    (tmp_path / "run.toml").touch()
    RunFolder(tmp_path).check_free()

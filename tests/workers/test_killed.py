"""F6: workers are killed, from outside by the storm and by their own tasks."""

from __future__ import annotations

import contextlib
import json
import os
import random
import signal
import subprocess
import time
from collections import Counter
from pathlib import Path

import psutil
import pytest

from tests.faults.case import GATED, HERE, Case, Search
from tests.support.checker import Reference, check_executed, check_finished
from tests.support.waiting import wait_until
from tests.workers.lab import SEARCHES, Lab, attempts, print_figures, trials
from weft.coordinator.policy import LOSSES_BEFORE_FAILED

SEED = 606
TASKS_PER_KILL = 6


def strikers(name: str, **args: object) -> Search:
    return Search(name, f"{HERE / 'strikers.py'}:{name}", args)


@pytest.mark.parametrize("kills", [60, pytest.param(1000, marks=pytest.mark.slow)])
def test_workers_killed_from_outside_cost_no_task_anything(kills: int, tmp_path: Path) -> None:
    admitted = tmp_path / "admitted"
    storm = strikers("storm", rounds=kills // 2, width=2 * TASKS_PER_KILL, work_ms=4,
                     admitted=str(admitted))  # fmt: skip
    calm, case = Case(tmp_path / "calm", storm), Case(tmp_path / "storm", storm)
    admit(admitted, kills)
    assert calm.run().returncode == 0
    reference, start_s = Reference.of(calm.out), time.monotonic()
    admit(admitted, 0)
    with case.start() as process:
        hit = kill_workers(case, process, kills, admitted)
        ended = case.end_of(process)
    assert ended.returncode == 0, ended.stderr
    violations = [
        *check_finished(case.place, reference),
        *check_executed(case.out, case.executed()),
    ]
    violations += case.leftovers()
    ends = {(outcome, reason): count for outcome, reason, count in attempts(case.out)}
    lost_attempts = ends.pop(("requeued", "worker-killed-SIGKILL"), 0)
    spent_s = round(time.monotonic() - start_s, 1)
    print_figures("F6 storm", seed=SEED, kills=hit, tasks=ended.outcome["tasks"]["completed"],
                  attempts_lost=lost_attempts, charged=sum(ends.values()),
                  violations=len(violations), seconds=spent_s)  # fmt: skip
    assert violations == []
    assert hit == kills
    assert 0 < lost_attempts <= hit
    assert ends == {}


class Executions:
    """The last task begun by each worker, and each task's executions; read as the file grows."""

    def __init__(self, path: Path) -> None:
        self._path, self._read = path, 0
        self.begun: Counter[tuple[str, int, int]] = Counter()
        self.latest: dict[int, tuple[str, int, int]] = {}

    def total(self) -> int:
        if not self._path.exists():
            return 0
        with self._path.open("rb") as file:
            file.seek(self._read)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            *place, pid = json.loads(line)
            self.latest[pid] = tuple(place)
            self.begun[tuple(place)] += 1
        return self.begun.total()

    def may_be_hit(self, pid: int) -> bool:
        """Whether the worker may be killed: a task lost too often in a row fails, as it should."""
        return self.begun[self.latest.get(pid, ("", -1, -1))] < LOSSES_BEFORE_FAILED - 1


def admit(path: Path, kills: int) -> None:
    """Admit the tasks that belong to these kills, and all but one of those of the next kill.

    Thus the last task ends after the last kill, however fast the tasks are.
    """
    path.touch()
    os.truncate(path, TASKS_PER_KILL * (kills + 1) - 1)


def kill_workers(case: Case, coordinator: subprocess.Popen[str], kills: int, admitted: Path) -> int:
    """SIGKILL random workers, including starting ones, each time a few tasks have begun."""
    draw, hit, executions = random.Random(SEED), 0, Executions(case.executions)
    parent = psutil.Process(coordinator.pid)
    while hit < kills and coordinator.poll() is None:
        threshold = executions.total() + draw.randint(1, TASKS_PER_KILL // 2)
        wait_until(
            lambda n=threshold: executions.total() >= n or coordinator.poll() is not None, "tasks"
        )
        workers = sorted(
            child.pid for child in children(parent) if executions.may_be_hit(child.pid)
        )
        if workers:
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.kill(draw.choice(workers), signal.SIGKILL)
                hit += 1
                admit(admitted, hit)
    return hit


def children(parent: psutil.Process) -> list[psutil.Process]:
    try:
        living = parent.children()
        return [child for child in living if child.status() != psutil.STATUS_ZOMBIE]
    except psutil.NoSuchProcess:
        return []


@pytest.mark.parametrize(("kind", "exit_code"), [("kill", None), ("segv", 139), ("exit", 3)])
def test_task_that_ends_its_own_worker_fails_as_worker_died_and_alone(
    kind: str, exit_code: int | None, tmp_path: Path
) -> None:
    case = Case(tmp_path / "case", strikers("strike", kind=kind))
    outcome = case.run().outcome
    expected: list[object] = [i * i for i in range(10)]
    expected[4] = ["worker-died", exit_code]
    assert outcome["answer"] == expected
    assert outcome["tasks"] == {"completed": 9, "failed": 1}
    assert outcome["timing_dependent"] is True
    assert check_finished(case.place, Reference.of(case.out)) == []
    assert case.leftovers() == []


def test_crashing_task_fails_and_the_other_999_complete(lab: Lab) -> None:
    run = lab.run(trials.thousand(bad=500, size=1000), workers=2)
    print_figures("F6 crash", tasks=1000, completed=run.completed, failed=run.failed,
                  attempts=attempts(run.out))  # fmt: skip
    assert run.answer == [[500, "worker-died", 139]]
    assert (run.completed, run.failed, run.timing_dependent) == (999, 1, True)
    assert attempts(run.out) == [("failed", "worker-died", 1)]
    assert lab.leftovers() == []


@pytest.mark.parametrize(("workers", "stopped"), [(3, False), (1, True)], ids=["run", "stopped"])
def test_coordinator_killed_leaves_no_worker(workers: int, stopped: bool, tmp_path: Path) -> None:
    case = Case(tmp_path / "case", GATED, workers=workers)
    with case.start() as process:
        wait_until(case.count_executed, "a task at the gate")
        living = children(psutil.Process(process.pid))
        for worker in living if stopped else ():
            worker.suspend()
        process.kill()
        case.end_of(process)
    assert living
    assert case.leftovers() == []


def test_workers_killed_while_they_start_cost_no_task_anything(tmp_path: Path) -> None:
    search = Search("kept", f"{SEARCHES / 'trials.py'}:kept", {"size": 50})
    calm, case = Case(tmp_path / "calm", search), Case(tmp_path / "case", search)
    assert calm.run().returncode == 0
    kills = 0
    with case.start() as process:
        parent = psutil.Process(process.pid)
        while kills < 10 and process.poll() is None:
            for child in children(parent):
                with contextlib.suppress(psutil.NoSuchProcess):  # it has just ended
                    child.kill()
                    kills += 1
        ended = case.end_of(process)
    print_figures("F6 starts", kills=kills)
    assert ended.outcome["answer"] == sum(i**4 for i in range(50))
    assert Reference.of(case.out) == Reference.of(calm.out)
    assert kills >= 10
    assert case.leftovers() == []

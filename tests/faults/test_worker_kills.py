"""F6: workers are killed, from outside by the storm and by their own tasks."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import psutil
import pytest

from tests.faults.case import GATED, HERE, Case, Search, print_figures, wait_until
from tests.support.checker import Reference, check_executed, check_finished, open_copy

SEED = 606
TASKS_PER_KILL = 8


def strikers(name: str, **args: object) -> Search:
    return Search(name, f"{HERE / 'strikers.py'}:{name}", args)


@pytest.mark.parametrize("kills", [30, pytest.param(1000, marks=pytest.mark.slow)])
def test_workers_killed_from_outside_cost_no_task_anything(kills: int, tmp_path: Path) -> None:
    storm = strikers("storm", rounds=kills // 2, width=2 * TASKS_PER_KILL, work_ms=4)
    calm, case = Case(tmp_path / "calm", storm), Case(tmp_path / "storm", storm)
    assert calm.run().returncode == 0
    reference, start_s = Reference.of(calm.out), time.monotonic()
    with case.start() as process:
        hit = kill_workers(case, process, kills)
        ended = case.end_of(process)
    assert ended.returncode == 0, ended.stderr
    lost, other = attempts(case.out)
    found = [*check_finished(case.place, reference), *check_executed(case.out, case.executed())]
    found += case.leftovers()
    spent_s = round(time.monotonic() - start_s, 1)
    print_figures("F6 storm", seed=SEED, kills=hit, tasks=reference.size, attempts_lost=lost,
                  charged=other, violations=len(found), seconds=spent_s)  # fmt: skip
    assert found == []
    assert hit == kills
    assert 0 < lost <= hit
    assert other == 0


def kill_workers(case: Case, coordinator: subprocess.Popen[str], kills: int) -> int:
    """SIGKILL workers drawn at random, starting ones too, each time a few tasks have begun."""
    draw, hit = random.Random(SEED), 0
    parent = psutil.Process(coordinator.pid)
    while hit < kills and coordinator.poll() is None:
        wanted = case.count_executed() + draw.randint(1, TASKS_PER_KILL // 2)
        wait_until(
            lambda n=wanted: case.count_executed() >= n or coordinator.poll() is not None, "tasks"
        )
        workers = sorted(child.pid for child in children(parent))
        if workers:
            os.kill(draw.choice(workers), signal.SIGKILL)
            hit += 1
    return hit


def children(parent: psutil.Process) -> list[psutil.Process]:
    try:
        found = parent.children()
        return [child for child in found if child.status() != psutil.STATUS_ZOMBIE]
    except psutil.NoSuchProcess:
        return []


def attempts(run: Path) -> tuple[int, int]:
    """How many attempts were lost to a KILL from outside, and how many ended otherwise."""
    with open_copy(run) as db:
        rows = db.execute("SELECT outcome, reason, count(*) FROM attempts GROUP BY 1, 2").fetchall()
    lost = sum(n for outcome, reason, n in rows
               if (outcome, reason) == ("requeued", "worker-killed-SIGKILL"))  # fmt: skip
    return lost, sum(n for _, _, n in rows) - lost


@pytest.mark.parametrize(("kind", "exit_code"), [("kill", None), ("segv", 139), ("exit", 3)])
def test_task_that_ends_its_own_worker_fails_as_worker_died_and_alone(
    kind: str, exit_code: int | None, tmp_path: Path
) -> None:
    case = Case(tmp_path / "case", strikers("strike", kind=kind))
    outcome = case.run().outcome
    wanted: list[object] = [i * i for i in range(10)]
    wanted[4] = ["worker-died", exit_code]
    assert outcome["answer"] == wanted
    assert outcome["tasks"] == {"completed": 9, "failed": 1}
    assert outcome["timing_dependent"] is True
    assert check_finished(case.place, Reference.of(case.out)) == []
    assert case.leftovers() == []


@pytest.mark.parametrize(("workers", "stopped"), [(3, False), (1, True)], ids=["run", "stopped"])
def test_coordinator_killed_leaves_no_worker(workers: int, stopped: bool, tmp_path: Path) -> None:
    case = Case(tmp_path / "case", GATED, workers=workers)
    with case.start() as process:
        wait_until(case.count_executed, "a task at the gate")
        found = children(psutil.Process(process.pid))
        for worker in found if stopped else ():
            worker.suspend()
        process.kill()
        case.end_of(process)
    assert found
    assert case.leftovers() == []

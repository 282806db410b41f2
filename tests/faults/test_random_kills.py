"""The engine's example, killed for real at random moments, and run in every possible way, has one
ledger. A moment is drawn as a number of task executions, so that moments spread over the run.
"""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from tests.faults.case import LOOM, Case, resume_and_check
from tests.support.checker import Reference, TaskPlace, check_finished, open_copy
from tests.support.figures import print_figures
from tests.support.waiting import wait_until

KILLS_EACH = 2


@pytest.fixture(scope="module")
def reference(tmp_path_factory: pytest.TempPathFactory) -> Reference:
    case = Case(tmp_path_factory.mktemp("loom") / "case", LOOM)
    assert case.run().returncode == 0
    return Reference.of(case.out)


@pytest.mark.parametrize(
    ("seed", "runs"), [(909, 4), pytest.param(911, 100, marks=pytest.mark.slow)]
)
def test_loom_killed_at_random_moments_ends_with_the_same_ledger(
    seed: int, runs: int, reference: Reference, tmp_path: Path
) -> None:
    draw, start_s, violations, kills = random.Random(seed), time.monotonic(), [], 0
    for number in range(runs):
        case = Case(tmp_path / str(number), LOOM, workers=draw.choice((1, 2, 3)))
        for _ in range(KILLS_EACH):
            kills += kill_after(case, draw.randrange(reference.size // 3))
        complaints = resume_and_check(case, reference)
        violations += [f"run {number}: {text}" for text in complaints]
    spent_s = round(time.monotonic() - start_s, 1)
    print_figures("kill -9", seed=seed, kills=kills, violations=len(violations),
                  seconds=spent_s)  # fmt: skip
    assert violations == []
    assert kills >= runs  # a machine that stalls occasionally misses a moment


def kill_after(case: Case, executions: int) -> bool:
    """Run the case and kill it after this many more executions; return False if it ended before."""
    enough = case.count_executed() + executions
    with case.start() as process:
        wait_until(
            lambda: case.count_executed() >= enough or process.poll() is not None, "executions"
        )
        process.kill()
        case.end_of(process)
    assert case.leftovers() == []
    return process.returncode == -9


def test_loom_run_in_every_way_gives_one_ledger(
    reference: Reference, tmp_path: Path, chaos: bool
) -> None:
    ways = [("serial", 1), ("local", 1), ("local", 2), ("local", 3)]
    ledgers, orders = set(), set()
    for hash_seed in ("0", "1"):
        for backend, workers in ways if chaos else ways[int(hash_seed) :: 2]:
            case = Case(
                tmp_path / f"{hash_seed}-{backend}-{workers}", LOOM, workers=workers,
                backend=backend, environment={"PYTHONHASHSEED": hash_seed},
            )  # fmt: skip
            assert case.run().returncode == 0
            assert check_finished(case.place, reference) == []
            ledgers.add(Reference.of(case.out).ledger_sha256)
            orders.add(order_of_completion(case.out))
    print_figures(
        "same inputs", runs=len(list(tmp_path.iterdir())), ledgers=len(ledgers), orders=len(orders)
    )
    assert len(ledgers) == 1
    assert len(orders) > 1


def order_of_completion(run: Path) -> tuple[TaskPlace, ...]:
    with open_copy(run) as db:
        sql = "SELECT lane, round, idx FROM task_view WHERE state IN ('completed', 'failed')"
        return tuple(db.execute(f"{sql} ORDER BY finished_at, id").fetchall())

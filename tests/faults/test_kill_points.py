"""F1 and F2: SIGKILL of the coordinator at its state-changing system calls, then the same command.

`make test` kills at points spread over the run, `make chaos` at every point.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.faults.case import Case, resume_and_check
from tests.faults.conftest import Counted
from tests.faults.points import (
    WRITES,
    Point,
    count_points,
    has_new_name,
    kill_at,
    kill_on_path,
    sample,
)
from tests.support.checker import TaskPlace, check_not_doubled, check_not_lost
from tests.support.figures import Part, print_figures
from weft.storage.disk import Disk
from weft.storage.ledgerfile import read_checkpoint
from weft.storage.manifest import Manifest
from weft.storage.projection import Projection
from weft.storage.reconcile import reconcile

SEED = 20240
SAMPLED = 8
HALVES = 2
FIRST_KILLS = 6
FIRST_CALLS = 16
"""Calls of a recovery before the run continues: opening, truncating, appending."""
Choice = Callable[[list[Point]], list[Point]]
Killed = tuple[Case, Point]
Kill = Callable[[Path, Counted, Point], Killed]


@pytest.mark.parametrize("half", range(HALVES))
def test_coordinator_killed_at_sampled_calls_resumes_to_the_same_ledger(
    counted: Counted, half: int, tmp_path: Path
) -> None:
    kill_once_each(tmp_path, counted, sample(counted.points, SAMPLED, SEED)[half::HALVES])


def test_coordinator_killed_between_the_two_seals_of_a_finished_run_seals_it_again(
    counted: Counted, tmp_path: Path
) -> None:
    sealed = ("/ledger.jsonl", "/checkpoint")  # git, in `weft tree`, seals its own objects
    seals = [point for point in counted.points if point.call in ("chmod", "fchmod")
             and point.touched.endswith(sealed)]  # fmt: skip
    assert len(seals) == 2
    kill_once_each(tmp_path, counted, seals)


@pytest.mark.slow
def test_coordinator_killed_at_a_write_of_each_file_resumes_to_the_same_ledger(
    counted: Counted, tmp_path: Path
) -> None:
    last = {point.touched: point for point in counted.points if point.call in WRITES}
    kill_once_each(tmp_path, counted, list(last.values()), kill_on_file)


@pytest.mark.slow
def test_coordinator_killed_at_every_call_resumes_to_the_same_ledger(
    counted: Counted, tmp_path: Path
) -> None:
    kill_once_each(tmp_path, counted, Part.asked().of(counted.points))


def test_recovery_killed_again_at_sampled_calls_resumes_to_the_same_ledger(
    counted: Counted, tmp_path: Path
) -> None:
    first = kill_near_each(tmp_path, counted, sample(counted.points, 2, SEED + 1))
    kill_twice_each(tmp_path, counted, first, lambda recovery: sample(recovery, 2, SEED))


@pytest.mark.slow
def test_recovery_killed_at_its_first_calls_resumes_to_the_same_ledger(
    counted: Counted, tmp_path: Path
) -> None:
    kill_twice_each(tmp_path, counted, [kill_before_append(tmp_path, counted)], first_calls)


@pytest.mark.slow
def test_recovery_killed_again_at_every_call_resumes_to_the_same_ledger(
    counted: Counted, tmp_path: Path
) -> None:
    points, part = Part.asked().within(sample(counted.points, FIRST_KILLS, SEED + 2))
    first = kill_near_each(tmp_path, counted, points)
    kill_twice_each(tmp_path, counted, first, lambda again: part.of(counted.recovery(again)))


def first_calls(recovery: list[Point]) -> list[Point]:
    """The first calls, without SQLite's many on its shared memory, which outlives no crash."""
    return [point for point in recovery if not point.touched.endswith("-shm")][:FIRST_CALLS]


def kill_near(folder: Path, counted: Counted, point: Point) -> Killed:
    """Kill at the point, or earlier if this run makes fewer calls than the counted one."""
    for number in range(point.number, 0, -1):
        case = counted.new_case(folder / str(number), counted.search)
        nearby = Point(point.call, number, point.touched)
        if kill_at(case, nearby, counted.strace):
            return case, nearby
    raise AssertionError(f"{point}: no kill happened")


def kill_on_file(folder: Path, counted: Counted, point: Point) -> Killed:
    """Kill at a call on the point's file: the n-th call of a run may be on a different file."""
    if has_new_name(point):
        return kill_near(folder, counted, point)
    for number in range(point.number_on_path, 0, -1):
        case = counted.new_case(folder / str(number), counted.search)
        nearby = replace(point, number_on_path=number)
        if kill_on_path(case, nearby, counted.strace):
            return case, nearby
    raise AssertionError(f"{point}: no kill happened")


def kill_once_each(
    folder: Path, counted: Counted, points: list[Point], kill: Kill = kill_near
) -> None:
    start_s, violations = time.monotonic(), []
    for number, point in enumerate(points):
        case, hit = kill(folder / str(number), counted, point)
        complaints = [f"{hit}: {text}" for text in resume_and_check(case, counted.reference)]
        report(complaints)
        violations += complaints
    spent_s = round(time.monotonic() - start_s, 1)
    print_figures(f"F1 {counted.search.name}", seed=SEED, points=len(points),
                  violations=len(violations), seconds=spent_s)  # fmt: skip
    assert violations == []


def kill_near_each(folder: Path, counted: Counted, points: list[Point]) -> Iterator[Killed]:
    for number, point in enumerate(points):
        yield kill_near(folder / str(number), counted, point)


def kill_before_append(folder: Path, counted: Counted) -> Killed:
    """Kill where the manifest has results that the ledger lacks: recovery has to write them."""
    appends = [p for p in counted.points if p.call == "write" and "ledger.jsonl" in p.touched]
    for number in range(appends[-1].number, 0, -1):
        case = counted.new_case(folder / f"append-{number}", counted.search)
        point = Point("write", number)
        if kill_at(case, point, counted.strace) and lacks_records(case, folder / f"{number}.copy"):
            return case, point
    raise AssertionError("no kill fell between a commit and its records")


def lacks_records(case: Case, copy: Path) -> bool:
    """Whether the ledger lacks results that the manifest has."""
    shutil.copytree(case.out, copy)
    if not (copy / "manifest.sqlite").exists():
        return False
    manifest = Manifest.open(copy / "manifest.sqlite", Disk(), read_only=True)
    try:
        checkpoint = read_checkpoint(copy / "checkpoint")
        return bool(reconcile(copy / "ledger.jsonl", Projection(manifest), checkpoint).pending)
    finally:
        manifest.close()


def kill_twice_each(
    folder: Path, counted: Counted, first: Iterable[Killed], choose: Choice
) -> None:
    """After each first kill, kill the recovery at some of its own calls, then let it finish."""
    start_s, violations, count, number = time.monotonic(), [], 0, -1
    for number, (case, hit) in enumerate(first):
        aside = folder / f"{number}.aside"
        assert case.leftovers() == []
        case.set_aside(aside)
        for again in choose(count_points(case, counted.strace)):
            before, executions, second = kill_recovery_near(case, aside, again, counted.strace)
            count += 1
            complaints = check_not_doubled(before, case.executed()[executions:])
            complaints += check_not_lost(before, case.out)
            complaints += resume_and_check(case, counted.reference)
            complaints = [f"{hit} then {second}: {text}" for text in complaints]
            report(complaints)
            violations += complaints
    spent_s = round(time.monotonic() - start_s, 1)
    print_figures(f"F2 {counted.search.name}", seed=SEED, first_kills=number + 1,
                  second_kills=count, violations=len(violations), seconds=spent_s)  # fmt: skip
    assert violations == []


def kill_recovery_near(
    case: Case, aside: Path, point: Point, strace: str
) -> tuple[frozenset[TaskPlace], int, Point]:
    """Kill the recovery; also return the tasks that were final and the executions before it."""
    for number in range(point.number, 0, -1):
        case.put_back(aside)
        before, executions = case.final(), len(case.executed())
        nearby = Point(point.call, number, point.touched)
        if kill_at(case, nearby, strace):
            return before, executions, nearby
    raise AssertionError(f"{point}: no kill happened")


def report(found: list[str]) -> None:
    """Print violations as they are found: a full campaign takes minutes."""
    for text in found:
        print(f"\n  {text}", flush=True)

"""F3: one system call of the coordinator fails. It stops with the reason in one line, and the
same command continues from there. EINTR may also simply be retried; then the run just succeeds.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.faults.case import Case, Ended, printed_head, resume_and_check
from tests.faults.conftest import Counted
from tests.faults.points import (
    SYNCS,
    WRITES,
    Point,
    drawn_by_path,
    fail_at,
    fail_nearest,
    fail_on_path,
)
from tests.support.checker import Reference, check_finished
from tests.support.figures import Part, print_figures

SEED = 3003
TRY_AGAIN = 75
REASONS = ("StorageFailed: ", "weft: ")
FAULTS = {
    "EIO": (*WRITES, *SYNCS, "rename", "ftruncate", "openat", "mkdir", "unlink", "fchmod", "chmod"),
    "ENOSPC": (*WRITES, *SYNCS, "rename", "openat", "mkdir"),
    "EROFS": (*WRITES, "rename", "ftruncate", "openat", "mkdir", "unlink", "fchmod", "chmod"),
    "EINTR": (*WRITES, *SYNCS, "openat"),
}
SYNC_FAILED = ("error=EIO", "error=ENOSPC")
"""After these the state of the disk is unknown; continuing would claim that all data is there."""
MODE_CHANGE = ("manifest.sqlite-journal", "manifest.sqlite", "runs/run")
"""Files that SQLite syncs when changing its journal mode; on failure it keeps the old mode."""
RUN_PLACE = ("runs", "runs/run")
"""Where the run is created: a read-only disk there is bad input, not a failed disk."""
BAD_INPUT = 3
Inject = Callable[[Case, Point, str, str], tuple[Ended, Point | None]]
NOTHING_WRITTEN = "retval=0"
"""A write of no bytes: the only short write strace can inject without faking data."""


def plan(points: list[Point]) -> list[tuple[Point, str]]:
    """Every fault at every call where it can occur, in the order of the calls."""
    rows = [(p, f"error={name}") for p in points for name, calls in FAULTS.items()
            if p.call in calls]  # fmt: skip
    return rows + [(p, NOTHING_WRITTEN) for p in points if p.call in WRITES]


def check_failed(ended: Ended, fault: str, point: Point | None = None) -> list[str]:
    """Report what is wrong with the end of a run with a failed call."""
    if ended.returncode == 0:
        is_lost = point is not None and is_sync_of_ours(point) and fault in SYNC_FAILED
        return [f"{fault}: went on, though data may not be on the disk"] if is_lost else []
    lines = ended.reasons
    expected = (TRY_AGAIN, REASONS)
    if point is not None and is_read_only_place(point, fault):
        expected = (BAD_INPUT, ("RunFolderInvalid: ", "weft: "))
    code, reasons = expected
    if ended.returncode != code or len(lines) != 1 or not lines[0].startswith(reasons):
        return [f"{fault}: exit {ended.returncode}, said: {ended.stderr.strip()[-600:]}"]
    return []


def is_read_only_place(point: Point, fault: str) -> bool:
    return fault == "error=EROFS" and point.call == "mkdir" and point.touched in RUN_PLACE


def is_sync_of_ours(point: Point) -> bool:
    is_sqlite = point.call == "fdatasync" and point.touched.endswith(MODE_CHANGE)
    return point.call in SYNCS and not is_sqlite


def fail_and_check(
    case: Case, point: Point, fault: str, counted: Counted, inject: Inject
) -> tuple[int, list[str]] | None:
    """Inject the fault, then run the same command; return None if the call was not reached."""
    ended, hit = inject(case, point, fault, counted.strace)
    if hit is None:
        return None
    violations = [f"{hit}: {text}" for text in check_failed(ended, fault, hit)] + case.leftovers()
    if ended.returncode == 0:
        violations += check_finished(case.place, counted.reference)
    return ended.returncode, [*violations, *resume_and_check(case, counted.reference)]


def fail_each(
    folder: Path, counted: Counted, rows: list[tuple[Point, str]], inject: Inject = fail_at
) -> None:
    """Try each fault; retry once if its call was not reached, since not every run makes it."""
    start_s, violations, missed, survived = time.monotonic(), [], 0, 0
    for number, (point, fault) in enumerate(rows):
        places = (folder / f"{number}{suffix}" for suffix in ("", "-again"))
        cases = (counted.new_case(place, counted.search) for place in places)
        tries = (fail_and_check(case, point, fault, counted, inject) for case in cases)
        outcome = next((outcome for outcome in tries if outcome is not None), None)
        if outcome is None:
            missed += 1
            continue
        code, complaints = outcome
        survived += code == 0
        complaints = [f"{point} {fault}: {text}" for text in complaints]
        for text in complaints:
            print(f"\n  {text}", flush=True)
        violations += complaints
    spent_s = round(time.monotonic() - start_s, 1)
    print_figures("F3", seed=SEED, faults=len(rows) - missed, not_reached=missed,
                  went_on=survived, violations=len(violations), seconds=spent_s)  # fmt: skip
    assert missed <= 1 + len(rows) // 10, "too many calls were not reached"
    assert violations == []


def test_call_that_fails_stops_the_run_with_its_reason_and_resumes(
    counted: Counted, tmp_path: Path
) -> None:
    """The same kinds of calls on the same files each time, whatever a run's number of calls."""
    rows = plan(drawn_by_path(counted.points, SEED))
    random.Random(SEED).shuffle(rows)
    first = one_of_each_fault(rows)
    more = [row for row in rows if row not in first][:2]
    fail_each(tmp_path, counted, [*first, *more], fail_on_path)


@pytest.mark.slow
def test_sync_that_fails_stops_the_run_with_its_reason_and_resumes(
    counted: Counted, tmp_path: Path
) -> None:
    """One sync of each file and folder, halfway through its syncs: every run gets that far."""
    syncs: dict[str, list[Point]] = {}
    for point in counted.points[:-8]:
        if point.call in SYNCS:
            syncs.setdefault(point.touched, []).append(point)
    rows = [(group[(len(group) - 1) // 2], "error=EIO") for group in syncs.values()]
    fail_each(tmp_path, counted, rows)


@pytest.mark.slow
def test_every_call_that_fails_stops_the_run_with_its_reason_and_resumes(
    counted: Counted, tmp_path: Path
) -> None:
    fail_each(tmp_path, counted, Part.asked().of(plan(counted.points)), fail_nearest)


def one_of_each_fault(rows: list[tuple[Point, str]]) -> list[tuple[Point, str]]:
    return list({fault: (point, fault) for point, fault in reversed(rows)}.values())


def test_what_the_driver_reads_after_a_command_cannot_fail(
    require_tool: Callable[[str], str], tmp_path: Path
) -> None:
    case, log = Case(tmp_path / "case"), tmp_path / "log"
    head = case.run().outcome["head"]
    traced = [require_tool("strace"), "-o", str(log), "-e", "trace=openat"]
    assert printed_head(case, traced) == head
    assert str(case.out) not in log.read_text()


def test_writes_that_take_half_change_nothing(tmp_path: Path) -> None:
    plain, halved = Case(tmp_path / "plain"), Case(tmp_path / "halved")
    halved.extra["WEFT_FAULTS_HALF_WRITES"] = "1"
    plain.run()
    reference = Reference.of(plain.out)
    assert halved.run().outcome["head"] == reference.head
    assert check_finished(halved.place, reference) == []


@pytest.mark.parametrize("count", [3, pytest.param(100, marks=pytest.mark.slow)])
def test_file_that_may_not_grow_stops_the_run_and_resumes(count: int, tmp_path: Path) -> None:
    plain = Case(tmp_path / "plain")
    plain.run()
    reference, draw, violations = Reference.of(plain.out), random.Random(SEED), []
    stopped = 0
    for number in range(count):
        case = Case(tmp_path / f"case-{number}")
        case.extra["WEFT_FAULTS_FILE_LIMIT"] = str(draw.randint(100, 40_000))
        ended = case.run()
        stopped += ended.returncode != 0
        del case.extra["WEFT_FAULTS_FILE_LIMIT"]
        complaints = [*check_failed(ended, "short write"), *resume_and_check(case, reference)]
        violations += [f"case {number}: {text}" for text in complaints]
    print_figures("F3 short write", seed=SEED, runs=count, stopped=stopped,
                  violations=len(violations))  # fmt: skip
    assert stopped > 0
    assert violations == []

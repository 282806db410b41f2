"""Coordinators forked from a preloaded process behave like those in a fresh process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.faults.case import SHUTTLE, Case, Search, resume_and_check
from tests.faults.forkedcase import Coordinators, ForkedCase
from tests.faults.points import Point, count_points, fail_on_path, file_kind
from tests.faults.products import PRODUCTS
from tests.faults.test_io_errors import check_failed
from tests.support.checker import Reference
from tests.support.processes import carrying
from tests.support.waiting import wait_until

KILL = "signal=KILL"
LEDGER, RUN_FILE = "runs/run/ledger.jsonl", "runs/run/run.toml.tmp"
FAULTS = [
    pytest.param(Point("write", 0, LEDGER, 1), KILL, id="killed"),
    pytest.param(Point("rename", 0, RUN_FILE, 1), "error=ENOSPC", id="full"),
    pytest.param(Point("fdatasync", 0, LEDGER, 1), "error=EIO", id="not-synced"),
]
SLOW = [pytest.param(search, marks=pytest.mark.slow) for search in PRODUCTS]


@pytest.fixture(scope="module", params=[SHUTTLE, *SLOW], ids=lambda search: search.name)
def pair(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Search, Coordinators, Reference]]:
    plain = Case(tmp_path_factory.mktemp("plain") / "case", request.param)
    with Coordinators.of(plain) as coordinators:
        yield request.param, coordinators, Reference.of(plain.out)


def verdict(case: Case, point: Point, fault: str, strace: str, reference: Reference) -> list[str]:
    """How the run ended at a fault, and every violation."""
    ended, hit = fail_on_path(case, point, fault, strace)
    assert fault == KILL or hit is not None
    reasons = [text.replace(str(case.folder), "") for text in ended.reasons]
    wrong = [] if fault == KILL else check_failed(ended, fault, hit)
    return [f"exit {ended.returncode}", *reasons, *wrong, *resume_and_check(case, reference)]


@pytest.mark.parametrize(("point", "fault"), FAULTS)
def test_fault_has_the_same_outcome_in_a_forked_coordinator(
    pair: tuple[Search, Coordinators, Reference], point: Point, fault: str,
    require_tool: Callable[[str], str], tmp_path: Path,
) -> None:  # fmt: skip
    search, coordinators, reference = pair
    cases = Case(tmp_path / "plain", search), ForkedCase(coordinators, tmp_path / "fork", search)
    plain, forked = (verdict(c, point, fault, require_tool("strace"), reference) for c in cases)
    assert forked == plain
    assert plain[0] == ("exit -9" if fault == KILL else "exit 75")


def test_forked_coordinator_makes_the_same_kinds_of_calls(
    pair: tuple[Search, Coordinators, Reference], require_tool: Callable[[str], str], tmp_path: Path
) -> None:
    search, coordinators, reference = pair
    cases = Case(tmp_path / "plain", search), ForkedCase(coordinators, tmp_path / "fork", search)
    plain, forked = (count_points(case, require_tool("strace")) for case in cases)
    assert file_kinds(forked) == file_kinds(plain)
    assert Reference.of(cases[1].out) == reference


def file_kinds(points: list[Point]) -> set[tuple[str, str]]:
    return {(point.call, file_kind(point.touched)) for point in points}


def test_forked_coordinator_carries_the_name_of_its_case(
    pair: tuple[Search, Coordinators, Reference], tmp_path: Path
) -> None:
    search, coordinators, _ = pair
    case, begin = ForkedCase(coordinators, tmp_path / "case", search), tmp_path / "begin"
    case.extra["WEFT_FAULTS_SIGNAL"] = str(begin)
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(case.run)
        wait_until(lambda: carrying(f"WEFT_FAULTS_CASE={case.name}"), "the coordinator")
        begin.touch()
        assert running.result().returncode == 0
    assert case.leftovers() == []

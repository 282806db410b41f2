"""Shared fixtures of the campaigns: a run without faults, traced once per test process."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.faults.case import SEARCHES, SHUTTLE, Case, Search
from tests.faults.forkedcase import Coordinators, ForkedCase
from tests.faults.points import Point, count_points, distinct, of_recovery, without_repeats
from tests.faults.power import Recorded, record
from tests.faults.products import PRODUCTS
from tests.support.checker import Reference, check_executed, check_finished


@dataclass(frozen=True)
class Counted:
    """A search, its fault-free result, and its state-changing system calls in order.

    For the shipped searches, whose runs take longer, repetitive calls are left out, and
    coordinators are forked from a process that has already imported what they need.
    """

    search: Search
    reference: Reference
    points: list[Point]
    strace: str
    new_case: Callable[[Path, Search], Case] = Case

    def recovery(self, points: list[Point]) -> list[Point]:
        """The calls of a resumed run at which a second kill is tried."""
        return chosen(of_recovery(points)) if self.search in PRODUCTS else points


def chosen(points: list[Point]) -> list[Point]:
    """The points to try on the shipped searches."""
    return without_repeats(distinct(points))


EVERY = [*SEARCHES, *(pytest.param(search, marks=pytest.mark.slow) for search in PRODUCTS)]


@pytest.fixture(scope="session", params=EVERY, ids=lambda search: search.name)
def counted(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    require_tool: Callable[[str], str],
) -> Iterator[Counted]:
    search, strace = request.param, require_tool("strace")
    folder = tmp_path_factory.mktemp("counted")
    if search not in PRODUCTS:
        yield count(Case(folder / "case", search), strace)
        return
    plain = Case(folder / "plain", search)
    with Coordinators.of(plain) as coordinators:
        new_case = functools.partial(ForkedCase, coordinators)
        by_fork = count(new_case(folder / "case", search), strace)
        assert by_fork.reference == Reference.of(plain.out)
        yield replace(by_fork, points=chosen(by_fork.points), new_case=new_case)


def count(case: Case, strace: str) -> Counted:
    """Run the case without a fault and check everything that it leaves."""
    points = count_points(case, strace)
    reference = Reference.of(case.out)
    assert check_finished(case.place, reference) == []
    assert check_executed(case.out, case.executed()) == []
    assert len(case.executed()) == len(set(case.executed()))
    return Counted(case.search, reference, points, strace)


@pytest.fixture(scope="session")
def recorded(
    tmp_path_factory: pytest.TempPathFactory, require_tool: Callable[[str], str]
) -> Recorded:
    return record(tmp_path_factory.mktemp("recorded"), SHUTTLE, require_tool("strace"))

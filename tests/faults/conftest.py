"""What the campaigns share: a run without faults, counted or recorded once per test process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.faults.case import SEARCHES, SHUTTLE, Case, Search
from tests.faults.points import Point, count_points, distinct, of_recovery
from tests.faults.power import Recorded, record
from tests.faults.products import PRODUCTS
from tests.support.checker import Reference, check_executed, check_finished


@dataclass(frozen=True)
class Counted:
    """A search, what it gives without faults, and its state-changing system calls in order.

    On the searches that ship, whose runs take longer, those that are alike are tried once.
    """

    search: Search
    reference: Reference
    points: list[Point]
    strace: str
    new_case: Callable[[Path, Search], Case] = Case

    def recovery(self, points: list[Point]) -> list[Point]:
        """The calls of a resumed run at which a second kill is tried."""
        return distinct(of_recovery(points)) if self.search in PRODUCTS else points


EVERY = [*SEARCHES, *(pytest.param(search, marks=pytest.mark.slow) for search in PRODUCTS)]


@pytest.fixture(scope="session", params=EVERY, ids=lambda search: search.name)
def counted(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    require_tool: Callable[[str], str],
) -> Counted:
    strace = require_tool("strace")
    case = Case(tmp_path_factory.mktemp("counted") / "case", request.param)
    points = count_points(case, strace)
    points = distinct(points) if request.param in PRODUCTS else points
    reference = Reference.of(case.out)
    assert check_finished(case.place, reference) == []
    assert check_executed(case.out, case.executed()) == []
    assert len(case.executed()) == len(set(case.executed()))
    return Counted(request.param, reference, points, strace)


@pytest.fixture(scope="session")
def recorded(
    tmp_path_factory: pytest.TempPathFactory, require_tool: Callable[[str], str]
) -> Recorded:
    return record(tmp_path_factory.mktemp("recorded"), SHUTTLE, require_tool("strace"))

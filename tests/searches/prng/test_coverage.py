"""`weft prng families --coverage`: what it says of a call is planned, recorded and true."""

from __future__ import annotations

import pytest

from benchmarks.prngcoverage import is_found
from weft.searches.prng import coverage
from weft.searches.prng.apis import declared_apis


def test_every_declared_call_is_recorded_and_listed() -> None:
    names = {f"{family}.{output}" for family, output in declared_apis()}
    assert set(coverage.recorded().planted) == names
    listed = coverage.coverage()
    assert {f"{call.family}.{call.output}" for call in listed} == names
    rarities = [call.api.rarity for call in listed]
    assert rarities == sorted(rarities)


def test_calls_found_by_no_attack_are_said_to_have_likely_seeds_alone() -> None:
    for call in coverage.coverage():
        assert call.planted is not None
        if not call.searched:
            assert call.found == 0
            assert any("likely seeds alone" in line for line in call.lines(1.0))


def test_draws_needed_are_the_least_that_an_attack_plans_with() -> None:
    (java,) = [c for c in coverage.coverage() if (c.family, c.output) == ("java", "bounded")]
    by_attack = {item.attack: item for item in java.searched}
    assert {"lattice", "brute"} <= set(by_attack)
    assert 8 <= by_attack["lattice"].draws <= 30
    (twister,) = [c for c in coverage.coverage() if (c.family, c.output) == ("mt19937", "mod")]
    needed = {item.attack: item.draws for item in twister.searched}
    assert needed["brute"] < 40
    assert needed["twister-state"] > 3000


@pytest.mark.parametrize("call", [("java", "bounded"), ("glibc", "mod")])
def test_planted_history_is_found_as_recorded(call: tuple[str, str]) -> None:
    planted, found = coverage.recorded().planted[".".join(call)]
    assert planted == found
    assert is_found(*call, 3_141_592_653 % (1 << 31), 5)


def test_planted_history_that_no_attack_tries_is_not_found() -> None:
    assert not is_found("glibc_rows", "distinct6", 3_141_592_653, 0)

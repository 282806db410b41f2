"""Lattice reduction finds every planted state, as the plain search over all states does."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.searches.prng.planted import (
    GRID,
    chance,
    corrupted,
    plan_for,
    planted,
    predicts,
    run_all,
)
from weft.searches.prng.attack import Case, Gap
from weft.searches.prng.attacks.lattice import ATTACK, state_at
from weft.searches.prng.attacks.lattice_problems import (
    LatticeProblem,
    _bare_remainder,
    _remainder,
    _span,
    problems,
    reduced,
)
from weft.searches.prng.forms import LatticeForm, LcgForm
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.kernels.lattice import nearest, reduce_basis

SMALL = [
    _span("small", LatticeForm("span", "span", 0x9E35, 0x3B1, 1 << 16), 100),
    _span("small", LatticeForm("edges", "span", 0x9E35, 0x3B1, 65521, steps=2, edge=5), 60),
    _bare_remainder("small", LatticeForm("mod", "remainder", 17364, 0, 65521), 120),
    _remainder(LcgForm("small", "odd", 0x9E35, 0x3B1, dropped=6, width=10), 99),
    _remainder(LcgForm("small", "signed", 0x9E35, 0x3B1, dropped=4, width=12, signed=True), 120),
]
MAPS = [(problem.family, problem.output) for problem in problems(999)]


def follow(problem: LatticeProblem, state: int, count: int, skip: int) -> list[int]:
    """The states at consecutive draws."""
    multiplier, increment = problem.jumped(problem.steps * (skip + 1))
    states = [state]
    for _ in range(count - 1):
        states.append((states[-1] * multiplier + increment) % problem.modulus)
    return states


def is_made(problem: LatticeProblem, state: int, base: int) -> bool:
    """Whether a state has holes of the right size above a base."""
    rest = (state - base) % problem.modulus
    for step, size in problem.holes:
        if step > 1:
            quotient, rest = divmod(rest, step)
            if quotient >= size:
                return False
        elif rest >= size:
            return False
    return True


@pytest.mark.parametrize("problem", SMALL, ids=lambda problem: problem.output)
@pytest.mark.parametrize("skip", [0, 2])
def test_state_of_a_small_generator_is_the_only_one_of_all_states(
    problem: LatticeProblem, skip: int
) -> None:
    source = random.Random(skip)
    count = (problem.draws_needed() or 0) + 1  # one more, so that no other state fits by chance
    lattice = reduced(problem, count, skip)
    for _ in range(2):
        truth = follow(problem, source.randrange(problem.modulus), count, skip)
        bases = []
        for state in truth:
            holes = [source.randrange(size) for _, size in problem.holes]
            if len(holes) == 1:
                bases.append(state - holes[0])
            else:
                step = problem.holes[0][0]
                bases.append(state - state % problem.holes[1][1] - step * (state // step))
        plain = [
            first
            for first in range(problem.modulus)
            if all(map(lambda s, b: is_made(problem, s, b),
                       follow(problem, first, count, skip), bases))
        ]  # fmt: skip
        assert plain == [truth[0]] == [state_at(problem, lattice, bases)]


@pytest.mark.parametrize(("skip", "start", "percent"), GRID)
def test_java_odd_bound_planted_in_the_grid_is_found(skip: int, start: int, percent: int) -> None:
    truth = planted("java", "bounded", 999, 0x5EED + 77 * skip + start, skip, start)
    draws = corrupted(generate(truth, 150), 999, percent, skip)
    case = Case(draws, 999, skips=(skip, skip))
    (candidate,) = run_all(ATTACK, case, plan_for(ATTACK, case, "java", "bounded"))
    assert predicts(candidate, truth, 200)


@pytest.mark.parametrize(("family", "output"), MAPS)
@pytest.mark.parametrize("modulus", [101, 1000, 1024])
def test_family_planted_with_corrupt_rows_is_found(family: str, output: str, modulus: int) -> None:
    if (family, output) not in [(problem.family, problem.output) for problem in problems(modulus)]:
        return  # remainders modulo a power of two are lanes
    truth = planted(family, output, modulus, 987654321, 7, 1000)
    case = Case(corrupted(generate(truth, 150), modulus, 10, 1), modulus, skips=(6, 8))
    candidates = run_all(ATTACK, case, plan_for(ATTACK, case, family, output))
    assert [predicts(candidate, truth, 200) for candidate in candidates] == [True]


@pytest.mark.slow
@pytest.mark.parametrize(("family", "output"), MAPS)
@pytest.mark.parametrize(("skip", "start", "percent"), GRID)
def test_family_planted_in_the_grid_is_found(family, output, skip, start, percent) -> None:
    for modulus in (100, 999, 4096):
        if (family, output) in [(problem.family, problem.output) for problem in problems(modulus)]:
            truth = planted(family, output, modulus, 24680 + start, skip, start)
            draws = corrupted(generate(truth, 400), modulus, percent, skip)
            case = Case(draws, modulus, skips=(max(0, skip - 2), skip + 2))
            candidates = run_all(ATTACK, case, plan_for(ATTACK, case, family, output))
            assert [predicts(candidate, truth, 500) for candidate in candidates] == [True], modulus


@pytest.mark.parametrize("modulus", [25, 37])
def test_any_state_of_java_is_found_with_a_small_odd_bound(modulus: int) -> None:
    truth = Hypothesis("java", "bounded", modulus, state="0123456789ab", skips=Skips.constant(2))
    draws = generate(truth, 120)
    case = Case(tuple(draws[:70]), modulus, skips=(1, 2))
    candidates = run_all(ATTACK, case, plan_for(ATTACK, case, "java", "bounded"))
    assert [generate(candidate.hypothesis, 120) for candidate in candidates] == [draws]


def test_history_of_chance_has_no_state() -> None:
    case = Case(chance(80, 999, 1), 999, skips=(0, 10))
    for plan in ATTACK.plan(case):
        assert not isinstance(plan, Gap)
        assert run_all(ATTACK, case, plan) == []


def test_gaps_say_how_many_draws_are_needed_or_that_the_modulus_is_too_small() -> None:
    gap = next(item for item in ATTACK.plan(Case((1,) * 4, 1000)))
    assert isinstance(gap, Gap)
    count = int(gap.why.split()[1])
    assert not isinstance(ATTACK.plan(Case((1,) * count, 1000))[0], Gap)
    assert isinstance(ATTACK.plan(Case((1,) * (count - 1), 1000))[0], Gap)
    assert all("says too little" in item.why for item in ATTACK.plan(Case((1,) * 99, 3)))


def test_reduced_basis_spans_the_same_lattice_with_shorter_rows() -> None:
    source = random.Random(8)
    basis = np.diag([1 << 40] * 8).astype(np.int64)
    basis[0] = [1, *(source.getrandbits(40) for _ in range(7))]
    before = basis.copy()
    star = reduce_basis(basis)
    whole = [[int(x) for x in row] for row in basis]
    for row in whole:  # every row is a multiple of the first, modulo 2^40
        assert all(
            (x - row[0] * int(y)) % (1 << 40) == 0 for x, y in zip(row, before[0], strict=True)
        )
    assert max(sum(x * x for x in row) for row in whole) < 1 << 76
    point = basis[2] * 5 - basis[7] * 3
    assert (nearest(basis, star, point + 1000) == point).all()

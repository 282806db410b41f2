"""Lattice reduction: any state of a truncated congruential generator, at constant skips.

A few consecutive correct draws determine the state (6 of nextInt(1000)), for any modulus that is
not too small. Draws may confine the state to a span, as powers of two and scaled floats do, or be
remainders, also by odd moduli. The lattice depends only on the skip and is reduced once; every
window of draws then costs one nearest-plane computation. A unit is a skip.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from weft.lazy_imports import lazy_imports, lazy_module
from weft.searches.prng.attack import AttackPlan, Case, Gap, HypothesisMatch, Units, best, compare
from weft.searches.prng.attacks.lanes_search import StateSplit
from weft.searches.prng.attacks.lanes_search import state_before as walked_back
from weft.searches.prng.attacks.lattice_problems import (
    MAX_DIMENSION,
    LatticeProblem,
    ReducedLattice,
    problem_of,
    problems,
    reduced,
)
from weft.searches.prng.attacks.noise import affordable
from weft.searches.prng.families import family_named
from weft.searches.prng.hypothesis import Hypothesis, Skips

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

with lazy_imports():
    from weft.searches.prng.kernels import lattice as kernels

NAME = "lattice"
SKIPS_PER_TASK = 32
MAX_WINDOWS = 512
CHANCE_STATES = Fraction(1, 1000)


class Lattice:
    """The lattice attack; stateless."""

    name = NAME
    needs_luck = False

    def plan(self, case: Case) -> Sequence[AttackPlan | Gap]:
        """Return a plan or a gap for each truncated generator."""
        return [plan_problem(case, problem) for problem in problems(case.modulus)]

    def run(self, case: Case, plan: AttackPlan, units: Units) -> Sequence[HypothesisMatch]:
        """Try every window of draws at the skips of the units."""
        problem = problem_of(plan.family, plan.output, case.modulus)
        candidates: dict[Hypothesis, HypothesisMatch] = {}
        for skip in range(case.skips[0] + units.lo, case.skips[0] + units.hi):
            for guess in search(case, problem, skip):
                if guess not in candidates:
                    candidates[guess] = compare(case, guess)
        return best([c for c in candidates.values() if is_explained(case, problem, c)])


def plan_problem(case: Case, problem: LatticeProblem) -> AttackPlan | Gap:
    """Return the plan of one output map, or the gap if nothing is covered."""
    needed = problem.draws_needed()
    if needed is None:
        why = f"a draw below {case.modulus} says too little for {MAX_DIMENSION} dimensions"
        return Gap(NAME, problem.family, problem.output, why)
    if len(case.draws) < needed + 2:
        why = f"needs {needed + 2} draws, there are {len(case.draws)}"
        return Gap(NAME, problem.family, problem.output, why)
    first, last = case.skips
    covers = (
        f"every state, skips {first}..{last}, any start, {windows_in(case, needed)} windows of"
        f" which one must hold {needed} right draws"
    )
    windows, dimension = windows_in(case, needed), needed * len(problem.holes)
    cost = case.skip_count * (windows * (8 + dimension // 2) + dimension**3 // 8) // 1000 + 1
    return AttackPlan(
        NAME, problem.family, problem.output, case.skip_count, SKIPS_PER_TASK,
        case.skip_count * problem.modulus, cost, covers,
    )  # fmt: skip


def windows_in(case: Case, needed: int) -> int:
    """Return the number of windows to try."""
    return min(MAX_WINDOWS, len(case.draws) - needed + 1)


def search(case: Case, problem: LatticeProblem, skip: int) -> list[Hypothesis]:
    """Return hypotheses, with the state before draw 0, that explain some window of draws."""
    needed = problem.draws_needed()
    assert needed is not None
    lattice = reduced(problem, needed, skip)
    bases = [problem.base(draw) for draw in case.draws]
    guesses: dict[Hypothesis, None] = {}
    for at in range(windows_in(case, needed)):
        state = state_at(problem, lattice, bases[at : at + needed])
        if state is not None:
            before = state_before(problem, case.modulus, state, at * (skip + 1))
            guesses[hypothesis(problem, case.modulus, before, skip)] = None
    return list(guesses)


def hypothesis(problem: LatticeProblem, modulus: int, state: int, skip: int) -> Hypothesis:
    """Return a state before draw 0 as a hypothesis."""
    text, skips = family_named(problem.family).state_text([state]), Skips.constant(skip)
    return Hypothesis(problem.family, problem.output, modulus, state=text, skips=skips)


def state_at(problem: LatticeProblem, lattice: ReducedLattice, bases: Sequence[int]) -> int | None:
    """Return the state at the first draw of a window; None if a hole is out of range."""
    count, modulus = len(problem.holes), problem.modulus
    offset = [0] * (len(bases) * count)
    for at, (multiplier, increment) in enumerate(lattice.maps):
        missing = multiplier * bases[0] + increment - bases[at]
        offset[at * count + count - 1] = missing % modulus * lattice.weights[-1]
    sizes = [size for _, size in problem.holes] * len(bases)
    weights = lattice.weights * len(bases)
    target = [size // 2 * w - x for size, w, x in zip(sizes, weights, offset, strict=True)]
    near = kernels.nearest(lattice.basis, lattice.star, np.array(target, np.int64)).tolist()
    holes = [(x + y) // w for x, y, w in zip(near, offset, weights, strict=True)]
    if not all(0 <= hole < size for hole, size in zip(holes, sizes, strict=True)):
        return None
    parts = [step * int(holes[at]) for at, (step, _) in enumerate(problem.holes)]
    return (bases[0] + sum(parts)) % modulus


def state_before(problem: LatticeProblem, modulus: int, state: int, calls: int) -> int:
    """Return the state before draw 0, given the one after the first step of a later call."""
    if problem.shape is not None:
        return walked_back(StateSplit.of(problem.shape, modulus), state, calls)
    multiplier, increment = problem.jumped(-1 - calls * problem.steps)
    return (state * multiplier + increment) * problem.scale % problem.modulus


def is_explained(case: Case, problem: LatticeProblem, candidate: HypothesisMatch) -> bool:
    """Whether a state explains more draws than chance lets any state explain."""
    tried = case.skip_count * problem.modulus
    allowed = affordable(candidate.compared, case.modulus, tried, CHANCE_STATES)
    return candidate.wrong <= allowed


ATTACK = Lattice()

"""Truncated congruential generators as lattice problems.

A draw leaves one or two small numbers in the state unknown, the holes, with 0 ≤ hole < size:
state = base + Σ step·hole (mod N). A span of states has one hole; a remainder of the output above
dropped bits has two, the quotient and the dropped bits. Consecutive states are linked by the
multiplier, so with enough draws the holes are the only short solution.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from math import gcd
from typing import TYPE_CHECKING

from weft.lazy_imports import lazy_imports, lazy_module
from weft.searches.prng.arrays import Floats, Ints
from weft.searches.prng.attacks.lanes_search import lcg_forms
from weft.searches.prng.families import FAMILIES
from weft.searches.prng.forms import LatticeForm, LcgForm
from weft.searches.prng.linear import affine_power

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

with lazy_imports():
    from weft.searches.prng.kernels import lattice

MAX_DIMENSION = 64
"""Largest dimension that doubles reduced in every trial; Java's `nextInt(25)` needs it."""


@dataclass(frozen=True, slots=True)
class LatticeProblem:
    """A generator x → multiplier·x + increment (mod N) per step, and what a draw reveals of x.

    The state is `scale`·x. `base` returns the least x for a draw; `holes` are pairs (step, size),
    the last with step 1. `shape` is set where calls may reject and so take more than one step.
    """

    family: str
    output: str
    modulus: int
    multiplier: int
    increment: int
    steps: int
    base: Callable[[int], int]
    holes: tuple[tuple[int, int], ...]
    shape: LcgForm | None = None
    scale: int = 1

    def jumped(self, steps: int) -> tuple[int, int]:
        """Return the affine map of `steps` steps; negative steps lead back."""
        if steps >= 0:
            return affine_power(self.multiplier, self.increment, steps, self.modulus)
        inverse = pow(self.multiplier, -1, self.modulus)
        return affine_power(inverse, -self.increment * inverse, -steps, self.modulus)

    def draws_needed(self) -> int | None:
        """Return how many consecutive draws determine the state, by Minkowski's bound plus slack.

        None if the dimension would be too large for doubles. The slack is what the nearest plane of
        a reduced basis needed in measurements: 1.25 bits per dimension, and a little more.
        """
        size = 1
        for _, hole_size in self.holes:
            size *= hole_size
        more, less = self.modulus**100, size**100
        known, hidden = 1, less
        for draws in range(2, MAX_DIMENSION // len(self.holes) + 1):
            dimension, known, hidden = draws * len(self.holes), known * more, hidden * less
            if known >> (dimension * (125 + dimension // 2)) >= hidden:
                return draws
        return None


@dataclass(frozen=True, slots=True)
class ReducedLattice:
    """The reduced lattice of a problem at one skip: rows, their orthogonal basis, weights, maps."""

    basis: Ints
    star: Floats
    weights: tuple[int, ...]
    maps: tuple[tuple[int, int], ...]


def reduced(problem: LatticeProblem, draws: int, skip: int) -> ReducedLattice:
    """Return the reduced lattice of the holes of `draws` draws; coordinates are draw by draw."""
    holes, count = problem.holes, len(problem.holes)
    largest = max(size for _, size in holes)
    weights = tuple(max(1, largest // size) for _, size in holes)
    steps = problem.steps * (skip + 1)
    maps = tuple(problem.jumped(at * steps) for at in range(draws))
    rows = []
    for hole, (step, _) in enumerate(holes):
        row = [multiplier * step for multiplier, _ in maps for _ in holes]
        rows.append(_only_last(row, count, {hole: 1}, problem.modulus))
    for at in range(1, draws):
        last = at * count + count - 1
        for hole, (step, _) in enumerate(holes[:-1]):
            row = [0] * (draws * count)
            row[last] = -step
            rows.append(_only_last(row, count, {at * count + hole: 1}, problem.modulus))
        rows.append([problem.modulus if c == last else 0 for c in range(draws * count)])
    weighted = [[x * weights[c % count] for c, x in enumerate(row)] for row in rows]
    basis = np.array(weighted, np.int64)
    return ReducedLattice(basis, lattice.reduce_basis(basis), weights, maps)


def _only_last(row: list[int], count: int, ones: dict[int, int], modulus: int) -> list[int]:
    """Keep the last hole of each draw but the first, as a small remainder; set the given ones."""
    half = modulus // 2
    remainders = [
        (x + half) % modulus - half if c % count == count - 1 and c >= count else 0
        for c, x in enumerate(row)
    ]
    return [ones.get(c, x) for c, x in enumerate(remainders)]


def problems(modulus: int) -> list[LatticeProblem]:
    """Return the problems of the families that declare a form, for draws below a modulus."""
    is_power_of_two = modulus & (modulus - 1) == 0
    forms = [(family.name, form) for family in FAMILIES for form in family.lattice_forms]
    spans = [
        _span(family, form, modulus)
        for family, form in forms
        if form.kind == "span" and (is_power_of_two or not form.powers_of_two_only)
    ]
    above = [
        _remainder(shape, modulus)
        for shape in lcg_forms()
        if shape.dropped
        and not is_power_of_two
        and modulus < 1 << shape.width
        and not shape.absolute
        and shape.high_word is None
    ]
    bare = [
        _bare_remainder(family, form, modulus)
        for family, form in forms
        if form.kind == "remainder" and gcd(form.modulus, modulus) == 1
    ]
    return [*spans, *above, *bare]


@lru_cache(maxsize=64)
def problem_of(family: str, output: str, modulus: int) -> LatticeProblem:
    """Return the problem that a plan names; an unknown name is a bug."""
    return {(problem.family, problem.output): problem for problem in problems(modulus)}[
        family, output
    ]


def _span(family: str, form: LatticeForm, modulus: int) -> LatticeProblem:
    """Return the problem of a draw that is the high part of the state."""
    whole, edge = form.modulus, form.edge
    size = -(-whole // modulus) + 2 * edge

    def base(draw: int) -> int:
        return -(-draw * whole // modulus) - edge

    return LatticeProblem(
        family, form.output, whole, form.multiplier, form.increment,
        form.steps, base, ((1, size),),
    )  # fmt: skip


def _bare_remainder(family: str, form: LatticeForm, modulus: int) -> LatticeProblem:
    """Return the problem of a draw that is the state's remainder, with x = state / modulus."""
    inverse = pow(modulus, -1, form.modulus)

    def base(draw: int) -> int:
        return draw * inverse

    return LatticeProblem(
        family, form.output, form.modulus, form.multiplier,
        form.increment * inverse % form.modulus, form.steps, base,
        ((1, form.modulus // modulus + 1),), scale=modulus,
    )  # fmt: skip


def _remainder(shape: LcgForm, modulus: int) -> LatticeProblem:
    least = -(1 << (shape.width - 1)) if shape.signed else 0
    holes = ((modulus << shape.dropped, (1 << shape.width) // modulus + 1), (1, 1 << shape.dropped))

    def base(draw: int) -> int:
        return (least + (draw - least) % modulus) << shape.dropped

    return LatticeProblem(
        shape.family, shape.output, 1 << (shape.dropped + shape.width),
        shape.multiplier, shape.increment, 1, base, holes, shape if shape.rejects else None,
    )  # fmt: skip

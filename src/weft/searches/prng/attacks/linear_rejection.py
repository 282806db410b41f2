"""Attack: the state of a Mersenne Twister from draws made by rejection.

CPython's `random.randrange(1000)` takes the ten high bits of an output and rejects values of 1000
or more; NumPy's RandomState does so with the low bits. Once the draws are aligned with the outputs
(`linear_align`), the bits of every draw give equations. All work is one unit. The attack covers
bounds of ten bits or more that reject few outputs, without skips or wrong draws.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.lazy_imports import lazy_module
from weft.searches.prng import gf2
from weft.searches.prng.attack import AttackPlan, Case, Gap, HypothesisMatch, Units, compare
from weft.searches.prng.attacks.linear_align import RejectionDraws, aligned, anchors, track
from weft.searches.prng.attacks.linear_mersenne import (
    WORDS,
    equations,
    state_words,
    temper,
    twister,
)
from weft.searches.prng.attacks.linear_relations import relations
from weft.searches.prng.bit_forms import End
from weft.searches.prng.families import FAMILIES, family_named
from weft.searches.prng.hypothesis import Hypothesis

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = lazy_module("numpy")

STEPS = 3400
"""Outputs by which an anchor is extended: two or more places then pass over 4,500 of them, and
3,500 of these are certain, enough to determine the state (2,900 leave a few unknowns open)."""
BASES = 40
"""Draws at which an anchor is sought; each has one with a probability above a third."""
MORE_BASES = 400
"""Further such draws if there are enough: dense gaps stop all walks that start before them."""
NEEDED = 6300
LEAST_BITS = 10
OUTPUTS = 3589
"""Outputs whose equations are solved, however many bits each shows: fewer do not reach every word
of the state (1,795 of twenty bits leave 60 unknowns open)."""
COST_MS = 9000


@dataclass(frozen=True, slots=True)
class RejectionView:
    """An output map that takes as many bits as the bound has from one end of an output."""

    family: str
    output: str
    end: End

    def bits(self, modulus: int) -> int:
        """Return the number of bits of an output that a draw takes."""
        return modulus.bit_length() if self.end == "high" else (modulus - 1).bit_length()

    def missing(self, modulus: int) -> int:
        """Return how many outputs in a thousand are rejected, rounded up."""
        span = 1 << self.bits(modulus)
        return -(-1000 * (span - modulus) // span)

    def sieved(self, case: Case) -> RejectionDraws:
        """Return the draws, reduced to at most twelve bits, with the relations of these bits."""
        bits = self.bits(case.modulus)
        used = min(bits, 12)
        draws = np.array(case.draws, np.int64)
        if self.end == "high":
            short, places = draws >> (bits - used), range(32 - used, 32)
        else:
            short, places = draws & ((1 << used) - 1), range(used)
        return RejectionDraws(short, relations(places), self.missing(case.modulus))

    def known(self, draws: NDArray[np.int64], modulus: int) -> tuple[int, NDArray[np.uint32]]:
        """Return the mask of the output bits that draws show, and the values of these bits."""
        bits = self.bits(modulus)
        shift = 32 - bits if self.end == "high" else 0
        return ((1 << bits) - 1) << shift, (draws << shift).astype(np.uint32)


VIEWS = tuple(
    RejectionView(family.name, output, end)
    for family in FAMILIES
    if family.twister is not None and not family.twister.misplaced
    for output, end in family.twister.rejecting.items()
)


class TwisterRejection:
    """The attack on all views."""

    name = "twister-rejection"
    needs_luck = False

    def plan(self, case: Case) -> Sequence[AttackPlan | Gap]:
        """Return a plan or a gap for each view, and gaps for skips that are not covered."""
        entries = [self._plan(case, view) for view in VIEWS if case.is_chosen(view.family)]
        if case.skips[1] == 0:
            return entries
        why = f"any state is covered without skips only, not with {_skips(case)}"
        covered = [entry for entry in entries if isinstance(entry, AttackPlan)]
        return [*entries, *(Gap(self.name, plan.family, plan.output, why) for plan in covered)]

    def _plan(self, case: Case, view: RejectionView) -> AttackPlan | Gap:
        why = _obstacle(case, view)
        if why:
            return Gap(self.name, view.family, view.output, why)
        return AttackPlan(
            attack=self.name,
            family=view.family,
            output=view.output,
            units=1,
            per_task=1,
            tried=1 << twister(False).unknowns,
            cost_ms=COST_MS,
            covers="most states, skip 0, any start, no wrong draw; the more draws, the more",
        )

    def run(self, case: Case, plan: AttackPlan, units: Units) -> Sequence[HypothesisMatch]:
        """Align, solve, and step back to the first draw; return the first consistent state."""
        assert (units.lo, units.hi) == (0, 1), "all work is one unit"
        view = next(v for v in VIEWS if (v.family, v.output) == (plan.family, plan.output))
        for base, draws, outputs in _alignments(view.sieved(case)):
            candidate = _state(case, view, base, draws, outputs)
            if candidate is not None:
                return [candidate]
        return []


def _obstacle(case: Case, view: RejectionView) -> str:
    """Return why the attack does not apply to a case; empty if it does."""
    bits, missing = view.bits(case.modulus), view.missing(case.modulus)
    if view.end == "low" and case.modulus & (case.modulus - 1) == 0:
        return "with a power of two it is the remainder, which is attacked as `mod`"
    if case.skips[0] > 0:
        return f"any state is covered without skips only, not with {_skips(case)}"
    if bits > 32 or bits < LEAST_BITS or missing > (30 if bits < LEAST_BITS + 2 else 50):
        return (
            f"bounds below {case.modulus} drop {missing / 10:g} % of the outputs and show {bits} "
            "bits; any state needs ten bits and at most 3 % dropped, or twelve and 5 %"
        )
    if len(case.draws) < NEEDED:
        return f"any state needs {NEEDED:,} draws, there are {len(case.draws):,}"
    return ""


def _skips(case: Case) -> str:
    return f"{max(1, case.skips[0])} to {case.skips[1]}"


def _alignments(
    sieved: RejectionDraws,
) -> Iterator[tuple[int, NDArray[np.int64], NDArray[np.int64]]]:
    """Yield a base draw, and aligned draws with their outputs, counted from that of the base."""
    apart = sieved.run + 2
    spare = max(0, len(sieved.draws) - NEEDED) // apart
    for base in range(0, (BASES + min(spare, MORE_BASES)) * apart, apart):
        for anchor in anchors(sieved, base):
            path = track(sieved, anchor, STEPS)
            if path is not None:
                yield base, *aligned(sieved, anchor, path)


def _state(
    case: Case, view: RejectionView, base: int, draws: NDArray[np.int64], outputs: NDArray[np.int64]
) -> HypothesisMatch | None:
    """Solve the equations of aligned draws; None if they are inconsistent or too few."""
    forms = twister(False)
    order = np.argsort(outputs, kind="stable")[:OUTPUTS]
    mask, values = view.known(np.array(case.draws, np.int64)[draws[order]], case.modulus)
    masks = np.full(len(order), mask, np.uint32)
    solution = gf2.solve(equations(forms, outputs[order], masks, values), forms.unknowns)
    if not solution.consistent or solution.rank < forms.unknowns:
        return None
    words = _before(case, view, solution.bits, base)
    return None if words is None else _judged(case, view, words)


def _before(case: Case, view: RejectionView, solution: int, base: int) -> list[int] | None:
    """Return the words at draw 0, stepping back from draw `base`; None if a draw differs."""
    forms = twister(False)
    back = 0
    while base:
        back += WORDS
        words = state_words(forms, forms.retreated(solution, back))
        for at in range(WORDS - 1, -1, -1):
            draw = _shown(view, temper(words[at]), case.modulus)
            if draw >= case.modulus:
                continue
            base -= 1
            if draw != case.draws[base]:
                return None
            if base == 0:
                back -= at
                break
    return state_words(forms, forms.retreated(solution, back))


def _shown(view: RejectionView, output: int, modulus: int) -> int:
    """Return the bits of an output that are compared with the bound."""
    bits = view.bits(modulus)
    return output >> (32 - bits) if view.end == "high" else output & ((1 << bits) - 1)


def _judged(case: Case, view: RejectionView, words: list[int]) -> HypothesisMatch:
    state = family_named(view.family).state_text([*words, 0])
    hypothesis = Hypothesis(view.family, view.output, case.modulus, state=state)
    return compare(case, hypothesis, len(case.draws))

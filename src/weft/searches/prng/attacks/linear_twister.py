"""Attack: the whole state of a Mersenne Twister, of any seed and index, from draws alone.

Every draw gives equations (`linear_bits`) in the state's bits (`linear_mersenne`); one unit of
work is one constant skip. The state is the block of 624 words whose first is behind draw 0, so
that the index, the start and the seeding do not matter. A contradiction proves that no state at
all gives these draws with that skip. One wrong draw is a contradiction too: no noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.searches.prng import gf2
from weft.searches.prng.attack import AttackPlan, Case, Gap, HypothesisMatch, Units, best, compare
from weft.searches.prng.attacks.linear_mersenne import (
    WORDS,
    Twister,
    equations,
    state_words,
    twister,
    untemper,
)
from weft.searches.prng.bit_forms import BitReading
from weft.searches.prng.families import FAMILIES, family_named
from weft.searches.prng.hypothesis import Hypothesis, Skips

COST_MS = 2500
"""One elimination on one core."""
WORD_BITS = 32
IN_A_ROW = 2500


@dataclass(frozen=True, slots=True)
class TwisterView:
    """An output map of a twister, as its family declares it."""

    family: str
    output: str
    reading: BitReading
    misplaced: bool

    @property
    def forms(self) -> Twister:
        """The recurrence behind it."""
        return twister(self.misplaced)

    def draws_in_a_row(self, modulus: int) -> int | None:
        """Return how many draws determine the state when no call is skipped between them.

        The rank depends on the positions and on which bits are known alone, so it was measured
        once: with ten or more high bits of every output 2,500 suffice. The ten low bits are tied
        by more relations: 2,720 draws leave 395 unknowns open. Whole outputs are words of the
        state, and one more word than the block has confirms it.
        """
        general = self.draws_needed(modulus)
        bits = self.reading.bits_per_draw(modulus)
        if general is None or self.reading.steps > 1 or modulus & (modulus - 1):
            return general
        if bits == 1000 * WORD_BITS and not self.misplaced:
            return WORDS + 1
        if bits < 10_000 or self.misplaced or self.reading.kind == "low":
            return general
        return min(general, IN_A_ROW)

    def draws_needed(self, modulus: int) -> int | None:
        """Return how many draws determine the state; None where a draw tells nothing certain.

        The bits of neighbouring outputs repeat each other, the more the more of them are known:
        measured, one or two bits hardly do, three by a twenty-seventh, up to twelve by less than
        six tenths, up to all by less than fourteen. More bits than three never need more draws
        than three do.
        """
        bits = self.reading.bits_per_draw(modulus)
        unknowns = self.forms.unknowns
        if bits < 1000:
            return None
        if self.reading.kind == "low" and bits <= 2000:
            return -(-(unknowns + 80) * 1000 // bits)
        of_three = (unknowns + unknowns // 27) // 3
        general = -(-unknowns * (1600 if bits <= 12_000 else 2400) // bits)
        return min(of_three, general) if self.reading.kind == "low" else general


VIEWS = tuple(
    TwisterView(family.name, output, reading, family.twister.misplaced)
    for family in FAMILIES
    if family.twister is not None
    for output, reading in family.twister.outputs.items()
)


class TwisterState:
    """The attack on all views; units are skips, the smallest first."""

    name = "twister-state"
    needs_luck = False

    def plan(self, case: Case) -> Sequence[AttackPlan | Gap]:
        """Say for each view which skips are covered, or how many draws are missing."""
        return [self._plan(case, view) for view in VIEWS]

    def _plan(self, case: Case, view: TwisterView) -> AttackPlan | Gap:
        needed, fewest = view.draws_needed(case.modulus), view.draws_in_a_row(case.modulus)
        if needed is None or fewest is None:
            why = f"draws below {case.modulus} tell no bit of an output for certain"
            return Gap(self.name, view.family, view.output, why)
        row_only = len(case.draws) < needed and case.skips[0] == 0
        asked = fewest if row_only else needed
        if len(case.draws) < asked:
            why = f"any state needs {asked:,} draws, there are {len(case.draws):,}"
            return Gap(self.name, view.family, view.output, why)
        units = 1 if row_only else case.skip_count
        first = fewest if case.skips[0] == 0 else needed
        return AttackPlan(
            attack=self.name,
            family=view.family,
            output=view.output,
            units=units,
            per_task=1,
            tried=units << view.forms.unknowns,
            cost_ms=COST_MS * units,
            covers=f"every state, skips {case.skips[0]} to {case.skips[0] + units - 1}, any start, "
            f"the first {first if units == 1 else needed:,} draws without a wrong one",
        )

    def run(self, case: Case, plan: AttackPlan, units: Units) -> Sequence[HypothesisMatch]:
        """Solve the equations of each skip."""
        view = next(v for v in VIEWS if (v.family, v.output) == (plan.family, plan.output))
        candidates = [
            state_at(case, view, case.skips[0] + unit) for unit in range(units.lo, units.hi)
        ]
        return best([candidate for candidate in candidates if candidate is not None])


def state_at(case: Case, view: TwisterView, skip: int) -> HypothesisMatch | None:
    """Return the one state that gives the draws with a skip; None if there is none."""
    needed, fewest = view.draws_needed(case.modulus), view.draws_in_a_row(case.modulus)
    assert needed is not None
    if skip == 0 and fewest == WORDS + 1:
        return state_of_words(case, view)
    if skip == 0 and fewest is not None and len(case.draws) < needed:
        needed = fewest
    known = [view.reading.known(draw, case.modulus) for draw in case.draws[:needed]]
    matrix = equations(
        view.forms,
        np.arange(needed, dtype=np.int64) * ((skip + 1) * view.reading.steps),
        np.array([bits.mask for bits in known], np.uint32),
        np.array([bits.value for bits in known], np.uint32),
    )
    solution = gf2.solve(matrix, view.forms.unknowns)
    if not solution.consistent or solution.rank < view.forms.unknowns:
        return None
    return judged(case, view, state_words(view.forms, solution.bits), skip)


def state_of_words(case: Case, view: TwisterView) -> HypothesisMatch | None:
    """Return the state whose words the first draws are; None if it misses one of the others."""
    candidate = judged(case, view, [untemper(draw) for draw in case.draws[:WORDS]], 0)
    return candidate if candidate.wrong == 0 else None


def judged(case: Case, view: TwisterView, words: list[int], skip: int) -> HypothesisMatch:
    """Turn the words of a block into a hypothesis and count its hits."""
    family = family_named(view.family)
    state = family.state_text([*words, 0])
    skips = Skips.constant(skip)
    hypothesis = Hypothesis(view.family, view.output, case.modulus, state=state, skips=skips)
    return compare(case, hypothesis, len(case.draws))  # fewer are no evidence for so many bits

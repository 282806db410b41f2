"""Attack: the whole state of a Mersenne Twister, of any seed and index, from draws alone.

Every draw gives equations (`bit_forms`) in the state's bits (`linear_mersenne`); a unit of work is
one constant skip. The state is the block of 624 words that begins with the word of draw 0, so the
index, the start and the seeding do not matter. A contradiction proves that no state gives these
draws with that skip. A single wrong draw is a contradiction too, so noise is not tolerated.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.lazy_imports import lazy_module
from weft.searches.prng import gf2
from weft.searches.prng.attack import AttackPlan, Case, Gap, HypothesisMatch, Units, best, compare
from weft.searches.prng.attacks.linear_mersenne import (
    Twister,
    equations,
    state_words,
    twister,
)
from weft.searches.prng.bit_forms import BitReading
from weft.searches.prng.families import FAMILIES, family_named
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.scoring import STATE_DRAWS

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

COST_MS = 2500
"""Cost of one elimination on one core."""
WORD_BITS = 32


@dataclass(frozen=True, slots=True)
class TwisterView:
    """An output map of a twister, as its family declares it."""

    family: str
    output: str
    reading: BitReading
    misplaced: bool

    @property
    def forms(self) -> Twister:
        """The forms of its recurrence."""
        return twister(self.misplaced)

    def draws_in_a_row(self, modulus: int) -> int | None:
        """Return how many draws determine the state when no call is skipped between them.

        The rank depends only on the positions and on which bits are known, so it was measured once:
        with ten or more high bits of every output, 2,492 draws suffice. The ten low bits are tied
        by more relations: 2,720 draws leave 395 unknowns open.
        """
        general = self.draws_needed(modulus)
        bits = self.reading.bits_per_draw(modulus)
        if general is None or self.reading.steps > 1 or modulus & (modulus - 1):
            return general
        if bits < 10_000 or self.misplaced or self.reading.kind == "low":
            return general
        return min(general, STATE_DRAWS)

    def draws_needed(self, modulus: int) -> int | None:
        """Return how many draws determine the state; None if a draw reveals no bit for certain.

        Known bits of neighbouring outputs are partly redundant, more so the more are known. As
        measured, one or two low bits hardly need extra draws, three need a twenty-seventh more, up
        to twelve less than six tenths more, and beyond that less than fourteen tenths more. With
        more than three bits, no more draws are needed than with three.
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
        """Return a plan or a gap for each view, except if draws are consecutive whole outputs."""
        views = [view for view in VIEWS if case.is_chosen(view.family)]
        return [self._plan(case, view) for view in views if not _is_read_off(case, view)]

    def _plan(self, case: Case, view: TwisterView) -> AttackPlan | Gap:
        needed, fewest = view.draws_needed(case.modulus), view.draws_in_a_row(case.modulus)
        if needed is None or fewest is None:
            why = f"draws below {case.modulus} tell no bit of an output for certain"
            return Gap(self.name, view.family, view.output, why)
        row_only = len(case.draws) < needed and case.skips[0] == 0
        required = fewest if row_only else needed
        if len(case.draws) < required:
            why = f"any state needs {required:,} draws, there are {len(case.draws):,}"
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
            seeding=f"bits of MT19937, {view.reading}, {view.misplaced}",
        )

    def run(self, case: Case, plan: AttackPlan, units: Units) -> Sequence[HypothesisMatch]:
        """Solve the equations of each skip; among calls that show the same bits, keep the best."""
        views = [v for v in VIEWS if (v.family, v.output) in plan.calls]
        views.sort(key=lambda view: plan.calls.index((view.family, view.output)))
        candidates = []
        for skip in range(case.skips[0] + units.lo, case.skips[0] + units.hi):
            words = state_at(case, views[0], skip)
            if words is not None:
                candidates += best([judged(case, view, words, skip) for view in views])[:1]
        return best(candidates)


def _is_read_off(case: Case, view: TwisterView) -> bool:
    """Whether the draws are consecutive whole outputs, which `twister_words` handles."""
    whole = view.reading.steps == 1 and view.reading.bits_per_draw(case.modulus) == 1000 * WORD_BITS
    return whole and case.skips == (0, 0)


def state_at(case: Case, view: TwisterView, skip: int) -> list[int] | None:
    """Return the words of the only state that gives the draws with a skip, or None.

    A zero state is excluded: it stays zero and identifies nothing, and a call that draws again
    would never end.
    """
    needed, fewest = view.draws_needed(case.modulus), view.draws_in_a_row(case.modulus)
    assert needed is not None
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
    words = state_words(view.forms, solution.bits)
    return words if any(words) else None


def judged(case: Case, view: TwisterView, words: list[int], skip: int) -> HypothesisMatch:
    """Turn the words of a block into a hypothesis and count its hits."""
    family = family_named(view.family)
    state = family.state_text([*words, 0])
    skips = Skips.constant(skip)
    hypothesis = Hypothesis(view.family, view.output, case.modulus, state=state, skips=skips)
    return compare(case, hypothesis, len(case.draws))  # fewer are no evidence for so many bits

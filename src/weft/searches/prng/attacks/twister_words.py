"""Attack: the state of a Mersenne Twister from 624 consecutive whole outputs.

No algebra is needed: the tempering is undone word by word, and every further draw must match. This
takes milliseconds, so it is tried before anything else, for all calls that show whole outputs.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.searches.prng.attack import AttackPlan, Case, Gap, HypothesisMatch, Units, compare
from weft.searches.prng.attacks.linear_mersenne import WORDS, untemper
from weft.searches.prng.families import FAMILIES, family_named
from weft.searches.prng.family import Family
from weft.searches.prng.generate import greatest_modulus
from weft.searches.prng.hypothesis import Hypothesis

NAME = "twister-words"
WORD_BITS = 32
NEEDED = WORDS + 1
"""The words of a state, plus one that it must predict."""
COST_MS = 10


class TwisterWords:
    """The attack on all twisters; all work is one unit."""

    name = NAME
    needs_luck = False

    def plan(self, case: Case) -> Sequence[AttackPlan | Gap]:
        """Return a plan or a gap for each call that shows whole outputs; empty for other draws."""
        if case.modulus != 1 << WORD_BITS or case.skips[0] > 0:
            return []
        return [
            _plan(case, family, output)
            for family in case.chosen(FAMILIES)
            if family.twister is not None
            for output in whole_outputs(family)
        ]

    def run(self, case: Case, plan: AttackPlan, units: Units) -> Sequence[HypothesisMatch]:
        """Undo the tempering; reject the state if it misses one of the other draws."""
        assert (units.lo, units.hi) == (0, 1), "all work is one unit"
        words = [untemper(draw) for draw in case.draws[:WORDS]]
        state = family_named(plan.family).state_text([*words, 0])
        guess = Hypothesis(plan.family, plan.output, case.modulus, state=state)
        candidate = compare(case, guess, len(case.draws))  # fewer are no evidence for so many bits
        return [candidate] if candidate.wrong == 0 else []


def whole_outputs(family: Family) -> list[str]:
    """Return the output maps that show whole outputs when draws are below 2^32."""
    readable = [
        output
        for output, reading in family.readings.items()
        if output != "raw"
        and (reading.bits, reading.steps, reading.sharp) == (WORD_BITS, 1, True)
        and greatest_modulus(output) >> WORD_BITS
    ]
    return ["raw", *readable]


def _plan(case: Case, family: Family, output: str) -> AttackPlan | Gap:
    if len(case.draws) < NEEDED:
        why = f"any state needs {NEEDED} draws, there are {len(case.draws):,}"
        return Gap(NAME, family.name, output, why)
    assert family.twister is not None
    return AttackPlan(
        attack=NAME,
        family=family.name,
        output=output,
        units=1,
        per_task=1,
        tried=1 << (WORDS * WORD_BITS),
        cost_ms=COST_MS,
        covers=f"every state, skip 0, any start, the first {NEEDED} draws without a wrong one",
        seeding="words of MT19937" + (", misplaced bit" if family.twister.misplaced else ""),
    )

"""Attack: the state of generators with a few linear words, with skips and wrong draws.

It covers xorshift in all sizes, the low bits of xorshift64*, and V8's Math.random(), whose numbers
come in blocks of 64, so that draws begin at one of 64 places. A unit of work is one constant skip.
The forms are found by running the generator on states with a single bit set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from weft.lazy_imports import lazy_imports, lazy_module
from weft.searches.prng.attack import AttackPlan, Case, Gap, HypothesisMatch, Units, best, compare
from weft.searches.prng.attacks.linear_decode import Observed, choices, decode
from weft.searches.prng.attacks.linear_exact import Forms, output_forms, solve
from weft.searches.prng.bit_forms import BitReading, KnownBits, LinearForm
from weft.searches.prng.families import FAMILIES
from weft.searches.prng.family import Family
from weft.searches.prng.hypothesis import Hypothesis, Skips

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = lazy_module("numpy")

with lazy_imports():
    from weft.searches.prng.kernels import bulk

FEW_OUTPUTS = 128
"""Outputs up to which integers are as fast as compiled code, which takes a second to load."""
WINDOW = 600
"""Maximum number of draws compared."""
MARGIN = 12
"""Equations beyond the unknowns with which a choice of draws nearly always has full rank."""
MOST_CHOICES = 60_000
CHOICE_US = 20
"""Approximate cost of one choice of draws."""


@dataclass(frozen=True, slots=True)
class LinearView:
    """An output map whose known bits are linear in words of the state."""

    generator: Family
    output: str
    reading: BitReading
    form: LinearForm

    @property
    def family(self) -> str:
        """The name of the generator."""
        return self.generator.name

    def unknowns(self) -> int:
        """Return the number of state bits that the outputs depend on."""
        return self.form.words * self.generator.state_word_bits

    def state(self, bits: int) -> list[int]:
        """Return the state whose linear words hold these bits and whose other words are zero."""
        size, count = self.generator.state_word_bits, self.form.words
        filled = [bits >> (size * at) & ((1 << size) - 1) for at in range(count)]
        return [*filled, *([0] * (self.generator.state_words - count))]

    def state_in_block(self, bits: int, begin: int) -> list[int]:
        """Return the state whose words give the number at place `begin` of a block."""
        state = self.state(bits)
        if self.form.block_start is not None:
            state[self.form.words] = self.form.begins - begin
        return state

    def before_block(self, bits: int, begin: int) -> int:
        """Return the bits of the words before the block, for the state at place `begin` in it."""
        state = self.state_in_block(bits, begin)
        if self.form.block_start is not None:
            self.form.block_start(state)
        return self._bits(state)

    def before_blocks(self, bits: int, count: int) -> list[int]:
        """Return `before_block` for the first `count` places, each computed from the next."""
        before = [self.before_block(bits, count - 1)]
        for _ in range(count - 1):
            state = self.state_in_block(before[-1], self.form.begins - 1)
            assert self.form.block_start is not None
            self.form.block_start(state)
            before.append(self._bits(state))
        return before[::-1]

    def _bits(self, state: list[int]) -> int:
        size = self.generator.state_word_bits
        return sum(word << (size * at) for at, word in enumerate(state[: self.form.words]))

    def draws_chosen(self, modulus: int) -> int | None:
        """Return how many draws determine a state; None if they reveal too little."""
        bits = self.reading.bits_per_draw(modulus)
        return -(-(self.unknowns() + MARGIN) * 1000 // bits) if bits >= 500 else None


VIEWS = tuple(
    LinearView(family, output, reading, family.linear)
    for family in FAMILIES
    if family.linear is not None
    for output, reading in family.linear.outputs.items()
)


class LinearExact:
    """The attack on all views from a few correct draws, at the first skip only.

    It takes milliseconds, so it runs before the attack that tolerates wrong draws.
    """

    name = "linear-exact"
    needs_luck = False

    def plan(self, case: Case) -> Sequence[AttackPlan | Gap]:
        """Return the plans of the views that are covered; `LinearWords` reports the others."""
        views = [view for view in VIEWS if case.is_chosen(view.family)]
        return [_exact_plan(case, view) for view in views if _is_exact(case, view)]

    def run(self, case: Case, plan: AttackPlan, units: Units) -> Sequence[HypothesisMatch]:
        """Solve the equations of the first draws."""
        assert (units.lo, units.hi) == (0, 1), "all work is one unit"
        view = _view(plan)
        states = exact_states(view, _known(case, view, _window(case, view)), case.skips[0])
        candidates = [judged(case, view, s, case.skips[0], begin) for begin, s in states]
        return best(_distinct(candidates))


def _exact_plan(case: Case, view: LinearView) -> AttackPlan:
    skip, right = case.skips[0], _window(case, view)
    return AttackPlan(
        attack=LinearExact.name,
        family=view.family,
        output=view.output,
        units=1,
        per_task=1,
        tried=view.form.begins << view.unknowns(),
        cost_ms=5 + view.form.begins * view.unknowns() // 512,
        covers=f"every state, skip {skip}, any start, the first {right} draws without a wrong one",
    )


def _is_exact(case: Case, view: LinearView) -> bool:
    """Whether there are enough draws, close enough together for integers."""
    chosen = view.draws_chosen(case.modulus)
    if chosen is None or len(case.draws) < chosen:
        return False
    return view.form.begins + _window(case, view) * (case.skips[0] + 1) <= FEW_OUTPUTS


def _window(case: Case, view: LinearView) -> int:
    """Return how many draws make a state certain if all of them are correct."""
    chosen = view.draws_chosen(case.modulus)
    assert chosen is not None
    return min(len(case.draws), chosen + MARGIN)


def _known(case: Case, view: LinearView, count: int) -> list[KnownBits]:
    return [view.reading.known(draw, case.modulus) for draw in case.draws[:count]]


def _view(plan: AttackPlan) -> LinearView:
    return next(v for v in VIEWS if (v.family, v.output) == (plan.family, plan.output))


class LinearWords:
    """The attack on all views; units are skips, the smallest first."""

    name = "linear-words"
    needs_luck = False

    def plan(self, case: Case) -> Sequence[AttackPlan | Gap]:
        """Return a plan or a gap for each view, and gaps for maps that are not linear."""
        why = "its outputs are not linear in the state: only seeds that are tried are covered"
        gaps = [
            Gap(self.name, family.name, output, why)
            for family in case.chosen(FAMILIES)
            if family.linear is not None
            for output in family.linear.not_linear
        ]
        views = [view for view in VIEWS if case.is_chosen(view.family)]
        views = [view for view in views if not (_is_exact(case, view) and _is_plain(case))]
        return [*(self._plan(case, view) for view in views), *gaps]

    def _plan(self, case: Case, view: LinearView) -> AttackPlan | Gap:
        chosen = view.draws_chosen(case.modulus)
        if chosen is None:
            why = f"draws below {case.modulus} tell no bit of an output for certain"
            return Gap(self.name, view.family, view.output, why)
        if len(case.draws) < chosen:
            why = f"any state needs {chosen:,} draws, there are {len(case.draws):,}"
            return Gap(self.name, view.family, view.output, why)
        percent, attempts = noise_covered(case, chosen)
        units = case.skip_count
        noise = f"up to {percent} % wrong draws" if percent else "no wrong draw"
        return AttackPlan(
            attack=self.name,
            family=view.family,
            output=view.output,
            units=units,
            per_task=16,
            tried=units * view.form.begins << view.unknowns(),
            cost_ms=units * (20 + attempts * view.form.begins * CHOICE_US // 1000),
            covers=f"every state, skips {case.skips[0]} to {case.skips[1]}, any start, {noise}",
        )

    def run(self, case: Case, plan: AttackPlan, units: Units) -> Sequence[HypothesisMatch]:
        """Decode the draws for each skip and each place in a block."""
        view = _view(plan)
        skips = range(case.skips[0] + units.lo, case.skips[0] + units.hi)
        return best([candidate for skip in skips for candidate in states_at(case, view, skip)])


def _is_plain(case: Case) -> bool:
    """Whether only one skip and no wrong draws are requested."""
    return case.skip_count == 1 and case.corrupt_percent == 0


def noise_covered(case: Case, chosen: int) -> tuple[int, int]:
    """Return the percentage of wrong draws covered, up to that requested, and the choices."""
    window = min(WINDOW, len(case.draws))
    for percent in range(case.corrupt_percent, 0, -1):
        attempts = choices(window, percent, chosen)
        if attempts is not None and attempts <= MOST_CHOICES:
            return percent, attempts
    return 0, 1


def states_at(case: Case, view: LinearView, skip: int) -> list[HypothesisMatch]:
    """Return the best matches of states that explain the draws with a skip."""
    chosen = view.draws_chosen(case.modulus)
    assert chosen is not None
    percent, attempts = noise_covered(case, chosen)
    known = _known(case, view, _window(case, view) if percent == 0 else WINDOW)
    allowed = case.wrong_allowed(len(known)) if percent else 0
    states = decoded_states(view, known, skip, allowed, attempts)
    return _distinct([judged(case, view, state, skip, begin) for begin, state in states])


def exact_states(view: LinearView, known: Sequence[KnownBits], skip: int) -> list[tuple[int, int]]:
    """Return (place in a block, state) for each place at which one state gives all draws."""
    positions = range(0, len(known) * (skip + 1), skip + 1)
    within = max(1, view.form.begins - positions[-1])
    """Number of places from which all draws are in one block and so satisfy the same equations."""
    words = words_at(view, known, positions, 0)
    if words is not None:
        return list(enumerate(view.before_blocks(words, within)))
    later = range(within, view.form.begins)
    solved = [(begin, words_at(view, known, positions, begin)) for begin in later]
    return [(begin, view.before_block(w, begin)) for begin, w in solved if w is not None]


def words_at(
    view: LinearView, known: Sequence[KnownBits], positions: Sequence[int], begin: int
) -> int | None:
    """Return the bits of the first draw's words if it is at place `begin`; None if nothing fits."""
    forms = forms_at(view.family, view.output, begin, positions[-1] + 1)
    return solve([forms[at] for at in positions], known, view.unknowns())


@lru_cache(maxsize=256)
def forms_at(family: str, output: str, begin: int, count: int) -> list[Forms]:
    """Return the forms of outputs from a place in a block on, the same for all histories."""
    view = next(v for v in VIEWS if (v.family, v.output) == (family, output))
    basis = [view.state_in_block(1 << at, begin) for at in range(view.unknowns())]
    return output_forms(view.generator, basis, count)


def decoded_states(
    view: LinearView, known: Sequence[KnownBits], skip: int, allowed: int, attempts: int
) -> list[tuple[int, int]]:
    """Return the same as `exact_states`, with `allowed` wrong draws, by compiled code."""
    masks = np.array([bits.mask for bits in known], np.uint64)
    values = np.array([bits.value for bits in known], np.uint64)
    outputs = basis_outputs(view, np.arange(len(known)) * (skip + 1))
    states = []
    for begin in range(view.form.begins):
        forms = np.ascontiguousarray(outputs[:, begin].T)
        state = decode(Observed(forms, masks, values), allowed, attempts)
        if state is not None:
            states.append((begin, state))
    return states


def _distinct(candidates: list[HypothesisMatch]) -> list[HypothesisMatch]:
    """Keep the best matches: adjacent places in a block explain nearly the same draws."""
    most = max((candidate.hits for candidate in candidates), default=0)
    return [candidate for candidate in candidates if candidate.hits == most]


def basis_outputs(view: LinearView, positions: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return the outputs of every state with a single bit set, bit 0 of word 0 first.

    They are taken at the positions, counted from each place in a block: `[bit, place, draw]`.
    """
    places = np.arange(view.form.begins)[:, None] + positions
    outputs = np.empty((view.unknowns(), *places.shape), np.uint64)
    count = int(places[-1, -1]) + 1
    for at in range(view.unknowns()):
        outputs[at] = bulk.words(view.generator, view.state(1 << at), count)[places]
    return outputs


def judged(case: Case, view: LinearView, bits: int, skip: int, begin: int) -> HypothesisMatch:
    """Turn a state into a hypothesis and count its hits in the window."""
    state = view.generator.state_text(view.state(bits))
    hypothesis = Hypothesis(
        view.family, view.output, case.modulus, state=state, skips=Skips.constant(skip), start=begin
    )
    return compare(case, hypothesis, WINDOW)

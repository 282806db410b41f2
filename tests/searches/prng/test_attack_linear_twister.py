"""The state of a Mersenne Twister from draws: planted, contradicted, and against CPython's own."""

from __future__ import annotations

import random
from types import SimpleNamespace

import numpy as np
import pytest

from weft.searches.prng.attack import AttackPlan, Case, Gap, HypothesisMatch, Units
from weft.searches.prng.attacks import linear_twister
from weft.searches.prng.attacks.linear_mersenne import (
    equations,
    state_words,
    temper,
    twister,
)
from weft.searches.prng.attacks.linear_twister import VIEWS, TwisterState, TwisterView
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.scoring import split

ATTACK = TwisterState()


def _plan(case: Case, view: TwisterView) -> AttackPlan | Gap:
    plans = ATTACK.plan(case)
    return next(p for p in plans if (p.family, p.output) == (view.family, view.output))


def _attack(case: Case, view: TwisterView) -> list[HypothesisMatch]:
    plan = _plan(case, view)
    assert isinstance(plan, AttackPlan), plan
    return [
        candidate for lo, hi in plan.ranges() for candidate in ATTACK.run(case, plan, Units(lo, hi))
    ]


def _view(family: str, output: str) -> TwisterView:
    return next(v for v in VIEWS if (v.family, v.output) == (family, output))


@pytest.mark.slow
def test_state_is_found_from_2500_draws_of_ten_high_bits() -> None:
    source = random.Random("a state that no 32-bit seed gives")
    draws = [source.getrandbits(10) for _ in range(2550)]
    train, holdout = split(draws[:2500], 1024)
    (candidate,) = _attack(Case(train, 1024, skips=(0, 3)), _view("cpython", "high"))
    assert generate(candidate.hypothesis, 2550) == draws
    assert len(holdout) == 8


@pytest.mark.parametrize("misplaced", [False, True])
def test_equations_are_the_forms_of_the_plain_definition(misplaced: bool) -> None:
    forms = twister(misplaced)
    positions = np.array([0, 1, 2, 511, 1024, 1700], np.int64)
    masks = np.full(6, 0x80000005, np.uint32)
    matrix = equations(forms, positions, masks, masks)
    outputs = forms.output_bits()
    expected = [
        forms.advanced(outputs[bit], int(at)) | 1 << forms.unknowns
        for at in positions
        for bit in (0, 2, 31)
    ]
    assert [int.from_bytes(row.astype("<u8").tobytes(), "little") for row in matrix] == expected


@pytest.mark.parametrize("misplaced", [False, True])
def test_forms_of_a_running_generator_give_its_words_and_its_next_outputs(misplaced: bool) -> None:
    words = _recurrence(624 + 20_000, misplaced)[624:]
    forms = twister(misplaced)
    bits = sum((word >> 31) << at for at, word in enumerate(words[: forms.unknowns]))
    assert state_words(forms, bits) == words[:624]
    outputs = forms.output_bits()
    for bit in (0, 1, 22, 31):
        form = forms.advanced(outputs[bit], 700)
        assert (form & bits).bit_count() & 1 == temper(words[700]) >> bit & 1


def _recurrence(count: int, misplaced: bool) -> list[int]:
    words = [random.Random(4).getrandbits(32) for _ in range(624)]
    for at in range(count - 624):
        joined = words[at] & 0x80000000 | words[at + 1] & 0x7FFFFFFF
        tested = words[at] if misplaced else words[at + 1]
        words.append(words[at + 397] ^ joined >> 1 ^ (tested & 1) * 0x9908B0DF)
    return words


def test_state_from_remainders_of_cpython_predicts_two_thousand_draws() -> None:
    """Checked against CPython's generator in the middle of a block, seeded from many words."""
    source = random.Random(2**700 + 12345)
    _ = [source.random() for _ in range(1000)]
    draws = [source.getrandbits(32) % 1000 for _ in range(6900 + 2000)]
    (candidate,) = _attack(Case(tuple(draws[:6900]), 1000, (0, 0)), _view("mt19937", "mod"))
    assert (candidate.hits, candidate.compared) == (6900, 6900)
    assert generate(candidate.hypothesis, 8900) == draws


def test_state_with_one_wrong_draw_is_proved_absent() -> None:
    source = random.Random(5)
    draws = [source.getrandbits(32) % 1000 for _ in range(6900)]
    draws[4321] ^= 1
    assert _attack(Case(tuple(draws), 1000, (0, 0)), _view("mt19937", "mod")) == []


def test_state_of_php_before_71_with_skip_is_found() -> None:
    _planted(_view("php_mt_legacy", "mod"), skip=2, start=1000, skips=(2, 2))


def _planted(
    view: TwisterView, skip: int, start: int, skips: tuple[int, int], modulus: int = 1000
) -> None:
    needed = view.draws_needed(modulus)
    assert needed is not None
    model = Skips.constant(skip)
    truth = Hypothesis(view.family, view.output, modulus, seed=77, skips=model, start=start)
    draws = generate(truth, needed + 500)
    (candidate,) = _attack(Case(tuple(draws[:needed]), modulus, skips), view)
    assert candidate.hypothesis.skips == model
    assert generate(candidate.hypothesis, needed + 500) == draws


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS, ids=lambda view: f"{view.family}-{view.output}")
@pytest.mark.parametrize("skip", [0, 1, 7, 137])
@pytest.mark.parametrize("start", [0, 1000])
def test_planted_state_over_the_coverage_is_found(view: TwisterView, skip: int, start: int) -> None:
    _planted(view, skip, start, (skip, skip))


@pytest.mark.slow
@pytest.mark.parametrize("modulus", [2, 4, 6, 10, 16, 32, 96, 100, 256, 2**16, 10**6, 2**31])
@pytest.mark.parametrize("output", ["mod", "high"])
def test_planted_state_of_any_modulus_is_found_or_a_gap(modulus: int, output: str) -> None:
    """At modulus 2^31, few outputs show all bits but one, and these are the most redundant."""
    _planted(_view("mt19937", output), 0, 5, (0, 0), modulus)


def test_plan_too_few_draws_says_how_many_are_needed() -> None:
    plan = _plan(Case((1,) * 500, 1000), _view("mt19937", "mod"))
    assert isinstance(plan, Gap)
    assert plan.why == "any state needs 6,891 draws, there are 500"


def test_plan_odd_modulus_is_a_gap_for_remainders_and_covered_for_high_bits() -> None:
    case = Case((1,) * 9000, 999)
    assert isinstance(_plan(case, _view("mt19937", "mod")), Gap)
    assert isinstance(_plan(case, _view("mt19937", "high")), AttackPlan)


def test_plan_units_tile_the_skips_in_order() -> None:
    plan = _plan(Case((1,) * 7000, 1000, (3, 9)), _view("php_mt", "mod"))
    assert isinstance(plan, AttackPlan)
    assert plan.ranges() == [(unit, unit + 1) for unit in range(7)]


def test_state_of_zeros_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long history of zeros has this state, and libstdc++'s distribution never returned on it."""
    solution = SimpleNamespace(consistent=True, rank=10**6, bits=None)
    monkeypatch.setattr(linear_twister, "equations", lambda *_: None)
    monkeypatch.setattr(linear_twister.gf2, "solve", lambda *_: solution)
    monkeypatch.setattr(linear_twister, "state_words", lambda *_: [0] * 624)
    case = Case((0,) * 8000, 1000, (0, 0), (0, 0), 0)
    (view, *_) = [v for v in linear_twister.VIEWS if v.output == "bounded"]
    assert linear_twister.state_at(case, view, 0) is None

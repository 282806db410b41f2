"""States of small linear generators: planted with skips and noise, and by exhaustive search."""

from __future__ import annotations

import json
import random
import subprocess
from collections.abc import Callable

import numpy as np
import pytest

from weft.searches.prng.attack import AttackPlan, Case, Gap, HypothesisMatch, Units
from weft.searches.prng.attacks import attack_named
from weft.searches.prng.attacks.linear_decode import Observed, choices, decode
from weft.searches.prng.attacks.linear_words import (
    VIEWS,
    LinearExact,
    LinearView,
    LinearWords,
    decoded_states,
    exact_states,
)
from weft.searches.prng.bit_forms import BitReading
from weft.searches.prng.families import family_named
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis, Skips

ATTACK = LinearWords()
WHOLE = 1 << 32
NAMES = [f"{view.family}-{view.output}" for view in VIEWS]


def _view(family: str, output: str) -> LinearView:
    return next(v for v in VIEWS if (v.family, v.output) == (family, output))


def _plan(case: Case, view: LinearView) -> AttackPlan | Gap:
    plans = [*ATTACK.plan(case), *LinearExact().plan(case)]
    return next(p for p in plans if (p.family, p.output) == (view.family, view.output))


def _attack(case: Case, view: LinearView) -> list[HypothesisMatch]:
    plan = _plan(case, view)
    assert isinstance(plan, AttackPlan), plan
    attack = attack_named(plan.attack)
    return [
        candidate for lo, hi in plan.ranges() for candidate in attack.run(case, plan, Units(lo, hi))
    ]


def _planted(view: LinearView, skip: int, start: int, percent: int, skips: tuple[int, int]) -> None:
    noise = random.Random(f"{view.family} {view.output} {skip} {start} {percent}")
    seed = noise.getrandbits(64) | 1
    model = Skips.constant(skip)
    truth = Hypothesis(view.family, view.output, 1000, seed=seed, skips=model, start=start)
    clean = generate(truth, 700)
    drawn = clean[:600]
    for at in noise.sample(range(600), 6 * percent):
        drawn[at] = (drawn[at] + noise.randrange(1, 1000)) % 1000
    candidates = _attack(Case(tuple(drawn), 1000, skips, corrupt_percent=percent), view)
    assert candidates
    assert all(candidate.hypothesis.skips == model for candidate in candidates)
    assert candidates[0].hits == 600 - 6 * percent
    assert generate(candidates[0].hypothesis, 700) == clean


@pytest.mark.parametrize("view", VIEWS, ids=NAMES)
def test_planted_state_without_noise_is_found_among_skips(view: LinearView) -> None:
    _planted(view, skip=5, start=60, percent=0, skips=(4, 6))


@pytest.mark.parametrize(
    ("family", "output", "percent"),
    [("xorshift64", "mod", 10), ("xorshift128", "mod", 5), ("v8", "scaled", 10)],
)
def test_planted_state_with_wrong_draws_is_found(family: str, output: str, percent: int) -> None:
    _planted(_view(family, output), skip=0, start=45, percent=percent, skips=(0, 0))


@pytest.mark.slow
@pytest.mark.parametrize("view", VIEWS, ids=NAMES)
@pytest.mark.parametrize("skip", [0, 1, 7, 137])
@pytest.mark.parametrize("start", [0, 1000])
@pytest.mark.parametrize("percent", [0, 5, 10])
def test_planted_state_over_the_coverage_is_found(
    view: LinearView, skip: int, start: int, percent: int
) -> None:
    _planted(view, skip, start, percent, (skip, skip))


@pytest.mark.parametrize("view", VIEWS, ids=NAMES)
def test_random_draws_give_no_state(view: LinearView) -> None:
    noise = random.Random(9)
    draws = tuple(noise.randrange(1000) for _ in range(200))
    assert _attack(Case(draws, 1000, (0, 1), corrupt_percent=0), view) == []


@pytest.mark.parametrize("view", VIEWS, ids=NAMES)
def test_views_bits_said_to_be_linear_are_linear(view: LinearView) -> None:
    """After some steps, f(a ^ b) = f(a) ^ f(b) in every bit that a draw below 2^20 may fix."""
    family = family_named(view.family)
    noise = random.Random(2)
    mask = view.reading.known(0, 1 << 20).mask
    size = family.state_word_bits

    def bits_after(words: list[int], steps: int) -> int:
        state = [*words, *([0] * (family.state_words - view.form.words))]
        return [family.step(state) for _ in range(steps)][-1] & mask

    for steps in (1, 2, 65):
        a = [noise.getrandbits(size) for _ in range(view.form.words)]
        b = [noise.getrandbits(size) for _ in range(view.form.words)]
        both = [x ^ y for x, y in zip(a, b, strict=True)]
        assert bits_after(both, steps) == bits_after(a, steps) ^ bits_after(b, steps)


def test_state_of_node_math_random_predicts_a_hundred_draws(
    require_tool: Callable[[str], str],
) -> None:
    script = """
    for (let i = 0; i < 37; i++) Math.random();
    console.log(JSON.stringify(Array.from({length: 400}, () => Math.floor(Math.random() * 1000))))
    """
    result = subprocess.run(
        [require_tool("node"), "-e", script], capture_output=True, text=True, check=True
    )
    draws = json.loads(result.stdout)
    candidates = _attack(
        Case(tuple(draws[:300]), 1000, (0, 2), corrupt_percent=5), _view("v8", "scaled")
    )
    assert generate(candidates[0].hypothesis, 400) == draws


def _toy(state: int, count: int) -> list[int]:
    """xorshift with 12 bits of state and shifts 1, 5, 4."""
    out = []
    for _ in range(count):
        state ^= (state << 1) & 0xFFF
        state ^= state >> 5
        state ^= (state << 4) & 0xFFF
        out.append(state)
    return out


@pytest.mark.parametrize("wrong", [0, 3, 6])
def test_decode_toy_generator_agrees_with_trying_every_state(wrong: int) -> None:
    noise = random.Random(wrong)
    drawn = [word & 3 for word in _toy(0xABC, 40)]
    for at in noise.sample(range(40), wrong):
        drawn[at] ^= 1 + noise.randrange(3)
    forms = np.array([_toy(1 << at, 40) for at in range(12)], np.uint64).T.copy()
    observed = Observed(forms, np.full(40, 3, np.uint64), np.array(drawn, np.uint64))
    explaining = [s for s in range(1 << 12) if _misses(s, drawn) <= wrong]
    assert [decode(observed, wrong, 3000)] == explaining == [0xABC]
    assert wrong == 0 or decode(observed, wrong - 1, 300) is None


def _misses(state: int, drawn: list[int]) -> int:
    return sum(word & 3 != draw for word, draw in zip(_toy(state, 40), drawn, strict=True))


def test_choices_more_noise_or_more_draws_chosen_need_more() -> None:
    assert choices(600, 0, 44) == 1
    few, more, most = choices(600, 5, 22), choices(600, 10, 22), choices(600, 10, 44)
    assert few is not None
    assert more is not None
    assert most is not None
    assert few < more < most
    assert choices(20, 100, 5) is None


@pytest.mark.parametrize(
    ("reading", "modulus", "draw", "mask", "value"),
    [
        (BitReading("low", 32), 1000, 437, 0b111, 0b101),
        (BitReading("low", 32, dropped=1), 1000, 437, 0b1110, 0b1010),
        (BitReading("low", 64, linear_bits=3), 4096, 0xFFF, 0b111, 0b111),
        (BitReading("low", 32), 999, 5, 0, 0),
        (BitReading("high", 8), 4, 2, 0b11000000, 0b10000000),
        (BitReading("high", 8), 3, 1, 0, 0),
        (BitReading("high", 8), 10, 0, 0b11100000, 0),
    ],
)
def test_reading_known_bits(
    reading: BitReading, modulus: int, draw: int, mask: int, value: int
) -> None:
    known = reading.known(draw, modulus)
    assert (known.mask, known.value) == (mask, value)


@pytest.mark.parametrize("modulus", [3, 10, 37, 100])
def test_reading_high_bits_hold_for_every_word(modulus: int) -> None:
    reading = BitReading("high", 10)
    for word in range(1 << 10):
        known = reading.known(word * modulus >> 10, modulus)
        assert word & known.mask == known.value


def test_plan_says_how_many_draws_are_needed_and_how_much_noise_is_covered() -> None:
    few = _plan(Case((1,) * 10, 1000), _view("xorshift64", "mod"))
    assert isinstance(few, Gap)
    assert few.why == "any state needs 26 draws, there are 10"
    short = _plan(Case((1,) * 100, 1000), _view("xorshift128", "mod"))
    assert isinstance(short, AttackPlan)
    assert "up to 4 % wrong draws" in short.covers
    full = _plan(Case((1,) * 600, 1000), _view("xorshift64", "mod"))
    assert isinstance(full, AttackPlan)
    assert "up to 10 % wrong draws" in full.covers


@pytest.mark.parametrize("view", VIEWS, ids=NAMES)
@pytest.mark.parametrize(("skip", "start"), [(0, 0), (0, 61), (2, 3), (2, 60)])
def test_integers_and_compiled_code_give_the_same_states(
    view: LinearView, skip: int, start: int
) -> None:
    chosen = view.draws_chosen(WHOLE)
    assert chosen is not None
    skips = Skips.constant(skip)
    truth = Hypothesis(view.family, view.output, WHOLE, seed=4711, skips=skips, start=start)
    draws = generate(truth, min(chosen + 4, 40))
    known = [view.reading.known(draw, WHOLE) for draw in draws]
    states = exact_states(view, known, skip)
    assert states == decoded_states(view, known, skip, 0, 1)
    assert states or chosen > len(draws)
    bent = [*known[:-1], view.reading.known(draws[-1] ^ 1, WHOLE)]
    assert exact_states(view, bent, skip) == decoded_states(view, bent, skip, 0, 1) == []

"""The state of a twister from 624 whole outputs: CPython's own, and those of every family."""

from __future__ import annotations

import random

import pytest

from weft.searches.prng.attack import AttackPlan, Case, Gap, Units
from weft.searches.prng.attacks.linear_mersenne import temper, untemper
from weft.searches.prng.attacks.linear_twister import TwisterState
from weft.searches.prng.attacks.twister_words import NAME, NEEDED, TwisterWords
from weft.searches.prng.families import FAMILIES
from weft.searches.prng.generate import generate
from weft.searches.prng.history import History
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.planning import EXACT_MS, make_plans, waves
from weft.searches.prng.request import AnalyseRequest
from weft.searches.prng.scoring import HOLDOUT_WORDS, split

ATTACK = TwisterWords()
WHOLE = 1 << 32
TWISTERS = [family.name for family in FAMILIES if family.twister is not None]


def _running_words(count: int) -> tuple[int, ...]:
    """Outputs of CPython from the middle of a block, seeded from many words."""
    source = random.Random(2**200 + 77)
    for _ in range(1000):
        source.getrandbits(32)
    return tuple(source.getrandbits(32) for _ in range(count))


def test_untempered_output_is_the_word_that_gives_it() -> None:
    source = random.Random(5)
    bits = [1 << bit for bit in range(32)]
    for word in [0, 1, 0xFFFFFFFF, *bits, *(source.getrandbits(32) for _ in range(500))]:
        assert untemper(temper(word)) == word


def test_words_of_a_running_generator_give_its_state_without_algebra() -> None:
    words = _running_words(NEEDED + 700)
    case = Case(words[:NEEDED], WHOLE, skips=(0, 3), corrupt_percent=0)
    for plan in ATTACK.plan(case):
        assert isinstance(plan, AttackPlan)
        if plan.family != "php_mt_legacy":
            (candidate,) = ATTACK.run(case, plan, Units(0, 1))
            assert tuple(generate(candidate.hypothesis, NEEDED + 700)) == words
    wrong = (*words[: NEEDED - 1], words[NEEDED - 1] ^ 1)
    assert ATTACK.run(Case(wrong, WHOLE), plan, Units(0, 1)) == []


@pytest.mark.parametrize("name", TWISTERS)
def test_words_of_every_twister_give_its_state(name: str) -> None:
    draws = generate(Hypothesis(name, "raw", WHOLE, seed=77, start=1000), NEEDED + 50)
    case = Case(tuple(draws[:NEEDED]), WHOLE)
    (plan,) = [p for p in ATTACK.plan(case) if (p.family, p.output) == (name, "raw")]
    assert isinstance(plan, AttackPlan)
    (candidate,) = ATTACK.run(case, plan, Units(0, 1))
    assert generate(candidate.hypothesis, NEEDED + 50) == draws


def test_plan_needs_whole_words_in_a_row_and_says_how_many() -> None:
    gap = ATTACK.plan(Case((1,) * (NEEDED - 1), WHOLE))[0]
    assert isinstance(gap, Gap)
    assert gap.why == "any state needs 625 draws, there are 624"
    assert ATTACK.plan(Case((1,) * NEEDED, WHOLE, skips=(1, 2))) == []
    assert ATTACK.plan(Case((1,) * NEEDED, 1 << 31)) == []


def test_whole_words_in_a_row_are_not_attacked_by_algebra_too() -> None:
    in_a_row = TwisterState().plan(Case((1,) * 3000, WHOLE, skips=(0, 0)))
    assert not {("mt19937", "mod"), ("mt19937", "high")} & {(p.family, p.output) for p in in_a_row}
    with_skips = TwisterState().plan(Case((1,) * 3000, WHOLE, skips=(0, 2)))
    assert "high" in {plan.output for plan in with_skips if isinstance(plan, AttackPlan)}


@pytest.mark.parametrize("family", ["mt19937", "cpython", "php_mt_52"])
def test_named_family_alone_has_the_state_attack_and_it_is_tried_first(family: str) -> None:
    """Eight of 633 words are held back; chance hits them all once in 2^256."""
    history = History(_running_words(633))
    assert len(split(history.draws, WHOLE)[1]) == HOLDOUT_WORDS
    plans, _ = make_plans(history, AnalyseRequest(WHOLE, (family,)))
    ((first, lo, hi),) = waves(plans)[0]
    assert (plans[first].plan.attack, plans[first].plan.family, lo, hi) == (NAME, family, 0, 1)
    assert plans[first].plan.cost_ms <= EXACT_MS


def test_state_is_solved_for_once_whoever_has_it() -> None:
    history = History((1,) * 9000)
    plans, _ = make_plans(history, AnalyseRequest(1000, skips=(0, 0)))
    solved = [planned.plan for planned in plans if planned.plan.attack == TwisterState.name]
    calls = [call for plan in solved for call in plan.calls]
    assert len(calls) == len(set(calls))
    assert {("mt19937", "mod"), ("cpython", "mod")} <= set(calls)
    assert len({plan.seeding for plan in solved}) == len(solved)

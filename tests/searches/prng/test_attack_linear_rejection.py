"""States behind draws with rejection, checked against CPython's and NumPy's own generators."""

from __future__ import annotations

import random
from functools import lru_cache
from itertools import pairwise, product

import numpy as np
import pytest

from weft.searches.prng.attack import AttackPlan, Case, Gap, Units
from weft.searches.prng.attacks.linear_align import RejectionDraws, aligned, anchors, track
from weft.searches.prng.attacks.linear_mersenne import twister
from weft.searches.prng.attacks.linear_rejection import VIEWS, TwisterRejection
from weft.searches.prng.attacks.linear_relations import Relations, relations
from weft.searches.prng.generate import generate

ATTACK = TwisterRejection()
NUMPY, CPYTHON = VIEWS


@lru_cache
def _history(seed: int, count: int, bound: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Draws of CPython below a bound, and the indices of the outputs they came from."""
    source = random.Random(seed)
    _ = [source.random() for _ in range(50 + seed)]
    bits, at = bound.bit_length(), 0
    draws: list[int] = []
    outputs: list[int] = []
    while len(draws) < count:
        word = source.getrandbits(bits)
        if word < bound:
            draws.append(word)
            outputs.append(at)
        at += 1
    return tuple(draws), tuple(outputs)


@pytest.mark.parametrize("bits", [range(22, 32), range(10), range(20, 32)])
def test_relations_hold_for_every_state_and_are_as_many_as_counted(bits: range) -> None:
    relation_set = relations(bits)
    assert relation_set.count >= min(4 * len(bits) - 36, 10)
    source = random.Random(8)
    words = [source.getrandbits(32) >> bits[0] & ((1 << len(bits)) - 1) for _ in range(3000)]
    for base in range(500):
        total = 0
        for place, lag in enumerate(relation_set.lags):
            total ^= int(relation_set.tables[place, words[base + lag]])
        assert total == 0


def test_anchors_small_lags_are_those_that_trying_all_finds() -> None:
    noise = np.random.default_rng(3)
    tables = noise.integers(0, 32, (7, 4))
    tables[:, 2:] = tables[:, :2]
    sieved = RejectionDraws(
        noise.integers(0, 4, 200), Relations(5, (0, 3, 5, 7, 9, 11, 14), tables), 24
    )
    places = [sieved.candidates(40, lag) for lag in sieved.relations.lags]
    expected = [
        chosen
        for chosen in product([40], *(place.tolist() for place in places[1:]))
        if all(a < b for a, b in pairwise(chosen)) and _fits(sieved, chosen)
    ]
    assert sorted(anchors(sieved, 40)) == expected


def _fits(sieved: RejectionDraws, chosen: tuple[int, ...]) -> bool:
    for step in range(sieved.run):
        total = 0
        for place, at in enumerate(chosen):
            total ^= int(sieved.relations.tables[place, sieved.draws[at + step]])
        if total:
            return False
    return True


def test_alignment_true_anchor_gives_true_outputs_and_false_ones_die() -> None:
    """The test below takes all steps of a walk; these are enough to reject false anchors."""
    draws, outputs = _history(3, 6300, 1000)
    sieved = CPYTHON.sieved(Case(draws, 1000))
    followed = 0
    for base in range(0, 54, 18):
        for anchor in anchors(sieved, base):
            gaps = [outputs[at] - outputs[base] for at in anchor]
            path = track(sieved, anchor, 800)
            assert (path is not None) == (gaps == list(sieved.relations.lags))
            if path is not None:
                places, differences = aligned(sieved, anchor, path)
                assert len(places) > 750
                assert [outputs[at] - outputs[base] for at in places] == differences.tolist()
                followed += 1
    assert followed


def test_state_of_randrange_predicts_what_comes_after_its_draws() -> None:
    source = random.Random(2**500 + 77)
    _ = [source.random() for _ in range(333)]
    draws = [source.randrange(1000) for _ in range(7000)]
    case = Case(tuple(draws[:6300]), 1000)
    plan = ATTACK.plan(case)[VIEWS.index(CPYTHON)]
    assert isinstance(plan, AttackPlan)
    (candidate,) = ATTACK.run(case, plan, Units(0, 1))
    assert (candidate.hits, candidate.compared) == (6300, 6300)
    assert generate(candidate.hypothesis, 7000) == draws


@pytest.mark.slow
@pytest.mark.parametrize("bound", [1000, 1010, 2000, 4000, 10**6, 2**31 - 1])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_state_of_randrange_over_the_coverage_is_found(bound: int, seed: int) -> None:
    draws, _ = _history(seed, 6800, bound)
    case = Case(draws[:6300], bound)
    plan = ATTACK.plan(case)[VIEWS.index(CPYTHON)]
    assert isinstance(plan, AttackPlan)
    (candidate,) = ATTACK.run(case, plan, Units(0, 1))
    assert tuple(generate(candidate.hypothesis, 6800)) == draws


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_state_of_numpy_randint_is_found(seed: int) -> None:
    draws = np.random.RandomState(seed).randint(0, 1000, 9500).tolist()
    case = Case(tuple(draws[:9000]), 1000)
    plan = ATTACK.plan(case)[VIEWS.index(NUMPY)]
    assert isinstance(plan, AttackPlan)
    (candidate,) = ATTACK.run(case, plan, Units(0, 1))
    assert generate(candidate.hypothesis, 9500) == draws


@pytest.mark.slow
def test_random_draws_give_no_state() -> None:
    source = random.SystemRandom()
    case = Case(tuple(source.randrange(1000) for _ in range(6300)), 1000)
    for plan in ATTACK.plan(case)[:2]:
        assert isinstance(plan, AttackPlan)
        assert ATTACK.run(case, plan, Units(0, 1)) == []


@pytest.mark.parametrize(
    ("case", "part"),
    [
        (Case((1,) * 6299, 1000), "any state needs 6,300 draws, there are 6,299"),
        (Case((1,) * 9000, 100), "drop 21.9 % of the outputs and show 7 bits"),
        (Case((1,) * 9000, 1024), "drop 50 % of the outputs and show 11 bits"),
        (Case((1,) * 9000, 990_000), "drop 5.6 % of the outputs and show 20 bits"),
        (Case((1,) * 9000, 1000, skips=(1, 4)), "without skips only, not with 1 to 4"),
    ],
)
def test_plan_says_what_is_not_covered(case: Case, part: str) -> None:
    gap = ATTACK.plan(case)[VIEWS.index(CPYTHON)]
    assert isinstance(gap, Gap)
    assert part in gap.why


def test_retreated_undoes_a_step_of_the_recurrence() -> None:
    forms = twister(False)
    later = random.Random(1).getrandbits(forms.unknowns)
    before = forms.retreated(later, 3)
    assert before >> 3 == later & ((1 << (forms.unknowns - 3)) - 1)
    for at in range(3):  # the polynomial predicts the unknowns that were shifted out
        form = forms.advanced(1 << (forms.unknowns - 1), at + 1)
        assert (form & before).bit_count() & 1 == later >> (forms.unknowns - 3 + at) & 1

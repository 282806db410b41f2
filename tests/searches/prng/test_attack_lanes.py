"""The low-lane split finds every planted state, as the plain search over all states does."""

from __future__ import annotations

import random
from dataclasses import replace

import pytest

from tests.searches.prng.planted import (
    GRID,
    chance,
    corrupted,
    plan_for,
    planted,
    predicts,
    recorded,
    run_all,
)
from weft.searches.prng.attack import AttackPlan, Case, Gap, Units
from weft.searches.prng.attacks import lanes_search
from weft.searches.prng.attacks.lanes import ATTACK, window_at, window_of
from weft.searches.prng.attacks.lanes_search import (
    Fit,
    LaneWindow,
    StateSplit,
    anchors_for,
    fitting_lanes,
    lcg_form,
    search,
    state_before,
)
from weft.searches.prng.families import FAMILIES
from weft.searches.prng.forms import LcgForm
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Skips
from weft.searches.prng.linear import affine_power

SHAPES = [pytest.param(family, shape, id=f"{shape.family}-{shape.output}")
          for family in FAMILIES for shape in family.lcg_forms]  # fmt: skip
QUICK = [shape for shape in SHAPES if shape.id != "java-abslong"]
"""All but the one that tries 2^31 states for an anchor; `make chaos` includes it."""
SMALL = [
    LcgForm("small", "low", 0x6D5, 0xB3, dropped=5, width=8),
    LcgForm("small", "signed", 0x2A5, 0x1D, dropped=3, width=10, signed=True),
    LcgForm("small", "whole", 0x1365, 0x7, dropped=0, width=12),
    LcgForm("small", "absolute", 0x1365, 0x7, dropped=6, width=7, signed=True, absolute=True),
]
BACK = pow(0x1365, -1, 1 << 13)
JOINED = [
    LcgForm(
        "small", "joined", *affine_power(0x1365, 0x7, 2, 1 << 13), dropped=6, width=7,
        signed=True, absolute=absolute, high_word=(BACK, -0x7 * BACK % (1 << 13)),
    )
    for absolute in (False, True)
]  # fmt: skip


def hits_of_all_states(window: LaneWindow) -> dict[int, int]:
    """The plain twin: try every state at the first draw; return the hits of those that fit."""
    split = window.split
    multiplier, increment = window.affine(0, 1, split.bits)
    fitting = {}
    for first in range(1 << split.bits):
        state, hits = first, 0
        for draw in window.draws:
            hits += split.shape.value(state) % split.modulus == draw
            state = (state * multiplier + increment) % (1 << split.bits)
        if hits >= len(window.draws) - window.allowed:
            fitting[first] = hits
    return fitting


def small_window(shape: LcgForm, modulus: int, skip: int, seed: int, *, real: bool) -> LaneWindow:
    source = random.Random(seed)
    split = StateSplit.of(shape, modulus)
    multiplier, increment = shape.jumped(skip + 1, split.bits)
    state, draws = source.randrange(1 << split.bits), []
    for _ in range(24):
        value = shape.value(state) if real else source.randrange(modulus)
        draws.append(value % modulus if source.random() > 0.1 else source.randrange(modulus))
        state = (state * multiplier + increment) % (1 << split.bits)
    return LaneWindow.at_skip(split, tuple(draws), skip, (8, 8))


@pytest.mark.parametrize(
    ("shape", "modulus"),
    [
        *((shape, m) for shape in SMALL for m in (12, 24, 45)),
        *((s, m) for s in JOINED for m in (24, 200)),
    ],
    ids=lambda value: getattr(value, "output", value),
)
@pytest.mark.parametrize("real", [True, False])
def test_search_on_a_small_generator_equals_the_search_over_all_states(
    shape: LcgForm, modulus: int, real: bool
) -> None:
    for skip in (
        0,
        2 if shape.absolute else 3,
    ):  # one bit of a short lane and an even stride: twins
        for seed in (skip, skip + 1):
            window = small_window(shape, modulus, skip, seed, real=real)
            back = {
                (fit.state * a + c) % (1 << window.split.bits): fit.hits
                for fit in search(window)
                for a, c in [window.affine(fit.at, 0, window.split.bits)]
            }
            plain = hits_of_all_states(window)
            assert back.items() <= plain.items()
            assert max(back.values(), default=0) == max(plain.values(), default=0)
            assert bool(plain) == real


@pytest.mark.parametrize(("family", "shape"), SHAPES)
def test_shape_of_a_family_makes_the_draws_of_the_family(family, shape) -> None:
    source = random.Random(3)
    for _ in range(200):
        state = family.seeding(source.getrandbits(min(family.seed_bits, 64)))
        before = state[0]
        draw = family.outputs[shape.output](state, 1000)
        step = (before * shape.multiplier + shape.increment) % (1 << 64)
        assert shape.value(step) % 1000 == draw


@pytest.mark.parametrize(("skip", "start", "percent"), GRID)
def test_java_bounded_planted_in_the_grid_is_found_and_predicts_what_follows(
    skip: int, start: int, percent: int
) -> None:
    truth = planted("java", "bounded", 1000, 0x5EED + 77 * skip + start, skip, start)
    draws = corrupted(generate(truth, 60), 1000, percent, skip)
    case = Case(draws, 1000, skips=(skip, skip))
    candidates = run_all(ATTACK, case, plan_for(ATTACK, case, "java", "bounded"))
    assert len(candidates) == 1
    assert predicts(candidates[0], truth, 120)


@pytest.mark.slow
@pytest.mark.parametrize(("family", "shape"), SHAPES)
@pytest.mark.parametrize(("skip", "start", "percent"), GRID)
def test_family_planted_in_the_grid_is_found(family, shape, skip, start, percent) -> None:
    is_gap = (family.name, shape.output) == ("java", "long")  # 120 shows too little of 64 bits
    for modulus in (1000,) if is_gap else (1000, 120):
        truth = planted(family.name, shape.output, modulus, 12345678 + start, skip, start)
        draws = corrupted(generate(truth, 300), modulus, percent, skip)
        case = Case(draws, modulus, skips=(max(0, skip - 2), skip + 2))
        candidates = run_all(ATTACK, case, plan_for(ATTACK, case, family.name, shape.output))
        assert any(predicts(candidate, truth, 400) for candidate in candidates), (
            modulus,
            candidates,
        )


@pytest.mark.parametrize(("family", "shape"), QUICK)
def test_family_planted_with_corrupt_rows_is_found(family, shape) -> None:
    truth = planted(family.name, shape.output, 1000, 987654321, 7, 1000)
    case = Case(corrupted(generate(truth, 60), 1000, 10, 1), 1000, skips=(6, 8))
    candidates = run_all(ATTACK, case, plan_for(ATTACK, case, family.name, shape.output))
    assert [predicts(candidate, truth, 120) for candidate in candidates] == [True]


def test_first_rows_corrupt_do_not_hide_the_state() -> None:
    truth = planted("java", "bounded", 1000, 2**47 + 99, 3, 10)
    draws = [(draw + 1 + 7 * (at % 3)) % 1000 if at < 6 else draw
             for at, draw in enumerate(generate(truth, 40))]  # fmt: skip
    case = Case(tuple(draws), 1000, skips=(3, 3))
    (candidate,) = run_all(ATTACK, case, plan_for(ATTACK, case, "java", "bounded"))
    assert predicts(candidate, truth, 100)
    assert candidate.compared - candidate.hits == 6


def test_history_of_a_real_jdk_is_found_among_all_states_and_skips() -> None:
    draws, later = recorded("java")
    case = Case(draws, 1000)
    plan = plan_for(ATTACK, case, "java", "bounded")
    assert plan.tried == 2 * 501 << 48
    (candidate,) = run_all(ATTACK, case, plan)[:1]
    assert candidate.hypothesis.skips == Skips.constant(137)
    assert generate(candidate.hypothesis, len(draws) + 100)[-100:] == later


def test_history_of_chance_has_no_state() -> None:
    case = Case(chance(80, 1000, 1), 1000, skips=(0, 40))
    for plan in ATTACK.plan(case):
        if not isinstance(plan, Gap):
            assert run_all(ATTACK, case, plan) == []


def test_power_of_two_shows_the_low_bits_and_leaves_the_others_at_zero() -> None:
    truth = planted("java", "mod", 64, 4711, 2, 5)
    case = Case(corrupted(generate(truth, 80), 64, 5, 2), 64, skips=(0, 4))
    (candidate,) = run_all(ATTACK, case, plan_for(ATTACK, case, "java", "mod"))
    assert predicts(candidate, truth, 200)


def test_walk_back_over_rejected_outputs_reaches_the_state_before_the_first_call() -> None:
    bound = 3 << 28  # a third of the outputs is drawn again
    ((family, shape),) = [
        (family, shape) for family in FAMILIES for shape in family.lcg_forms if shape.rejects
    ]
    draw = family.outputs[shape.output]
    state = family.seeding(42)
    draws = [draw(state, bound) for _ in range(50)]
    earlier = [state_before(StateSplit.of(shape, bound), state[0], 49)]
    assert [draw(earlier, bound) for _ in range(50)] == draws


def test_anchors_for_wrong_draws_leaves_a_right_pair_whatever_is_wrong() -> None:
    for wrong in range(7):
        count = anchors_for(wrong)
        for pattern in range(1 << (count + 3)):
            if bin(pattern & ((1 << count) - 1)).count("1") > wrong:
                continue
            right = [not pattern >> at & 1 for at in range(count + 3)]
            assert any(right[at] and any(right[at + 1 : at + 4]) for at in range(count))


@pytest.mark.parametrize(
    ("modulus", "count", "why"),
    [
        (999, 100, "an odd modulus shows no low bits"),
        (1024, 100, "takes the high bits"),
        (1000, 12, "draws, there are 12"),
    ],
)
def test_plan_of_what_cannot_be_covered_says_why(modulus: int, count: int, why: str) -> None:
    gaps = [gap for gap in ATTACK.plan(Case((1,) * count, modulus)) if isinstance(gap, Gap)]
    (gap,) = [gap for gap in gaps if (gap.family, gap.output) == ("java", "bounded")]
    assert why in gap.why


def test_gap_for_few_draws_names_a_number_that_is_enough() -> None:
    gap = next(gap for gap in ATTACK.plan(Case((1,) * 12, 1000)) if isinstance(gap, Gap))
    count = int(gap.why.split()[1])
    assert not any(isinstance(plan, Gap) for plan in ATTACK.plan(Case((1,) * count, 1000))[:1])
    assert isinstance(ATTACK.plan(Case((1,) * (count - 1), 1000))[0], Gap)


def test_large_bound_covers_the_skips_at_which_rejections_are_rare() -> None:
    first, second = [item for item in ATTACK.plan(Case((1,) * 200, 100_000))
                     if (item.family, item.output) == ("java", "bounded")]  # fmt: skip
    assert "skips 0.." in first.covers
    assert "draws again too often" in second.why


@pytest.mark.parametrize("skip", [1, 3])
def test_small_modulus_with_an_even_stride_follows_few_lanes(
    skip: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """nextInt(10): near twins of the true lane fit too, and each used to be searched in full."""
    truth = planted("java", "bounded", 10, 20_240_101, skip, 0)
    case = Case(tuple(generate(truth, 240)), 10, skips=(0, 10), corrupt_percent=10)
    plan = plan_for(ATTACK, case, "java", "bounded")
    followed = []
    complete = lanes_search.complete

    def noted(window: LaneWindow, lane: int) -> Fit | None:
        followed.append(lane)
        return complete(window, lane)

    monkeypatch.setattr(lanes_search, "complete", noted)
    candidates = ATTACK.run(case, plan, Units(skip, skip + 1))
    assert 1 <= len(followed) <= lanes_search.FOLLOWED_LANES
    assert predicts(candidates[0], truth, 300)


def test_small_modulus_with_15_percent_wrong_rows_is_found() -> None:
    truth = planted("java", "bounded", 10, 271_828_182_845_904, 0, 0)
    draws = corrupted(generate(truth, 120), 10, 15, 4)
    case = Case(draws, 10, skips=(0, 0), corrupt_percent=15)
    (candidate,) = run_all(ATTACK, case, plan_for(ATTACK, case, "java", "bounded"))
    assert predicts(candidate, truth, 300)


@pytest.mark.parametrize(("family", "modulus"), [("msvc", 37), ("borland", 3), ("unreal", 37)])
def test_odd_modulus_is_estimated_by_all_outputs_that_are_tried(family: str, modulus: int) -> None:
    """Each of 2^16 low parts is tried with every output of an anchor: at least a second of a core.

    The estimate was once a millisecond, because it divided before multiplying.
    """
    plans = [item for item in ATTACK.plan(Case((1, 0, 2) * 40, modulus))
             if isinstance(item, AttackPlan) and item.family == family]  # fmt: skip
    assert plans
    assert all(plan.cost_ms // plan.units > 1000 for plan in plans)


@pytest.mark.parametrize("modulus", [6, 10, 98])
def test_small_even_modulus_costs_its_sieve_and_one_follow_up(modulus: int) -> None:
    """No lane fits draws without a generator, so large skips cost as little as small ones.

    Every skip was once estimated as if two lanes fitted, so the seeds of all calls came first.
    """
    case = Case(chance(160, modulus, 3), modulus, skips=(0, 40))
    plan = plan_for(ATTACK, case, "java", "bounded")
    wider = plan_for(ATTACK, replace(case, skips=(0, 500)), "java", "bounded")
    assert wider.cost_ms < 20_000
    assert wider.cost_ms - plan.cost_ms < 5_000
    split = StateSplit.of(lcg_form("java", "bounded"), modulus)
    compared = window_of(case, split)
    assert compared is not None
    lanes = [fitting_lanes(window_at(case, split, 0, compared, skip)) for skip in range(41)]
    assert sum(map(len, lanes)) <= 1

"""Varying skips: the best path equals that of the plain search, and planted paths are found."""

from __future__ import annotations

import random

import numpy as np
import pytest

from tests.searches.prng.planted import chance, corrupted, plan_for
from weft.searches.prng.attack import Attack, Case, Gap, Units
from weft.searches.prng.attacks import varying, varying_lanes
from weft.searches.prng.attacks.likely_seeds import typed_seeds
from weft.searches.prng.attacks.varying import SEEDS_PER_UNIT
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.kernels.path import best_path, way_back

U64 = np.uint64


def most_hits(stream, draws, places, skips) -> int:
    """The plain twin: a complete depth-first search of all paths."""
    if not draws:
        return 0
    return max(
        (stream[at] == draws[0])
        + most_hits(stream, draws[1:], range(at + 1 + skips[0], at + 2 + skips[1]), skips)
        for at in places
    )


@pytest.mark.parametrize(("starts", "skips"), [((0, 9), (0, 2)), ((3, 4), (2, 5))])
def test_best_path_has_the_hits_of_the_search_of_all_ways(
    starts: tuple[int, int], skips: tuple[int, int]
) -> None:
    for seed in range(10):
        draws = chance(6, 5, seed)
        stream = chance(starts[1] + 5 * (skips[1] + 1) + 1, 5, 100 + seed)
        choices = np.zeros((6, len(stream)), np.uint16)
        last, hits = best_path(
            np.array(stream, U64), np.array(draws, U64),
            np.array(starts), np.array(skips), choices,
        )  # fmt: skip
        assert hits == most_hits(stream, draws, range(starts[0], starts[1] + 1), skips)
        places = np.empty(6, np.int64)
        way_back(choices, last, skips[0], places)
        assert sum(stream[at] == draw for at, draw in zip(places, draws, strict=True)) == hits
        assert starts[0] <= places[0] <= starts[1]
        assert all(skips[0] <= gap - 1 <= skips[1] for gap in np.diff(places))


def wandering(family: str, output: str, seed: int, skips: tuple[int, int], percent: int):
    source = random.Random(seed)
    listed = tuple(source.randint(*skips) for _ in range(149))
    truth = Hypothesis(family, output, 1000, seed=seed, skips=Skips(skips, listed), start=1000)
    rows = corrupted(generate(truth, 150), 1000, percent, 3)
    return truth, Case(rows, 1000, skips=(skips[0], 500), corrupt_percent=percent)


def same_places(found: Hypothesis, truth: Hypothesis, count: int) -> int:
    """The number of draws equal to the truth's; wrong rows leave the skips around them open."""
    pairs = zip(generate(found, count), generate(truth, count), strict=True)
    return sum(a == b for a, b in pairs)


@pytest.mark.parametrize("percent", [0, 10])
@pytest.mark.parametrize("skips", [(0, 7), (5, 12)])
def test_typed_seed_with_varying_skips_is_found(percent: int, skips: tuple[int, int]) -> None:
    truth, case = wandering("java", "scaled", 4242, skips, percent)
    plan = plan_for(varying.ATTACK, case, "java", "scaled")
    unit = typed_seeds().index(4242) // SEEDS_PER_UNIT
    (candidate,) = varying.ATTACK.run(case, plan, Units(unit, unit + 1))
    assert candidate.hypothesis.seed == 4242
    assert candidate.hypothesis.start == 1000
    assert same_places(candidate.hypothesis, truth, 128) >= 128 - 128 * percent // 50


@pytest.mark.parametrize(("skips", "percent"), [((0, 1), 10), ((4, 5), 5), ((0, 4), 0)])
def test_any_state_of_java_with_varying_skips_is_found(
    skips: tuple[int, int], percent: int
) -> None:
    truth, case = wandering("java", "bounded", 0x123456789ABC + percent, skips, percent)
    plan = plan_for(varying_lanes.ATTACK, case, "java", "bounded")
    (candidate,) = varying_lanes.ATTACK.run(case, plan, Units(0, 1))
    assert same_places(candidate.hypothesis, truth, 96) >= 96 - 96 * percent // 50


@pytest.mark.parametrize("attack", [varying.ATTACK, varying_lanes.ATTACK])
def test_history_of_chance_has_no_way(attack: Attack) -> None:
    case = Case(chance(150, 1000, 6), 1000, skips=(0, 7))
    assert attack.run(case, plan_for(attack, case, "java", "bounded"), Units(0, 1)) == []


def test_skips_that_the_draws_cannot_carry_are_a_gap() -> None:
    case = Case(chance(150, 1000, 6), 1000)
    plan, gap = [item for item in varying.ATTACK.plan(case)
                 if (item.family, item.output) == ("java", "bounded")]  # fmt: skip
    assert "skips that vary in 0.." in plan.covers
    assert isinstance(gap, Gap)
    assert "leave no evidence" in gap.why
    few = varying.ATTACK.plan(Case(chance(4, 1000, 6), 1000))
    assert all(isinstance(item, Gap) for item in few)


def test_constant_skips_are_left_to_other_attacks() -> None:
    case = Case(chance(150, 1000, 6), 1000, skips=(3, 3))
    assert varying.ATTACK.plan(case) == varying_lanes.ATTACK.plan(case) == []

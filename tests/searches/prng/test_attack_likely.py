"""Likely seeds are found at every start and skip, as by plainly comparing all places."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

from tests.searches.prng.planted import GRID, chance, corrupted, plan_for, planted, predicts
from weft.searches.prng.attack import Case, Units
from weft.searches.prng.attacks import likely
from weft.searches.prng.attacks.likely import (
    DATED,
    MAX_PLACES,
    SEEDS_PER_UNIT,
    TYPED,
    Likely,
    calls_for,
    maps,
    places,
)
from weft.searches.prng.families import FAMILIES
from weft.searches.prng.family import Family
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.kernels.path import find_places
from weft.searches.prng.kernels.seeding import first_states

MAPS = [(family.name, output) for family in FAMILIES for output in maps(family, Case((), 1000))]


def all_places(
    stream: list[int], draws: tuple[int, ...], starts: tuple[int, int], skips: tuple[int, int]
) -> dict[tuple[int, int], int]:
    """The plain twin: hits of every start and skip with two consecutive right draws."""
    by_place = {}
    for skip in range(skips[0], skips[1] + 1):
        for start in range(starts[0], starts[1] + 1):
            hits = [stream[start + at * (skip + 1)] == draw for at, draw in enumerate(draws)]
            if any(a and b for a, b in pairwise(hits)):
                by_place[start, skip] = sum(hits)
    return by_place


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_compiled_seeding_gives_the_state_that_the_definition_gives(family: Family) -> None:
    top = 1 << min(family.seed_bits, 64)
    seeds = (0, 1, 42, 0x7FFFFFFF, 0xFFFFFFFF, 1 << 32, 1_700_000_000_000, (1 << 64) - 1)
    below_top = [seed for seed in seeds if seed < top]
    assert first_states(family, below_top).tolist() == [family.seeding(seed) for seed in below_top]


@pytest.mark.parametrize(("starts", "skips"), [((0, 30), (0, 12)), ((7, 9), (3, 3))])
@pytest.mark.parametrize("enough", [2, 4, 5])
def test_find_places_equals_the_comparison_of_every_start_and_skip(
    starts: tuple[int, int], skips: tuple[int, int], enough: int
) -> None:
    for seed in range(20):
        stream, draws = chance(200, 4, seed), chance(7, 4, 1000 + seed)
        plain = all_places(list(stream), draws, starts, skips)
        out = np.empty((1000, 3), np.int64)
        count = find_places(
            np.array(stream, np.uint64), np.array(draws, np.uint64),
            np.array(starts, np.int64), np.array(skips, np.int64), enough, out,
        )  # fmt: skip
        by_place = {(int(a), int(b)): int(c) for a, b, c in out[:count]}
        assert len(by_place) == count
        assert by_place == {place: hits for place, hits in plain.items() if hits >= enough}


@pytest.mark.parametrize("family", ["cpython", "java"])
@pytest.mark.parametrize("words", [1, 500, 1 << 16])
def test_seeds_in_batches_of_any_size_have_the_places_of_each_alone(
    monkeypatch: pytest.MonkeyPatch, family: str, words: int
) -> None:
    monkeypatch.setattr(likely, "MAX_WORDS", words)
    case = Case(chance(8, 5, 3), 5, skips=(0, 3), starts=(0, 20))
    plan = plan_for(TYPED, Case(chance(60, 5, 7), 5), family, "bounded")
    expected = []
    for seed in range(SEEDS_PER_UNIT + 9):
        stream = generate(Hypothesis(family, "bounded", 5, seed=seed), calls_for(case, 8))
        hits = all_places(stream, case.draws, case.starts, case.skips)
        expected += [(seed, *place) for place, right in hits.items() if right >= 5]
    assert 0 < len(expected) < MAX_PLACES * SEEDS_PER_UNIT
    actual = list(places(case, plan, range(SEEDS_PER_UNIT + 9), 8, 3))
    assert [seed for seed, *_ in actual] == sorted(seed for seed, *_ in expected)
    assert sorted(actual) == sorted(expected)


def found_in_its_unit(
    attack: Likely, seed: int, family: str, output: str, place: tuple[int, int, int]
) -> bool:
    skip, start, percent = place
    truth = planted(family, output, 1000, seed, skip, start)
    case = Case(corrupted(generate(truth, 60), 1000, percent, start), 1000)
    plan = plan_for(attack, case, family, output)
    unit = attack.seeds.index(seed) // SEEDS_PER_UNIT
    candidates = attack.run(case, plan, Units(unit, unit + 1))
    return bool(candidates) and all(predicts(candidate, truth, 100) for candidate in candidates)


@pytest.mark.parametrize("place", GRID)
def test_typed_seed_planted_in_the_grid_is_found(place: tuple[int, int, int]) -> None:
    assert found_in_its_unit(TYPED, 4242, "java", "scaled", place)


def test_midnight_in_milliseconds_is_found() -> None:
    assert found_in_its_unit(DATED, 1_700_006_400_000, "java", "bounded", (7, 1000, 10))


@pytest.mark.slow
@pytest.mark.parametrize(("family", "output"), MAPS)
@pytest.mark.parametrize("place", GRID)
def test_every_family_planted_in_the_grid_is_found(
    family: str, output: str, place: tuple[int, int, int]
) -> None:
    assert found_in_its_unit(TYPED, 12345, family, output, place)


def test_history_of_chance_has_no_likely_seed() -> None:
    case = Case(chance(60, 1000, 7), 1000)
    plan = plan_for(TYPED, case, "java", "bounded")
    assert TYPED.run(case, plan, Units(0, 2)) == []


def test_seeds_are_each_in_one_list_and_once() -> None:
    assert (TYPED.count, DATED.count) == (len(TYPED.seeds), len(DATED.seeds))
    assert len(set(TYPED.seeds) | set(DATED.seeds)) == len(TYPED.seeds) + len(DATED.seeds)
    assert {0, 1, 42, 1337, 12345, 999999, 2**31 - 1, 0xDEADBEEF} <= set(TYPED.seeds)
    assert {31_234, 20_240_229, 1_577_836_800, 1_577_836_800_000} <= set(DATED.seeds)


def test_plan_counts_every_seed_start_and_skip() -> None:
    case = Case(chance(60, 1000, 7), 1000)
    plan = plan_for(TYPED, case, "java", "bounded")
    assert plan.tried == len(TYPED.seeds) * 501 * 1001
    covered = [unit for lo, hi in plan.ranges() for unit in range(lo, hi)]
    assert covered == list(range(-(-len(TYPED.seeds) // SEEDS_PER_UNIT)))


def test_twisters_are_estimated_by_their_compiled_seeding() -> None:
    """All dates of MT19937 take 4 s of a core; an estimate of 26 s once ranked them too late."""
    case = Case(chance(60, 1000, 7), 1000, skips=(0, 0), starts=(0, 0))
    java = plan_for(DATED, case, "java", "bounded")
    for family in ("php_mt", "cpython", "mt19937"):
        output = "masked" if family == "mt19937" else "bounded"
        assert plan_for(DATED, case, family, output).cost_ms < 2 * java.cost_ms

"""Brute force by seed: sieves agree with the plain definition and find the truth."""

from __future__ import annotations

import random

import pytest

from tests.searches.prng.planted import (
    chance,
    corrupted,
    plan_for,
    planted,
    predicts,
    recorded,
    run_all,
)
from weft.searches.prng.attack import Case, Gap, Units
from weft.searches.prng.attacks.brute import (
    ATTACK,
    CHUNK_BITS,
    TIME_CHUNKS,
    chunk_order,
    in_chunk_order,
    joined,
    places_of,
)
from weft.searches.prng.attacks.brute_sieves import glibc_weights, sieve_of
from weft.searches.prng.attacks.sieving import Target
from weft.searches.prng.families import SINGLE as FAMILIES
from weft.searches.prng.families import family_named
from weft.searches.prng.family import Family
from weft.searches.prng.forms import AdditiveSeeding, CompiledSeeding, WordReading
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis, Skips

SIEVED = [(family.name, output) for family in FAMILIES for output in family.outputs
          if sieve_of(family, output, 1000)]  # fmt: skip
OWN = [call for call in SIEVED if family_named(call[0]).readings]
"""Maps with a dedicated sieve; the others take a second each to compile."""
FILLED = [family for family in FAMILIES
          if isinstance(family.seed_form, CompiledSeeding) and family.seed_form.fill]  # fmt: skip
QUICK = [*OWN, *((family.name, "mod") for family in FILLED)]


def rest_is_slow(quick: list[tuple[str, str]]) -> list[object]:
    return [
        call if call in quick else pytest.param(*call, marks=pytest.mark.slow) for call in SIEVED
    ]


def passes(reading: WordReading, word: int, draw: int, modulus: int) -> bool:
    """The test of a sieve in plain arithmetic."""
    shift, least, inverse, turn, limit = reading.test(draw, modulus)
    value = (word ^ (reading.signed << 31)) >> shift
    z = (value - least) * inverse % (1 << 32)
    return value >= least and (z >> turn | z << (32 - turn)) % (1 << 32) <= limit


@pytest.mark.parametrize("modulus", [2, 6, 97, 100, 1000, 1024, 65521, 10**9])
def test_reading_of_random_words_hits_exactly_the_draws_they_make(modulus: int) -> None:
    source = random.Random(modulus)
    for dropped in (0, 1, 6):
        bits = 32 - dropped
        for _ in range(200):
            word = source.getrandbits(32)
            value = word >> dropped
            for wrong in (0, 1):
                draw = (value + wrong) % modulus
                assert passes(WordReading("mod", dropped), word, draw, modulus) != bool(wrong)
                span = WordReading("span", dropped, bits)
                draw = ((value * modulus >> bits) + wrong) % modulus
                assert passes(span, word, draw, modulus) != bool(wrong)
            signed = word - (1 << 32) if word >> 31 else word
            assert passes(WordReading("mod", signed=True), word, signed % modulus, modulus)


@pytest.mark.parametrize(("family", "output"), rest_is_slow(QUICK))
@pytest.mark.parametrize(
    ("first", "skip", "start"), [(0, 0, 0), (2**31 - 200, 3, 5), (2**32 - 200, 0, 0)]
)
def test_sieve_of_a_family_passes_what_the_definition_says(
    family: str, output: str, first: int, skip: int, start: int
) -> None:
    modulus, enough = 5, 4
    if first >> family_named(family).seed_bits:
        return
    draws = chance(6, modulus, skip)
    target = Target(draws, modulus, start, skip, enough)
    sieve = sieve_of(family_named(family), output, modulus)
    assert sieve is not None
    run = sieve.make([(family_named(family), output)], target)
    plain = []
    for seed in range(first, first + 200):
        generated = generate(
            Hypothesis(family, output, modulus, seed=seed, skips=Skips.constant(skip), start=start),
            6,
        )
        if sum(a == b for a, b in zip(generated, draws, strict=True)) >= enough:
            plain.append(seed)
    reading = family_named(family).reading(output, modulus)
    passed = run(first, first + 200)
    assert set(plain) <= set(passed)
    assert passed == plain or (reading is not None and not reading.sharp)
    assert passed == sorted(set(passed))


@pytest.mark.parametrize(
    ("family", "output", "modulus"),
    [
        *(("cpython", "bounded", modulus) for modulus in (37, 49, 1000, 1024)),
        *(("mt19937", "masked", modulus) for modulus in (37, 49, 1000, 1024)),
        *((name, "raw", 1 << 32) for name in ("cpython", "mt19937", "php_mt_52", "dotnet")),
    ],
)
def test_sieve_finds_the_one_seed_whatever_the_modulus(
    family: str, output: str, modulus: int
) -> None:
    kind, seed = family_named(family), (1 << 31) - 99_999
    sieve = sieve_of(kind, output, modulus)
    assert sieve is not None
    draws = generate(Hypothesis(family, output, modulus, seed=seed, start=3), 12)
    for wrong in (0, 2):
        rows = [(draw + (at < wrong)) % modulus for at, draw in enumerate(draws)]
        run = sieve.make([(kind, output)], Target(tuple(rows), modulus, 3, 0, 12 - wrong))
        passed = run(seed - 1000, seed + 1000)
        assert seed in passed
        assert len(passed) <= 2  # PHP's first form ignores the lowest bit of a seed


@pytest.mark.parametrize("family", FILLED, ids=lambda family: family.name)
def test_fill_declared_beside_a_seeding_does_the_same(family: Family) -> None:
    assert isinstance(family.seed_form, CompiledSeeding)
    assert family.seed_form.fill is not None
    for seed in (0, 1, 161803398, 161803399, 2**31 - 2, 2**31 - 1):
        state = [0] * family.state_words
        family.seed_form.fill(seed, state)
        assert state == family.seeding(seed)


@pytest.mark.parametrize(("family", "output"), rest_is_slow(OWN))
@pytest.mark.parametrize("percent", [0, 10])
def test_seed_planted_in_a_family_is_found_in_its_unit(
    family: str, output: str, percent: int
) -> None:
    unit = 9
    modulus = 100
    truth = planted(family, output, modulus, (chunk_order()[unit] << CHUNK_BITS) + 4711, 1, 2)
    rows = corrupted(generate(truth, 60), modulus, percent, 3)
    case = Case(rows, modulus, skips=(1, 1), starts=(2, 2), corrupt_percent=percent)
    candidates = ATTACK.run(case, plan_for(ATTACK, case, family, output), Units(unit, unit + 1))
    assert candidates
    assert all(predicts(candidate, truth, 100) for candidate in candidates)


@pytest.mark.parametrize(
    ("name", "family", "modulus", "seed"),
    [("php", "php_mt", 1000, 3141592653), ("glibc", "glibc", 100, 2718281828)],
)
def test_history_of_a_real_runtime_is_found_in_its_unit(
    name: str, family: str, modulus: int, seed: int
) -> None:
    draws, later = recorded(name)
    case = Case(draws, modulus)
    unit = chunk_order().index(seed >> CHUNK_BITS)
    plan = plan_for(ATTACK, case, family, "mod")
    (candidate,) = ATTACK.run(case, plan, Units(unit, unit + 1))
    assert candidate.hypothesis.seed == seed
    assert generate(candidate.hypothesis, len(draws) + 100)[-100:] == later


@pytest.mark.slow
def test_history_of_php_is_found_among_all_seeds_once() -> None:
    draws, _ = recorded("php")
    case = Case(draws, 1000)
    candidates = run_all(ATTACK, case, plan_for(ATTACK, case, "php_mt", "mod"))
    assert [candidate.hypothesis.seed for candidate in candidates] == [3141592653]


def test_corrupt_first_rows_do_not_hide_the_seed() -> None:
    truth = planted("java", "bounded", 999, (chunk_order()[0] << CHUNK_BITS) + 77, 0, 0)
    rows = [(draw + 5) % 999 if at < 6 else draw for at, draw in enumerate(generate(truth, 40))]
    case = Case(tuple(rows), 999)
    (candidate,) = ATTACK.run(case, plan_for(ATTACK, case, "java", "bounded"), Units(0, 1))
    assert candidate.hypothesis.seed == 77
    assert candidate.hits == 34


def test_history_of_chance_has_no_seed() -> None:
    case = Case(chance(60, 1000, 2), 1000)
    for plan in ATTACK.plan(case):
        if family_named(plan.family).readings:
            assert isinstance(plan, Gap) or ATTACK.run(case, plan, Units(0, 1)) == []


def test_chunks_tile_the_seeds_likely_ones_first() -> None:
    order = chunk_order()
    assert sorted(order) == list(range(1 << 12))
    assert sorted(chunk_order(31)) == list(range(1 << 11))
    assert order[:30] == tuple(range(30))
    assert 20_291_231 >> CHUNK_BITS in order[:20]
    assert 1_600_000_000 >> CHUNK_BITS in order[:1300]


def test_chunks_of_times_are_sieved_together_and_named_one_by_one() -> None:
    """A launch on a GPU costs as much as sieving seven chunks."""
    times = chunk_order().index(TIME_CHUNKS[0])
    case, calls = Case(chance(60, 1000, 7), 1000, (0, 0), (0, 0)), [(family_named("java"), "mod")]
    ((_, first, end),) = joined(case, 32, times, times + 8)
    assert (first, end) == (TIME_CHUNKS[7] << CHUNK_BITS, TIME_CHUNKS[0] + 1 << CHUNK_BITS)
    sieve = sieve_of(*calls[0], 1000)
    assert sieve is not None
    run = sieve.make(calls, Target(case.draws[:2], 1000, 0, 0, 2))
    alone = [joined(case, 32, unit, unit + 1)[0][1:] for unit in range(times, times + 8)]
    expected = [seed for part in alone for seed in run(*part)]
    assert len(expected) > 3
    assert in_chunk_order(run(first, end), first) == expected
    assert [seed >> CHUNK_BITS for seed in expected] != sorted(s >> CHUNK_BITS for s in expected)


def test_units_around_the_times_are_their_chunks() -> None:
    case, order = Case(chance(60, 1000, 7), 1000, (0, 0), (0, 0)), chunk_order()
    for lo, hi in ((0, 64), (20, 40), (len(TIME_CHUNKS), len(TIME_CHUNKS) + 64), (0, len(order))):
        ranges = joined(case, 32, lo, hi)
        chunks = [
            chunk
            for _, first, end in ranges
            for chunk in range(first >> CHUNK_BITS, end >> CHUNK_BITS)
        ]
        assert sorted(chunks) == sorted(order[lo:hi])
        assert len(ranges) <= 4


def test_glibc_weights_far_from_the_seed_make_the_words_of_the_definition() -> None:
    form = family_named("glibc").seed_form
    assert isinstance(form, AdditiveSeeding)
    words = [random.Random(4).getrandbits(32) for _ in range(31)]
    stream = [*words, *words[:3]]
    for at in range(34, 344 + 3000):
        stream.append((stream[at - 3] + stream[at - 31]) % (1 << 32))
    for position in (0, 1, 30, 31, 1000, 2999):
        total = sum(w * x for w, x in zip(glibc_weights(form, position), words, strict=True))
        assert total % (1 << 32) == stream[344 + position]


def test_places_asked_for_are_all_tried_when_few_and_the_rest_is_a_gap_when_many() -> None:
    few = Case(chance(60, 1000, 3), 1000, skips=(2, 3), starts=(5, 6))
    assert places_of(few) == [(5, 2), (6, 2), (5, 3), (6, 3)]
    assert not any(isinstance(item, Gap) for item in ATTACK.plan(few) if item.family == "java")
    many = Case(chance(60, 1000, 3), 1000)
    plan, gap = [item for item in ATTACK.plan(many)
                 if (item.family, item.output) == ("java", "bounded")]  # fmt: skip
    assert "start 0 skip 0" in plan.covers
    assert plan.tried == 1 << 32
    assert "likely seeds alone" in gap.why


def test_gap_for_few_draws_names_a_number_that_is_enough() -> None:
    gap = next(item for item in ATTACK.plan(Case((1,) * 5, 1000)) if isinstance(item, Gap))
    count = int(gap.why.split()[1])
    assert not isinstance(ATTACK.plan(Case((1,) * count, 1000))[0], Gap)
    assert isinstance(ATTACK.plan(Case((1,) * (count - 1), 1000))[0], Gap)


TOGETHER = [
    [("mt19937", "bounded"), ("mt19937", "masked"), ("mt19937", "mod"), ("mt19937", "scaled"),
     ("php_mt", "bounded"), ("php_mt", "scaled"), ("php_mt_legacy", "bounded"),
     ("php_mt_legacy", "mod")],
    [("cpython", "bounded"), ("cpython", "scaled")],
    [("go", "bounded"), ("go", "scaled")],
    [("glibc", "mod"), ("glibc", "scaled")],
]  # fmt: skip
"""Calls that share a seeding."""


@pytest.mark.parametrize("names", TOGETHER, ids=lambda names: names[0][0])
@pytest.mark.parametrize(("start", "skip", "enough"), [(0, 0, 12), (0, 0, 2), (3, 1, 3)])
def test_sieve_of_several_calls_lets_pass_what_one_for_each_does(
    names: list[tuple[str, str]], start: int, skip: int, enough: int
) -> None:
    seed = 3_000_017
    calls = [(family_named(family), output) for family, output in names]
    for number, (family, output) in enumerate(names):
        draws = generate(planted(family, output, 1000, seed, skip, start), 12)
        target = Target(tuple(draws), 1000, start, skip, enough)
        sieve = sieve_of(*calls[number], 1000)
        assert sieve is not None
        together = sieve.make(calls, target)(seed - 5000, seed + 5000)
        apart = [
            call << 32 | passed
            for call, sieved in enumerate(calls)
            for passed in sieve.make([sieved], target)(seed - 5000, seed + 5000)
        ]
        assert sorted(together) == apart
        assert number << 32 | seed in together

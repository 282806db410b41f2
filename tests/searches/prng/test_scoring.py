"""The value of a hypothesis: hits against all that was tried, each choice of a skip once."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import pytest

from weft.searches.prng.answer import StreamCandidate
from weft.searches.prng.attack import Case, compare
from weft.searches.prng.attacks.varying import extend_skips, tried_in
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.planting import make_history
from weft.searches.prng.request import AnalyseRequest
from weft.searches.prng.scoring import ValueFrequencies, is_periodic, score, split
from weft.searches.prng.search import _on_stream
from weft.searches.prng.statistics import corrected, corrected_at, decades
from weft.searches.prng.verdict import score_all

VARYING = Hypothesis("java", "bounded", 1000, seed=5, skips=Skips((0, 3)))


def test_score_of_a_constant_skip_counts_what_was_tried() -> None:
    truth = Hypothesis("java", "bounded", 1000, seed=5, skips=Skips.constant(3))
    draws = generate(truth, 50)
    scored = score(truth, draws, 1000, tried=10**6, survivors=10)
    assert (scored.hits, scored.held_hits) == (40, 10)
    chance = ValueFrequencies.of(draws, 1000).chance_of(draws[:40], draws[:40])
    assert Fraction(1, 1000) <= chance < Fraction(1, 900)
    assert scored.evidence == corrected_at(40, 40, chance, 10**6)
    assert scored.held_evidence == 30_000 - 1_000


def test_score_of_varying_skips_counts_each_choice_once() -> None:
    history = make_history(VARYING, 50, 0, 1)
    scored = score(history.hypothesis, history.draws, 1000, tried=100, survivors=1)
    assert (scored.hits, scored.held_hits) == (40, 10)
    assert 112_000 < scored.evidence + decades(100 * 4**39) <= 120_000
    assert 28_000 < scored.held_evidence + decades((39 * 3 + 1) * 4**10) <= 30_000


def test_find_with_varying_skips_leaves_their_choices_to_the_score() -> None:
    history = make_history(VARYING, 60, 0, 1)
    case = Case(history.draws, 1000, skips=(0, 3), starts=(0, 9))
    tried = 7 * tried_in(case, 5000, len(history.draws), (0, 3))
    candidate = _on_stream("", compare(case, history.hypothesis), tried)
    assert candidate.tried == 7 * 5000 * 10


def test_histories_that_some_way_explains_are_no_more_than_the_correction_allows() -> None:
    """Of all histories with a small modulus, how many does one seed explain by chance?"""
    modulus, count, between = 6, 4, (0, 1)
    explained = {
        tuple(generate(Hypothesis("java", "mod", modulus, seed=9, skips=Skips(between, ways)), 4))
        for ways in product((0, 1), repeat=count - 1)
    }
    ways, all_of_them = 2 ** (count - 1), modulus**count
    assert 1 < len(explained) <= ways
    hypothesis = Hypothesis("java", "mod", modulus, seed=9, skips=Skips(between, (0,) * 3))
    for draws in explained:
        best = extend_skips(hypothesis, draws)
        assert tuple(generate(best, count)) == draws
        scored = score(best, draws, modulus, tried=1, survivors=1)
        assert (scored.hits, scored.compared) == (count, count)
        assert scored.evidence <= corrected(count, count, modulus, ways)
        assert 10 ** (-scored.evidence / 1000) >= len(explained) / all_of_them


# -- what is no evidence -------------------------------------------------------------------------


def test_state_of_zeros_is_no_evidence_in_a_history_of_small_counts() -> None:
    zero = Hypothesis("xorshift64", "mod", 1000, state="0" * 16)
    draws = [(at * at + at // 3) % 5 // 2 for at in range(200)]
    assert draws.count(0) > 50
    scored = score(zero, draws, 1000, tried=1, survivors=1)
    assert scored.hits > 40
    assert (scored.evidence, scored.held_evidence) == (0, 0)


def test_predictions_of_mostly_zeros_have_the_chance_of_zeros() -> None:
    draws = [0, 0, 0, 7, 0, 3, 0, 0, 9, 0] * 10
    chance = ValueFrequencies.of(draws, 1000).chance_of([0] * 100, draws)
    assert Fraction(2, 3) < chance < Fraction(3, 4)
    assert ValueFrequencies.of(range(1000), 1000).chance_of(range(1000), range(1000)) == Fraction(
        1, 1000
    )


def test_short_cycles_are_periodic_and_streams_are_not() -> None:
    assert is_periodic([0, 1] * 50)
    assert is_periodic([9, 3, 5, *[0] * 50])
    assert not is_periodic(generate(VARYING, 1))
    assert not is_periodic(generate(Hypothesis("java", "bounded", 2, seed=5), 100))


@pytest.mark.parametrize(
    ("count", "modulus", "held"),
    [(2499, 1024, 100), (2500, 1024, 8), (2591, 1024, 8), (2592, 1024, 100), (2500, 1000, 100),
     (2500, 512, 100), (2500, 1 << 20, 8), (640, 1 << 32, 8), (100, 1000, 20)],
)  # fmt: skip
def test_draws_held_back_leave_enough_for_algebra(count: int, modulus: int, held: int) -> None:
    train, holdout = split(range(count), modulus)
    assert (len(holdout), len(train) + len(holdout)) == (held, count)


def test_candidates_of_equal_rank_are_in_the_order_of_their_texts() -> None:
    """Candidates without hits are ordered by skips, then starts, then their texts."""
    draws = tuple(range(60))
    candidates = [
        StreamCandidate("", Hypothesis("java", output, 1000, seed=seed, start=start), 1)
        for start in (1, 0)
        for seed in (30, 4, 200)
        for output in ("mod", "high")
    ]
    ranked = score_all(candidates, {"": draws}, AnalyseRequest(1000))
    assert [candidate.hypothesis.start for candidate in ranked] == [0] * 6 + [1] * 6
    for alike in (ranked[:6], ranked[6:]):
        assert len({candidate.score for candidate in alike}) == 1
        assert [candidate.identity() for candidate in alike] == sorted(
            other_candidate.identity() for other_candidate in alike
        )

"""What may be claimed about draws: exact, partial or nothing; next draws only when justified."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.searches.prng.planted import corrupted
from weft.searches.prng.answer import PARTIAL, SIGNAL, AnalyseAnswer, StreamCandidate
from weft.searches.prng.apis import declared_apis
from weft.searches.prng.attack import Case
from weft.searches.prng.attacks import likely
from weft.searches.prng.families import SINGLE as FAMILIES
from weft.searches.prng.families import family_named
from weft.searches.prng.family import Family
from weft.searches.prng.generate import first_state, generate, greatest_modulus
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.origins import equivalents, kind_of, origins
from weft.searches.prng.request import AnalyseRequest
from weft.searches.prng.verdict import conclude, score_all

TRIED = 2**32


def answer_to(
    draws: tuple[int, ...], *guesses: Hypothesis, corrupt: int = 10, predict: int = 50
) -> AnalyseAnswer:
    request = AnalyseRequest(guesses[0].modulus, corrupt_percent=corrupt, predict=predict)
    ranked = score_all([StreamCandidate("", g, TRIED) for g in guesses], {"": draws}, request)
    return conclude(request, (), (), (), ranked, ())


# -- planted, and a model that is slightly wrong -------------------------------------------------


def slightly_wrong(family: Family, truth: Hypothesis) -> Iterator[Hypothesis]:
    assert truth.seed is not None
    yield replace(truth, seed=truth.seed + 2)
    yield replace(truth, start=truth.start + 1)
    yield replace(truth, skips=Skips.constant(3))
    for output in family.outputs:
        if output not in (truth.output, "raw"):
            yield replace(truth, output=output)


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.name)
def test_slightly_wrong_model_makes_no_exact_claim(family: Family) -> None:
    output = next(iter(family.outputs))
    truth = Hypothesis(family.name, output, 1000, seed=123_456, skips=Skips.constant(2), start=5)
    generated = generate(truth, 150)
    draws, later = tuple(generated[:100]), generated[100:]
    right = answer_to(draws, truth)
    assert right.verdict == SIGNAL
    assert list(right.found[0].next) == later
    assert (right.found[0].tail_hits, right.found[0].tail) == (10, 10)
    for wrong in slightly_wrong(family, truth):
        hits = sum(a == b for a, b in zip(generate(wrong, 150), generated, strict=True))
        if hits == 150:
            continue
        answer = answer_to(draws, wrong)
        assert answer.verdict != SIGNAL or hits > 130, (wrong, hits)
        claim = answer.found[0]
        assert not claim.next or 100 * claim.tail_hits > 15 * claim.tail, wrong


def test_half_of_the_draws_explained_is_a_partial_signal_with_its_share() -> None:
    """Math.abs(nextInt()) % 1000 looks like floorMod(nextInt(), 1000) where nextInt() >= 0."""
    truth = Hypothesis("java", "mod", 1000, seed=42)
    words = generate(Hypothesis("java", "raw", 1 << 32, seed=42), 200)
    signed = [word - (1 << 32) if word >> 31 else word for word in words]
    draws = tuple(abs(word) % 1000 for word in signed)
    answer = answer_to(draws, truth)
    assert answer.verdict == PARTIAL
    share = answer.found[0].score.held_hits / answer.found[0].score.held
    assert 0.3 < share < 0.8


def test_alignment_lost_in_the_holdout_is_found_again_or_nothing_is_predicted() -> None:
    """Three calls by other code near the end, and five wrong rows."""
    stream = generate(Hypothesis("cpython", "bounded", 1000, seed=7), 200)
    rows = stream[:90] + stream[93:]
    draws = corrupted(rows[:104], 1000, 5, 1)
    candidate = answer_to(draws, Hypothesis("cpython", "bounded", 1000, seed=7)).found[0]
    assert list(candidate.next) == rows[104:154]
    assert candidate.tail_hits >= 8


@pytest.mark.parametrize("corrupt", [0, 5])
def test_constant_skip_found_as_varying_is_reported_as_constant(corrupt: int) -> None:
    truth = Hypothesis("glibc", "mod", 1000, seed=2479, skips=Skips.constant(3))
    generated = generate(truth, 150)
    draws = corrupted(generated[:100], 1000, corrupt, 2)
    guess = replace(truth, skips=Skips((0, 61), (3,) * 79))
    answer = answer_to(draws, guess)
    assert answer.verdict == SIGNAL
    assert answer.found[0].hypothesis == truth
    assert list(answer.found[0].next) == generated[100:]


def test_skips_that_really_vary_predict_nothing() -> None:
    listed = tuple((7 * at * at + at // 3) % 5 for at in range(99))
    truth = Hypothesis("java", "scaled", 1000, seed=9, skips=Skips((0, 4), listed))
    answer = answer_to(tuple(generate(truth, 100)), truth)
    assert answer.verdict == SIGNAL
    assert not answer.found[0].next


# -- where draws come from -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("family", "seed", "kind"),
    [
        ("java", 42, "typed"),
        ("java", 1_700_000_000, "Unix time, 2023-11-14 22:13:20 UTC"),
        ("drand48", 4711, "typed"),
        ("msvc", 31337, "a date or a process id"),
        ("java", 20_240_229, "a date or a process id"),
        ("java", 98_765_012_345_678, ""),
    ],
)
def test_state_is_walked_back_to_its_seed(family: str, seed: int, kind: str) -> None:
    made_by = family_named(family)
    state = made_by.seeding(seed)
    for _ in range(17):
        made_by.step(state)
    output = "scaled" if family == "drand48" else "mod"
    hypothesis = Hypothesis(family, output, 1000, state=made_by.state_text(state))
    names = [(origin.seed, origin.start) for origin in origins(hypothesis, 100)]
    assert ((seed, 17) in names) == bool(kind)
    assert all(generate(_from(hypothesis, *name), 60) == generate(hypothesis, 60) for name in names)
    assert kind_of(seed) == kind
    plain = Hypothesis(family, output, 1000, state=made_by.state_text(made_by.seeding(seed)))
    assert (seed, 0) in [(origin.seed, origin.start) for origin in origins(plain, 100)]


def _from(found: Hypothesis, seed: int, start: int) -> Hypothesis:
    return replace(found, state=None, seed=seed, start=start)


def test_drand48_and_java_are_named_as_equivalents() -> None:
    made_by = family_named("drand48")
    state = made_by.state_text(first_state(made_by, Hypothesis("drand48", "high", 1000, seed=3)))
    assert "drand48.high" in equivalents(Hypothesis("java", "high", 1000, state=state), 100)


def test_state_found_as_another_generator_is_named_by_the_usual_call() -> None:
    """`drand48() * 1000` was once named java.high, a call that no library offers."""
    made_by = family_named("drand48")
    state = made_by.state_text(made_by.seeding(31337))
    draws = tuple(generate(Hypothesis("drand48", "scaled", 1000, state=state), 100))
    candidate = answer_to(draws, Hypothesis("java", "high", 1000, state=state)).found[0]
    assert (candidate.hypothesis.family, candidate.hypothesis.output) == ("drand48", "scaled")
    assert candidate.origins[0].seed == 31337
    assert "java.high" in candidate.equivalents
    assert candidate.next


def test_every_call_with_a_name_is_there() -> None:
    for family, output in declared_apis():
        assert output in family_named(family).outputs


# -- narrowing ------------------------------------------------------------------------------------


@pytest.mark.parametrize("modulus", [2, 10, 1000, 1 << 32])
@pytest.mark.parametrize("corrupt", [0, 10])
def test_narrower_ranges_never_lose_likely_seeds(modulus: int, corrupt: int) -> None:
    draws = tuple(at % min(modulus, greatest_modulus("bounded")) for at in range(200))
    wide = likely.TYPED.window(Case(draws, modulus, (0, 500), (0, 1000), corrupt))
    narrow = likely.TYPED.window(Case(draws, modulus, (0, 0), (0, 0), corrupt))
    assert narrow is not None or wide is None


def test_raw_words_of_a_typed_seed_are_found_with_the_narrowest_ranges() -> None:
    draws = tuple(generate(Hypothesis("cpython", "raw", 1 << 32, seed=42), 48))
    case = Case(draws, 1 << 32, (0, 0), (0, 0), 0)
    (plan,) = [p for p in likely.TYPED.plan(case) if (p.family, p.output) == ("cpython", "raw")]
    assert not hasattr(plan, "why"), plan
    (match,) = likely.TYPED.run(case, plan, likely.Units(0, 1))
    assert match.hypothesis.seed == 42

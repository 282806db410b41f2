"""Histories that are not random and come from no generator we know: no claim, ever.

A dozen go through the attacks that once claimed them, in `make test`; all of them, and random
histories, through all attacks within a budget in `make chaos`.
"""

from __future__ import annotations

import hashlib
import os

import pytest

from tests.searches.prng.hostile import NAMES, hostile
from weft.searches.prng import planning, verdict
from weft.searches.prng.answer import AnalyseAnswer, StreamCandidate
from weft.searches.prng.attack import Units
from weft.searches.prng.attacks import attack_named
from weft.searches.prng.generate import generate
from weft.searches.prng.history import History
from weft.searches.prng.planning import PlanLimits
from weft.searches.prng.request import AnalyseRequest
from weft.searches.prng.scoring import is_periodic

ONCE_CLAIMED = ("xorshift64", "xorshift32", "minstd", "msvc", "java")
"""Families with states that a history of zeros, of two values or of a short cycle can have."""
A_DOZEN = [
    "biased/1000", "poisson-0.5/1000", "poisson-0.1/10", "geometric-0.7/1000", "alternating/10",
    "period-1/1000", "period-2/1000", "period-16/10", "counter-1/1000", "markov-0.9/10",
    "sorted-50/1000", "logistic/1000",
]  # fmt: skip


def verdict_of(draws: tuple[int, ...], request: AnalyseRequest) -> AnalyseAnswer:
    """Do what the search does, without a run: all ranges within the limits, one score."""
    plans, gaps = planning.make_plans(History(draws), request)
    case, candidates = request.case(draws), []
    covered = [item for wave in planning.waves(plans, PlanLimits.of(request)) for item in wave]
    for number, lo, hi in covered:
        plan = plans[number].plan
        for match in attack_named(plan.attack).run(case, plan, Units(lo, hi)):
            if not is_periodic(generate(match.hypothesis, match.compared)):
                tried = plan.tried * len(plans)
                candidates.append(StreamCandidate("", match.hypothesis, tried))
    ranked = verdict.score_all(candidates, {"": draws}, request) if candidates else []
    return verdict.conclude(request, plans, covered, gaps, ranked, ())


@pytest.mark.parametrize("name", A_DOZEN)
def test_hostile_history_is_no_signal(name: str) -> None:
    draws, modulus = hostile(name, 150)
    request = AnalyseRequest(
        modulus, ONCE_CLAIMED, skips=(0, 0), starts=(0, 0), max_cost_ms=250, all_seeds=False
    )
    answer = verdict_of(draws, request)
    assert not answer.is_signal, answer.found[0]
    assert not any(scored.next for scored in answer.found)


def test_makers_of_hostile_histories_make_what_their_names_say() -> None:
    assert len(NAMES) >= 60
    for name in NAMES:
        draws, modulus = hostile(name, 150)
        assert len(draws) == 150
        assert all(0 <= draw < modulus for draw in draws)


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_hostile_history_is_no_signal_for_any_generator(name: str) -> None:
    draws, modulus = hostile(name, 200)
    request = AnalyseRequest(modulus, skips=(0, 2), starts=(0, 2), max_cost_ms=20_000,
                             all_seeds=False)  # fmt: skip
    answer = verdict_of(draws, request)
    assert not answer.is_signal, answer.found[0]


@pytest.mark.slow
def test_two_thousand_random_histories_are_no_signal() -> None:
    """Which are tried: WEFT_PRNG_RANDOM_HISTORIES, 0:2000 unless given."""
    first, end = map(int, os.environ.get("WEFT_PRNG_RANDOM_HISTORIES", "0:2000").split(":"))
    for number in range(first, end):
        modulus = (10, 37, 100, 1000, 65_536)[number % 5]
        blocks = (hashlib.sha256(f"random {number} {at}".encode()).digest() for at in range(120))
        draws = tuple(int.from_bytes(block[:8], "big") % modulus for block in blocks)
        request = AnalyseRequest(modulus, skips=(0, 2), starts=(0, 2), max_cost_ms=1_000,
                                 all_seeds=False)  # fmt: skip
        answer = verdict_of(draws, request)
        assert not answer.is_signal, (number, answer.found[0])
    print(f"{end - first} random histories: {end - first} times no signal")

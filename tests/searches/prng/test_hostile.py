"""Histories that are not random and come from no known generator: no claim, ever.

`make test` runs a dozen through the attacks that once claimed them; `make chaos` runs all of them,
and random histories, through all attacks within a budget.
"""

from __future__ import annotations

import os

import pytest

from tests.searches.prng.hostile import (
    NAMES,
    hostile,
    hostile_request,
    random_history,
    random_request,
    verdict_of,
)
from weft.searches.prng.request import AnalyseRequest

ONCE_CLAIMED = ("xorshift64", "xorshift32", "minstd", "msvc", "java")
"""Families with states that generate only zeros, two values or a short cycle."""
A_DOZEN = [
    "biased/1000", "poisson-0.5/1000", "poisson-0.1/10", "geometric-0.7/1000", "alternating/10",
    "period-1/1000", "period-2/1000", "period-16/10", "counter-1/1000", "markov-0.9/10",
    "sorted-50/1000", "logistic/1000",
]  # fmt: skip


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
    answer = verdict_of(draws, hostile_request(modulus))
    assert not answer.is_signal, answer.found[0]


@pytest.mark.slow
def test_two_thousand_random_histories_are_no_signal() -> None:
    """WEFT_PRNG_RANDOM_HISTORIES selects the range, 0:2000 by default."""
    first, end = map(int, os.environ.get("WEFT_PRNG_RANDOM_HISTORIES", "0:2000").split(":"))
    for number in range(first, end):
        draws, modulus = random_history(number)
        answer = verdict_of(draws, random_request(modulus))
        assert not answer.is_signal, (number, answer.found[0])
    print(f"{end - first} random histories: {end - first} times no signal")

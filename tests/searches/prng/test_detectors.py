"""Detectors: they see planted structure, agree with their twins, and never fire on noise."""

from __future__ import annotations

import hashlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from weft.searches.prng.attack import Case
from weft.searches.prng.attacks.detectors import (
    FLOOR,
    Detection,
    detect,
    linear_complexity,
    linear_complexity_plain,
)
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis


def _noise(number: int, count: int, modulus: int) -> tuple[int, ...]:
    """Draws from a fixed cryptographic stream; 48 bits per draw leave no visible bias."""
    stream = hashlib.shake_256(f"history {number}".encode()).digest(6 * count)
    parts = [stream[at : at + 6] for at in range(0, len(stream), 6)]
    return tuple(int.from_bytes(part, "big") % modulus for part in parts)


def _kinds(found: list[Detection]) -> list[str]:
    return sorted({detection.name for detection in found})


@pytest.mark.parametrize("modulus", [2, 10, 37, 1000, 4096])
def test_detect_forty_random_histories_finds_nothing(modulus: int) -> None:
    """Two hundred histories in total, of ten to two thousand draws."""
    for number in range(40):
        count = (10, 60, 200, 700, 2000)[number % 5]
        assert detect(Case(_noise(number * 1000 + modulus, count, modulus), modulus)) == []


def test_detect_loaded_die_finds_nothing() -> None:
    draws = tuple(0 if draw < 3 else draw for draw in _noise(5, 1500, 10))
    assert detect(Case(draws, 5 * 2)) == []


@settings(max_examples=60)
@given(st.lists(st.integers(0, 1), max_size=200))
def test_linear_complexity_agrees_with_the_plain_twin(bits: list[int]) -> None:
    assert linear_complexity(bits) == linear_complexity_plain(bits)


def test_linear_complexity_of_known_sequences() -> None:
    assert linear_complexity([0] * 50) == 0
    assert linear_complexity([1] * 50) == 1
    assert linear_complexity([0] * 49 + [1]) == 50
    assert linear_complexity([0, 1] * 30) == 2


@pytest.mark.parametrize(("family", "order"), [("xorshift32", 32), ("xorshift128", 128)])
def test_detect_linear_generator_names_the_order_of_its_recurrence(family: str, order: int) -> None:
    draws = generate(Hypothesis(family, "mod", 1000, seed=99), 400)
    detections = [
        detection
        for detection in detect(Case(tuple(draws), 1000))
        if detection.name == "linear-complexity"
    ]
    assert [f"order {order}" in detection.text for detection in detections] == [True] * 3
    assert all(detection.evidence >= FLOOR for detection in detections)


def test_detect_congruential_low_bits_repeat() -> None:
    state, draws = 1, []
    for _ in range(300):
        state = (1664525 * state + 1013904223) % 2**32
        draws.append(state % 1000)
    detections = detect(Case(tuple(draws), 1000))
    assert _kinds(detections) == ["linear-complexity", "low-bit-period"]
    texts = [detection.text for detection in detections if detection.name == "low-bit-period"]
    assert texts[-1] == "the lowest 3 bits repeat after 8 draws, 100 % of the time"


def test_detect_repeated_list_with_wrong_rows_is_a_period() -> None:
    draws = list(_noise(3, 150, 999) * 4)
    for at in range(0, 600, 20):
        draws[at] = 0
    (detection,) = detect(Case(tuple(draws), 999))
    assert detection.name == "period"
    assert detection.text.startswith("the draws repeat after 150 draws")

"""Jumping ahead: powers of affine maps modulo m, and of linear maps over GF(2).

Independent of generators; the families pass their constants or their step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

Words = list[int]
LinearStep = Callable[[Words], object]


def affine_power(multiplier: int, increment: int, steps: int, modulus: int) -> tuple[int, int]:
    """Return (a, c) with x → a·x + c equal to `steps` applications, by repeated squaring."""
    all_a, all_c = 1 % modulus, 0
    while steps:
        if steps & 1:
            all_a, all_c = all_a * multiplier % modulus, (all_c * multiplier + increment) % modulus
        increment = increment * (multiplier + 1) % modulus
        multiplier = multiplier * multiplier % modulus
        steps >>= 1
    return all_a, all_c


def bit_power(step: LinearStep, count: int, bits: int, words: Words, steps: int) -> Words:
    """Return `count` words of `bits` bits after `steps` calls of a step.

    The step must be linear over GF(2): step(a ^ b) = step(a) ^ step(b).
    """
    vector = _join(words, bits)
    for exponent in range(steps.bit_length()):
        if steps >> exponent & 1:
            vector = _apply(_squared(step, count, bits, exponent), vector)
    return _split(vector, count, bits)


@lru_cache(maxsize=4096)
def _squared(step: LinearStep, count: int, bits: int, exponent: int) -> tuple[int, ...]:
    """Return the matrix of 2^exponent steps: the image of every single bit."""
    if exponent == 0:
        return tuple(_image(step, count, bits, 1 << at) for at in range(count * bits))
    half = _squared(step, count, bits, exponent - 1)
    return tuple(_apply(half, column) for column in half)


def _image(step: LinearStep, count: int, bits: int, vector: int) -> int:
    words = _split(vector, count, bits)
    step(words)
    return _join(words, bits)


def _apply(columns: tuple[int, ...], vector: int) -> int:
    total = 0
    while vector:
        lowest = vector & -vector
        total ^= columns[lowest.bit_length() - 1]
        vector ^= lowest
    return total


def _join(words: Words, bits: int) -> int:
    return sum(word << (bits * at) for at, word in enumerate(words))


def _split(vector: int, count: int, bits: int) -> Words:
    return [vector >> (bits * at) & ((1 << bits) - 1) for at in range(count)]

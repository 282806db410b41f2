"""Finds the state of a small linear generator from draws of which some are wrong.

A few draws, chosen at random, determine the state if none of them is wrong; most of the other draws
then agree with it. Choices are tried until one is clean (information-set decoding: Prange 1962).
The number of choices that makes a miss unlikely is computed with integers. `decode` is compiled;
its reference in the tests tries every state of a toy generator.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import comb, isqrt
from typing import TYPE_CHECKING

from weft.lazy_imports import lazy_imports, lazy_module
from weft.searches.prng.arrays import Words

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

with lazy_imports():
    from weft.searches.prng.kernels import decoding

NATS = 14
"""A miss has probability at most e^-14, below one in a million."""


@dataclass(frozen=True, slots=True)
class Observed:
    """Known bits of the outputs behind the draws: row i of `forms` is draw i.

    `forms[i, j]` is the output of draw i when only unknown j is one.
    """

    forms: Words
    masks: Words
    values: Words


def choices(draws: int, wrong_percent: int, chosen: int) -> int | None:
    """Return how many choices of draws suffice; None if no choice can be clean.

    The number of wrong draws is assumed to be four standard deviations above its mean.
    """
    spread = isqrt(16 * draws * wrong_percent * (100 - wrong_percent)) // 100
    wrong = draws * wrong_percent // 100 + (spread if wrong_percent else 0)
    clean = comb(draws - wrong, chosen) if wrong < draws else 0
    if not clean:
        return None
    return 1 if wrong_percent == 0 else -(-NATS * comb(draws, chosen) // clean)


def decode(observed: Observed, wrong_allowed: int, attempts: int) -> int | None:
    """Return a state that at most `wrong_allowed` draws contradict; None if none is found."""
    unknowns = int(observed.forms.shape[1])
    words = unknowns // 64 + 1
    rows, first = decoding.equations_of(observed.forms, observed.masks, observed.values, words)
    state = np.zeros(words, np.uint64)
    if not decoding.decode(rows, first, unknowns, wrong_allowed, attempts, state):
        return None
    bits = int.from_bytes(state.astype("<u8").tobytes(), "little")
    return bits & ((1 << unknowns) - 1)

"""How many wrong draws a window must tolerate, and how many it can: exact binomial tails.

The arithmetic uses integers only. `unlucky` bounds the wrong draws that corrupt rows may cause in a
window; `affordable` bounds the misses that a sieve can forgive before chance matches cost more than
they are worth.
"""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import comb

BAD_LUCK = Fraction(1, 10**9)
"""Probability bound on a window with more wrong draws than `unlucky` returns."""


@lru_cache(maxsize=4096)
def unlucky(compared: int, percent: int, luck: Fraction = BAD_LUCK) -> int:
    """Return the number of wrong draws that is hardly ever exceeded with `percent` corrupt rows.

    >>> unlucky(40, 0), unlucky(40, 10)
    (0, 19)
    """
    if percent == 0:
        return 0
    return _first_rare(compared, Fraction(percent, 100), luck)


@lru_cache(maxsize=4096)
def tolerated(compared: int, percent: int) -> int:
    """Return the number of wrong draws that one history in a thousand exceeds at `percent`.

    >>> tolerated(40, 0), tolerated(40, 10)
    (0, 11)
    """
    if percent == 0:
        return 0
    return _first_rare(compared, Fraction(percent, 100), Fraction(1, 1000))


@lru_cache(maxsize=4096)
def affordable(compared: int, values: int, tried: int, survivors: Fraction) -> int:
    """Return how many misses may be forgiven so that chance leaves at most `survivors`; or -1.

    By chance a draw hits with probability 1/`values`, and `tried` candidates are sieved.

    >>> affordable(40, 8, 2**20 * 501, Fraction(1))
    19
    """
    rare = survivors / tried
    hits_needed = _first_rare(compared, Fraction(1, values), rare) + 1
    return compared - hits_needed


def _first_rare(trials: int, chance: Fraction, rare: Fraction) -> int:
    """Return the least k with P(Bin(trials, chance) > k) < rare."""
    top, below = chance.numerator, chance.denominator - chance.numerator
    beyond, limit = 0, rare * chance.denominator**trials
    for k in range(trials, -1, -1):
        beyond += comb(trials, k) * top**k * below ** (trials - k)
        if beyond >= limit:
            return k
    return 0

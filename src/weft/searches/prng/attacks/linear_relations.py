"""Exact relations between a few bits of outputs of a Mersenne Twister that are far apart.

Every state bit is a polynomial in T = z^623 + z^396 (see `linear_mersenne`) of degree at most 31.
T, T², T⁴ have two terms each, since squaring is linear. So k bits of the outputs at seven places
(lags 0, 396, 623, and twice and four times the latter two) satisfy at least 4k - 36 relations,
whatever the state: with ten bits there are five.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from weft.lazy_imports import lazy_module
from weft.searches.prng.attacks.linear_mersenne import LAGS, TWIST, temper

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
else:
    np = lazy_module("numpy")

POWERS = (0, 1, 2, 4)
PLACES = ((0, 0), *sorted((POWERS[at] * lag, at) for at in (1, 2, 3) for lag in LAGS))
"""Lags, each with the index of its power."""
MOST = 10
"""Maximum number of relations used; more are not needed to tell truth from chance."""


@dataclass(frozen=True, slots=True)
class Relations:
    """What each value of a draw adds to the relations at each place; the sum is zero."""

    count: int
    lags: tuple[int, ...]
    tables: NDArray[np.int64]
    """`tables[place, value]`, with one bit for each relation."""


def relations(bits: Sequence[int]) -> Relations:
    """Derive the relations of draws that show the given bits of outputs, lowest first."""
    forms = _output_polynomials()
    rows = [(forms[bit] << power, at, bit) for at, power in enumerate(POWERS) for bit in bits]
    combinations = _null_space([row for row, _, _ in rows])[:MOST]
    tables = np.zeros((len(POWERS), 1 << len(bits)), np.int64)
    values = np.arange(1 << len(bits))
    for number, combination in enumerate(combinations):
        for index in combination:
            _, at, bit = rows[index]
            tables[at] ^= (values >> bits.index(bit) & 1) << number
    lags = tuple(lag for lag, _ in PLACES)
    return Relations(len(combinations), lags, np.array([tables[at] for _, at in PLACES]))


def _output_polynomials() -> list[int]:
    """Return the 32 tempered bits as polynomials in T: T^e is bit e."""
    bits = [0b10]
    for source in range(30):
        bits.append(bits[-1] << 1 ^ (0b10 if TWIST >> source & 1 else 0))
    bits.append(1)
    forms = [0] * 32
    for source in range(32):
        tempered = temper(1 << source)
        for bit in range(32):
            forms[bit] ^= bits[source] if tempered >> bit & 1 else 0
    return forms


def _null_space(rows: Sequence[int]) -> list[list[int]]:
    """Return a basis of the sets of rows that add up to zero, each set as row indices."""
    basis: dict[int, tuple[int, int]] = {}
    combinations = []
    for index, row in enumerate(rows):
        reduced, combination = row, 1 << index
        while reduced and reduced.bit_length() in basis:
            other, mixed = basis[reduced.bit_length()]
            reduced, combination = reduced ^ other, combination ^ mixed
        if reduced:
            basis[reduced.bit_length()] = (reduced, combination)
        else:
            combinations.append([at for at in range(len(rows)) if combination >> at & 1])
    return combinations

"""Finds the state of a small linear generator from a few correct draws, with integers.

A system of a hundred equations takes a millisecond here, whereas loading compiled code takes a
second; so this method is used if the draws are few and close together. `linear_decode` with one
choice of draws gives the same states; a test compares the two.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.searches.prng.bit_forms import KnownBits
from weft.searches.prng.family import Family

Forms = tuple[int, ...]
"""The bits of an output, lowest first: each an integer whose set bits are the unknowns it sums."""


def output_forms(generator: Family, states: Sequence[list[int]], count: int) -> list[Forms]:
    """Return the forms of the first `count` outputs; in state j only unknown j is one."""
    streams = [[generator.step(state) for _ in range(count)] for state in states]
    return [_transposed(outputs, generator.word_bits) for outputs in zip(*streams, strict=True)]


def _transposed(words: Sequence[int], bits: int) -> Forms:
    """Transpose words into one integer per bit, with word j as bit j."""
    digits = [f"{word:0{bits}b}" for word in reversed(words)]
    return tuple(int("".join(column), 2) for column in zip(*digits, strict=True))[::-1]


def solve(forms: Sequence[Forms], known: Sequence[KnownBits], unknowns: int) -> int | None:
    """Return the only state that agrees with all known bits; None if there is none or several."""
    rows = [
        form | (bits.value >> bit & 1) << unknowns
        for output, bits in zip(forms, known, strict=True)
        for bit, form in enumerate(output)
        if bits.mask >> bit & 1
    ]
    basis = _basis(rows, unknowns)
    if basis is None or len(basis) < unknowns:
        return None
    state = 1 << unknowns  # the column of the right-hand side is one
    for low in sorted(basis, reverse=True):
        state |= low if (basis[low] & state).bit_count() & 1 else 0
    agree = all((row & state).bit_count() & 1 == 0 for row in rows)
    return state ^ 1 << unknowns if agree else None


def _basis(rows: Sequence[int], unknowns: int) -> dict[int, int] | None:
    """Reduce rows by lowest bits until their rank is full; None if they contradict each other."""
    basis: dict[int, int] = {}
    for row in rows:
        reduced = row
        while (low := reduced & -reduced) in basis:
            reduced ^= basis[low]
        if low >> unknowns:
            return None
        if reduced:
            basis[low] = reduced
        if len(basis) == unknowns:
            break
    return basis

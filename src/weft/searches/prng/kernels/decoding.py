"""Information-set decoding on packed rows: see `attacks.linear_decode`."""

from __future__ import annotations

import numpy as np

from weft.searches.prng.arrays import Ints, Words
from weft.searches.prng.kernels.compiled import KERNELS

_DE_BRUIJN = np.uint64(0x03F79D71B4CB0A89)
_PLACES = np.zeros(64, np.int64)
"""Index of a single set bit, by the top six bits of its product with the constant."""
for _place in range(64):
    _PLACES[(0x03F79D71B4CB0A89 << _place & 0xFFFFFFFFFFFFFFFF) >> 58] = _place


@KERNELS.entry
def equations_of(forms: Words, masks: Words, values: Words, words: int) -> tuple[Words, Ints]:
    """Return an equation for each known bit, draw by draw, and the first row of each draw."""
    one = np.uint64(1)
    draws, unknowns = forms.shape
    first = np.zeros(draws + 1, np.int64)
    for draw in range(draws):
        first[draw + 1] = first[draw]
        for bit in range(64):
            first[draw + 1] += np.int64(masks[draw] >> np.uint64(bit) & one)
    rows = np.zeros((first[draws], words), np.uint64)
    for draw in range(draws):
        row = first[draw]
        for bit in range(64):
            place = np.uint64(bit)
            if masks[draw] >> place & one:
                for at in range(unknowns):
                    form = forms[draw, at] >> place & one
                    rows[row, at // 64] |= form << np.uint64(at % 64)
                side = values[draw] >> place & one
                rows[row, unknowns // 64] |= side << np.uint64(unknowns % 64)
                row += 1
    return rows, first


@KERNELS.entry
def decode(
    rows: Words, first: Ints, unknowns: int, wrong_allowed: int, attempts: int, state: Words
) -> bool:
    """Try choices of draws, each given by the number of its attempt; return whether one works."""
    draws = len(first) - 1
    order = np.arange(draws)
    basis = np.zeros((unknowns, rows.shape[1]), np.uint64)
    for attempt in range(attempts):
        _shuffle(order, attempt)
        if not _solve_chosen(rows, first, order, unknowns, basis):
            continue
        _back(basis, unknowns, state)
        if _wrong(rows, first, state, wrong_allowed) <= wrong_allowed:
            return True
    return False


@KERNELS.kernel
def _shuffle(order: Ints, attempt: int) -> None:
    """Shuffle with the splitmix64 sequence of the attempt."""
    clock = np.uint64(attempt + 1) * np.uint64(0xD1342543DE82EF95)
    for at in range(len(order) - 1, 0, -1):
        clock += np.uint64(0x9E3779B97F4A7C15)
        mixed = (clock ^ clock >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ mixed >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        other = np.int64((mixed >> np.uint64(33)) % np.uint64(at + 1))
        order[at], order[other] = order[other], order[at]


@KERNELS.kernel
def _solve_chosen(rows: Words, first: Ints, order: Ints, unknowns: int, basis: Words) -> bool:
    """Eliminate draw by draw; return whether the rank becomes full without a contradiction."""
    basis[:] = 0
    rank = 0
    words = rows.shape[1]
    row = np.zeros(words, np.uint64)
    for draw in order:
        for at in range(first[draw], first[draw + 1]):
            row[:] = rows[at]
            pivot = _reduce(row, unknowns, basis)
            if pivot >= 0:
                basis[pivot, :] = row
                rank += 1
            elif row[unknowns // 64] >> np.uint64(unknowns % 64) & np.uint64(1):
                return False
        if rank == unknowns:
            return True
    return False


@KERNELS.kernel
def _reduce(row: Words, unknowns: int, basis: Words) -> int:
    """Reduce a row by the basis; return the free column in which it then begins, or -1."""
    for word in range(len(row)):
        while True:
            left = row[word] if word < unknowns // 64 else row[word] & _below(unknowns % 64)
            if left == 0:
                break
            low = left & (~left + np.uint64(1))
            column: int = 64 * word + _PLACES[low * _DE_BRUIJN >> np.uint64(58)]
            if basis[column, word] == 0:  # the word of a pivot is never 0
                return column
            for at in range(word, len(row)):
                row[at] ^= basis[column, at]
    return -1


@KERNELS.kernel
def _below(bits: int) -> np.uint64:
    return (np.uint64(1) << np.uint64(bits)) - np.uint64(1)


@KERNELS.kernel
def _back(basis: Words, unknowns: int, state: Words) -> None:
    """Compute the state from the last column to the first; the right-hand side's column is one."""
    one = np.uint64(1)
    state[:] = 0
    state[unknowns // 64] = one << np.uint64(unknowns % 64)
    for column in range(unknowns - 1, -1, -1):
        if _parity(basis[column], state):
            state[column // 64] |= one << np.uint64(column % 64)


@KERNELS.kernel
def _parity(row: Words, state: Words) -> bool:
    total = np.uint64(0)
    for at in range(len(row)):
        total ^= row[at] & state[at]
    for fold in (32, 16, 8, 4, 2, 1):
        total ^= total >> np.uint64(fold)
    return bool(total & np.uint64(1))


@KERNELS.kernel
def _wrong(rows: Words, first: Ints, state: Words, limit: int) -> int:
    """Count the draws that contradict a state, up to one more than the limit."""
    wrong = 0
    for draw in range(len(first) - 1):
        for at in range(first[draw], first[draw + 1]):
            if _parity(rows[at], state):
                wrong += 1
                break
        if wrong > limit:
            break
    return wrong

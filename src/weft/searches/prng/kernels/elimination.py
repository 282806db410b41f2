"""Elimination over GF(2) on packed rows: see `gf2`, whose `solve_plain` is the reference."""

from __future__ import annotations

import numpy as np

from weft.searches.prng.arrays import Ints, Words
from weft.searches.prng.kernels.compiled import KERNELS

STRIP = 32
"""Words of a row processed together: eight tables of them fit a core's second-level cache."""
SAMPLE = 128
"""Rows searched at a time for the pivots of a word; as a rule, 64 more than enough."""


@KERNELS.entry
def eliminate(matrix: Words, unknowns: int, pivots: Ints) -> int:
    """Bring rows to echelon form, one word of columns at a time; return the rank."""
    rows, words = matrix.shape
    tables = np.zeros((8, 256, STRIP), np.uint64)
    slots = np.zeros(64, np.int64)
    rank = 0
    for word in range(words):
        columns = min(64, unknowns - 64 * word)
        new_pivots = 1
        while columns > 0 and new_pivots > 0 and rank < rows:
            new_pivots = _find_pivots(matrix, rank, word, columns, slots)
            mask = np.uint64(0)
            for column in range(columns):
                if slots[column] >= 0:
                    mask |= np.uint64(1) << np.uint64(column)
                    pivots[slots[column]] = 64 * word + column
            rank += new_pivots
            keys = matrix[rank:, word] & mask
            for strip in range(word, words, STRIP):
                width = min(STRIP, words - strip)
                _fill_tables(matrix, slots, strip, width, tables)
                _clear_rows(matrix, rank, keys, strip, width, tables)
            if new_pivots == columns:
                break
    return rank


@KERNELS.kernel
def _find_pivots(matrix: Words, first: int, word: int, columns: int, slots: Ints) -> int:
    """Move rows that are independent within one word to `first` onwards, reduced by each other.

    `slots[column]` becomes the row whose pivot is the column, or -1. Only SAMPLE rows are searched;
    the pivots they miss are found once the other rows are cleared. Returns the number of pivots.
    """
    column_mask = np.uint64(0xFFFFFFFFFFFFFFFF) >> np.uint64(64 - columns)
    slots[:] = -1
    count, looked = 0, 0
    for row in range(first, matrix.shape[0]):
        key = matrix[row, word] & column_mask
        if key == 0:
            continue
        looked += 1
        for column in range(columns):
            if slots[column] >= 0 and key >> np.uint64(column) & np.uint64(1):
                key ^= matrix[slots[column], word] & column_mask
        if key:
            _take_pivot(matrix, row, first + count, word, columns, slots)
            count += 1
        if count == columns or looked == SAMPLE:
            break
    return count


@KERNELS.kernel
def _take_pivot(matrix: Words, row: int, target: int, word: int, columns: int, slots: Ints) -> None:
    """Reduce a row by the pivots so far, move it to `target`, and reduce the pivots by it."""
    words = matrix.shape[1]
    one = np.uint64(1)
    for column in range(columns):
        if slots[column] >= 0 and matrix[row, word] >> np.uint64(column) & one:
            for at in range(word, words):
                matrix[row, at] ^= matrix[slots[column], at]
    for at in range(word, words):
        matrix[row, at], matrix[target, at] = matrix[target, at], matrix[row, at]
    pivot = 0
    while not matrix[target, word] >> np.uint64(pivot) & one:
        pivot += 1
    for column in range(columns):
        if slots[column] >= 0 and matrix[slots[column], word] >> np.uint64(pivot) & one:
            for at in range(word, words):
                matrix[slots[column], at] ^= matrix[target, at]
    slots[pivot] = target


@KERNELS.kernel
def _fill_tables(matrix: Words, slots: Ints, strip: int, width: int, tables: Words) -> None:
    """Fill each table with all sums of eight columns' pivots; entry b sums those of its bits."""
    for group in range(8):
        for entry in range(1, 256):
            low = 0
            while not entry >> low & 1:
                low += 1
            slot = slots[8 * group + low]
            rest = entry & (entry - 1)
            for at in range(width):
                value = tables[group, rest, at]
                if slot >= 0:
                    value ^= matrix[slot, strip + at]
                tables[group, entry, at] = value


@KERNELS.kernel
def _clear_rows(
    matrix: Words, first: int, keys: Words, strip: int, width: int, tables: Words
) -> None:
    """Add to every row from `first` on the pivots that its key selects, by eight look-ups."""
    byte = np.uint64(255)
    for index in range(keys.shape[0]):
        key = keys[index]
        if key == 0:
            continue
        row = matrix[first + index, strip : strip + width]
        t0 = tables[0, key & byte]
        t1 = tables[1, key >> np.uint64(8) & byte]
        t2 = tables[2, key >> np.uint64(16) & byte]
        t3 = tables[3, key >> np.uint64(24) & byte]
        t4 = tables[4, key >> np.uint64(32) & byte]
        t5 = tables[5, key >> np.uint64(40) & byte]
        t6 = tables[6, key >> np.uint64(48) & byte]
        t7 = tables[7, key >> np.uint64(56)]
        for at in range(width):
            row[at] ^= t0[at] ^ t1[at] ^ t2[at] ^ t3[at] ^ t4[at] ^ t5[at] ^ t6[at] ^ t7[at]


@KERNELS.entry
def substitute(matrix: Words, unknowns: int, pivots: Ints, values: Words) -> None:
    """Compute the unknowns from the last pivot to the first; free unknowns stay 0."""
    side, shift = unknowns // 64, np.uint64(unknowns % 64)
    one = np.uint64(1)
    for row in range(len(pivots) - 1, -1, -1):
        word, bit = pivots[row] // 64, np.uint64(pivots[row] % 64)
        total = np.uint64(0)
        for at in range(word, matrix.shape[1]):
            total ^= matrix[row, at] & values[at]
        for fold in (32, 16, 8, 4, 2, 1):
            total ^= total >> np.uint64(fold)
        if (total ^ matrix[row, side] >> shift) & one:
            values[word] |= one << bit

"""Advances the forms of a Mersenne Twister from output to output: see `attacks.linear_mersenne`."""

from __future__ import annotations

import numpy as np

from weft.searches.prng.arrays import Ints, ShortWords, Words
from weft.searches.prng.kernels.compiled import KERNELS

CHUNK = 512
"""Steps taken at once: below 623, the gap under the leading term of the polynomial."""


@KERNELS.entry
def unroll(
    live: Words,
    unknowns: int,
    used: Ints,
    terms: Ints,
    positions: Ints,
    masks: ShortWords,
    values: ShortWords,
    matrix: Words,
) -> None:
    """Advance the forms from position to position and write those of the known bits."""
    at, row = 0, 0
    words = matrix.shape[1]
    spill = np.zeros(CHUNK // 64 + 2, np.uint64)
    for index in range(len(positions)):
        while at < positions[index]:
            steps = min(CHUNK, positions[index] - at)
            for form in range(len(used)):
                _advance(live[form], unknowns, steps, terms, spill)
            at += steps
        for form in range(len(used)):
            if masks[index] >> used[form] & 1:
                matrix[row, :] = live[form, :words]
                if values[index] >> used[form] & 1:
                    matrix[row, unknowns // 64] |= np.uint64(1) << np.uint64(unknowns % 64)
                row += 1


@KERNELS.kernel
def _advance(form: Words, unknowns: int, steps: int, terms: Ints, spill: Words) -> None:
    """Multiply by z^steps and reduce: overflow is added back at every term."""
    shift_left(form, steps)
    whole, part = unknowns // 64, unknowns % 64
    count = len(form) - whole
    for at in range(count):
        low = form[whole + at] >> np.uint64(part)
        high = form[whole + at + 1] << np.uint64(64 - part) if at + 1 < count else np.uint64(0)
        spill[at] = low | high
    form[whole] &= (np.uint64(1) << np.uint64(part)) - np.uint64(1)
    form[whole + 1 :] = 0
    used = steps // 64 + 1
    for term in terms:
        base, shift = term // 64, np.uint64(term % 64)
        for at in range(used):
            form[base + at] ^= spill[at] << shift
            if shift:
                form[base + at + 1] ^= spill[at] >> (np.uint64(64) - shift)


@KERNELS.kernel
def shift_left(form: Words, steps: int) -> None:
    """Shift a packed row up; bits that leave its end are lost."""
    words, shift = steps // 64, np.uint64(steps % 64)
    for at in range(len(form) - 1, words - 1, -1):
        value = form[at - words] << shift
        if shift and at > words:
            value |= form[at - words - 1] >> (np.uint64(64) - shift)
        form[at] = value
    form[:words] = 0

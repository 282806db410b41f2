"""Massey's algorithm over packed bits: see `attacks.detectors`, which has the reference."""

from __future__ import annotations

import numpy as np

from weft.searches.prng.arrays import Bytes, Words
from weft.searches.prng.kernels.compiled import KERNELS


@KERNELS.entry
def linear_complexity(bits: Bytes) -> int:
    """Return the linear complexity, with packed polynomials and the last bits in reverse."""
    words = len(bits) // 64 + 2
    now, before = np.zeros(words, np.uint64), np.zeros(words, np.uint64)
    saved, recent = np.zeros(words, np.uint64), np.zeros(words, np.uint64)
    now[0] = before[0] = 1
    length, gap = 0, 1
    for at in range(len(bits)):
        used = length // 64 + 1
        _push(recent, np.uint64(bits[at]), at // 64 + 1)
        total = np.uint64(0)
        for word in range(used):
            total ^= now[word] & recent[word]
        for fold in (32, 16, 8, 4, 2, 1):
            total ^= total >> np.uint64(fold)
        if not total & np.uint64(1):
            gap += 1
            continue
        longer = 2 * length <= at
        if longer:
            saved[:] = now
        _add_shifted(now, before, gap)
        gap += 1
        if longer:
            before, saved = saved, before
            length, gap = at + 1 - length, 1
    return length


@KERNELS.kernel
def _push(recent: Words, bit: np.uint64, used: int) -> None:
    """Insert a bit before the others."""
    carry = bit
    for word in range(used):
        above = recent[word] >> np.uint64(63)
        recent[word] = recent[word] << np.uint64(1) | carry
        carry = above


@KERNELS.kernel
def _add_shifted(now: Words, before: Words, gap: int) -> None:
    """Add polynomial `before`, shifted up by `gap`, to `now`."""
    whole, part = gap // 64, np.uint64(gap % 64)
    for word in range(len(now) - 1, whole - 1, -1):
        value = before[word - whole] << part
        if part and word > whole:
            value |= before[word - whole - 1] >> (np.uint64(64) - part)
        now[word] ^= value

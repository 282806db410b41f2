"""The walk along draws between which outputs are missing: see `attacks.linear_align`."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from weft.searches.prng.arrays import Bytes, Ints
from weft.searches.prng.kernels.compiled import KERNELS

SLACK = 33
"""Bits by which an explanation may cost more than the cheapest one: three gaps."""


@KERNELS.entry
def extend_paths(
    tables: Ints,
    draws: Ints,
    start: Ints,
    prices_bits: Ints,
    limit: int,
    parents: NDArray[np.uint16],
    moves: Bytes,
) -> int:
    """Extend all explanations within the slack; return the index of the best at the end.

    `limit` is the cost allowed for a thousand steps. Returns -1 if the best costs more.
    """
    steps, width = parents.shape
    places = len(start)
    now, then = np.zeros((width, places), np.int64), np.zeros((width, places), np.int64)
    cost_bits, next_cost_bits = np.zeros(width, np.int64), np.zeros(width, np.int64)
    buckets = np.full(4 * width, -1, np.int64)
    order = np.argsort(prices_bits)
    now[0, :] = start
    alive = 1
    for step in range(steps):
        buckets[:] = -1
        count = 0
        least = np.min(cost_bits[:alive])
        if least > 6 * prices_bits[1] + step * limit // 1000:
            return -1
        for path in range(alive):
            for move in order:
                price_bits = cost_bits[path] + prices_bits[move]
                if price_bits > least + SLACK or count == width:
                    break
                if not _moved(tables, draws, now[path], move, then[count]):
                    continue
                slot = _slot(buckets, then, count)
                if buckets[slot] < 0:
                    buckets[slot] = count
                    count += 1
                elif next_cost_bits[buckets[slot]] <= price_bits:
                    continue
                next_cost_bits[buckets[slot]] = price_bits
                parents[step, buckets[slot]] = path
                moves[step, buckets[slot]] = move
        if count == 0:
            return -1
        now, then, cost_bits, next_cost_bits, alive = then, now, next_cost_bits, cost_bits, count
    return int(np.argmin(cost_bits[:alive]))


@KERNELS.kernel
def _moved(tables: Ints, draws: Ints, old: Ints, move: int, new: Ints) -> bool:
    """Advance a path by one output; return whether the draws and the relations allow it."""
    total = np.int64(0)
    for place in range(len(old)):
        new[place] = old[place] + (1 if not move >> place & 1 else 0)
        if new[place] >= len(draws):
            return False
        total ^= tables[place, draws[new[place]]]
    return move != 0 or total == 0


@KERNELS.kernel
def _slot(buckets: Ints, paths: Ints, index: int) -> int:
    """Return the bucket of a path: that of an equal earlier one, or a free one."""
    mixed = np.uint64(0)
    for place in range(paths.shape[1]):
        mixed = (mixed ^ np.uint64(paths[index, place])) * np.uint64(0x9E3779B97F4A7C15)
        mixed ^= mixed >> np.uint64(29)
    slot: int = np.int64(mixed % np.uint64(len(buckets)))  # type: ignore[assignment]
    while buckets[slot] >= 0:
        equal = True
        for place in range(paths.shape[1]):
            if paths[buckets[slot], place] != paths[index, place]:
                equal = False
        if equal:
            break
        slot = (slot + 1) % len(buckets)
    return slot

"""Finds where outputs that were drawn again are missing between the draws.

A draw below n that takes k bits of an output, and another output when they are n or more, leaves
no trace of those outputs. The relations (`linear_relations`) hold between outputs at fixed lags;
draws that many outputs apart are fewer draws apart, by as many as are missing in between.

    anchor   a run without a gap at all seven places: six distances, met in the middle
    track    walk on output by output; at each place the output was a draw or is missing
    aligned  draw → output, away from gaps, where all places that pass over a draw agree

A place that skips an output where none is missing contradicts the relations within a few steps.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import TYPE_CHECKING

from weft.lazy_imports import lazy_imports, lazy_module
from weft.searches.prng.arrays import Bytes, Flags, Ints
from weft.searches.prng.attacks.linear_relations import Relations

if TYPE_CHECKING:
    import numpy as np
else:
    np = lazy_module("numpy")

with lazy_imports():
    from weft.searches.prng.kernels import alignment

KEY_BITS = 35
"""Bits in which the two halves of an anchor must meet."""
FILTER = (1 << 22) - 1
SPREAD = 5
"""Standard deviations by which the number of missing outputs may leave its mean."""
MOST_PATHS = 20_000
TAIL = 16
"""Last steps of a walk that are not used: what comes next would have judged them."""
WINDOW = 64
"""Steps in which gaps are counted, to notice that a walk is lost."""
MARGIN = 4
"""Steps with a draw at every place that must lie between a gap and what is used: each rules out
another place for the gap with the bits of the relations."""


@dataclass(frozen=True, slots=True)
class RejectionDraws:
    """Draws made with rejection: `missing_per_thousand` outputs are not there on average."""

    draws: Ints
    relations: Relations
    missing_per_thousand: int

    @property
    def run(self) -> int:
        """Draws in a row that an anchor compares."""
        return -(-KEY_BITS // self.relations.count)

    @property
    def gap_bits(self) -> int:
        """How unlikely a gap is, in bits."""
        return (1000 // self.missing_per_thousand).bit_length()

    def candidates(self, base: int, lag: int) -> Ints:
        """Return the indices where the draw `lag` outputs after draw `base` may be."""
        mean = lag * self.missing_per_thousand // 1000
        spread = SPREAD * (isqrt(mean) + 1)
        first, last = base + lag - mean - spread, base + lag - max(0, mean - spread)
        return np.arange(first, min(last, len(self.draws) - self.run) + 1)


def anchors(sieved: RejectionDraws, base: int) -> Iterator[tuple[int, ...]]:
    """Yield indices of draws that may be at the seven places, with draw `base` at the first."""
    places = [sieved.candidates(base, lag) for lag in sieved.relations.lags]
    places[0] = np.array([base])
    if any(len(place) == 0 for place in places):
        return
    keys = [_run_keys(sieved, at, place) for at, place in enumerate(places)]
    near = _sums(keys[:4])
    far = _sums(keys[4:])
    flags = np.zeros(FILTER + 1, np.bool_)
    flags[near & FILTER] = True
    order = np.argsort(near, kind="stable")
    for at in np.flatnonzero(flags[far & FILTER]):
        first = np.searchsorted(near, far[at], sorter=order)
        last = np.searchsorted(near, far[at], side="right", sorter=order)
        for other in order[first:last]:
            split = [*_split(int(other), places[:4]), *_split(int(at), places[4:])]
            if all(a < b for a, b in pairwise(split)):
                yield tuple(split)


def _run_keys(sieved: RejectionDraws, place: int, indices: Ints) -> Ints:
    """Return for a run of draws from each index what it adds to all relations."""
    table = sieved.relations.tables[place]
    keys = np.zeros(len(indices), np.int64)
    for step in range(sieved.run):
        keys |= table[sieved.draws[indices + step]] << (step * sieved.relations.count)
    return keys


def _sums(keys: list[Ints]) -> Ints:
    """Return the sums of all choices of one key from each list, the last list fastest."""
    total = keys[0]
    for more in keys[1:]:
        total = (total[:, None] ^ more[None, :]).ravel()
    return total


def _split(index: int, places: list[Ints]) -> list[int]:
    """Return which choice a sum came from."""
    chosen = []
    for place in reversed(places):
        index, at = divmod(index, len(place))
        chosen.append(int(place[at]))
    return chosen[::-1]


def track(sieved: RejectionDraws, anchor: tuple[int, ...], steps: int) -> Bytes | None:
    """Walk on from an anchor; return for each step the places (bits) whose output is missing.

    An explanation costs bits: for each gap as many as it is unlikely, and for each step with a
    gap those of the relations, which it evades. None when the best one costs too much, as what
    begins with a false anchor does.
    """
    width = MOST_PATHS
    parents = np.zeros((steps, width), np.uint16)
    moves = np.zeros((steps, width), np.uint8)
    start = np.array(anchor, np.int64)
    prices_bits = _prices_bits(sieved)
    limit = 2 * len(start) * sieved.missing_per_thousand * int(prices_bits[1])
    last = alignment.extend_paths(
        sieved.relations.tables, sieved.draws, start, prices_bits, limit, parents, moves
    )
    if last < 0:
        return None
    path = np.zeros(steps, np.uint8)
    for step in range(steps - 1, -1, -1):
        path[step] = moves[step, last]
        last = parents[step, last]
    return path[: _lost_at(sieved, path)][:-TAIL]


def _lost_at(sieved: RejectionDraws, path: Bytes) -> int:
    """Return the step at which a walk has lost its way: more gaps follow than there can be.

    Where gaps are very dense the right explanation may cost too much and be dropped.
    """
    mean = WINDOW * len(sieved.relations.lags) * sieved.missing_per_thousand // 1000
    gaps = np.convolve(path != 0, np.ones(WINDOW, np.int64), "valid")
    large_gaps = np.flatnonzero(gaps > mean + SPREAD * (isqrt(mean) + 1))
    return int(large_gaps[0]) if len(large_gaps) else len(path)


def _prices_bits(sieved: RejectionDraws) -> Ints:
    """Return what it costs that outputs are missing at given places (bits of the index)."""
    gaps = [move.bit_count() for move in range(1 << len(sieved.relations.lags))]
    evaded = sieved.relations.count
    return np.array([gap * sieved.gap_bits + (evaded if gap else 0) for gap in gaps], np.int64)


def aligned(sieved: RejectionDraws, anchor: tuple[int, ...], path: Bytes) -> tuple[Ints, Ints]:
    """Return draws, rising, and the outputs they were, counted from the anchor's first.

    At least two places saw the draw, all as the same output, one of them away from gaps: where
    gaps are dense a walk may well be wrong for some steps, but not twice in the same way.
    """
    outputs_of: dict[int, set[int]] = {}
    sightings: Counter[int] = Counter()
    sure: set[int] = set()
    for place, (lag, index) in enumerate(zip(sieved.relations.lags, anchor, strict=True)):
        drawn = path >> np.uint8(place) & 1 == 0
        draws = (index + drawn.cumsum())[drawn].tolist()
        for draw, output in zip(draws, (lag + 1 + np.flatnonzero(drawn)).tolist(), strict=True):
            outputs_of.setdefault(draw, set()).add(output)
        sightings.update(draws)
        sure.update((index + drawn.cumsum())[drawn & ~_near_gaps(path, drawn)].tolist())
    certain = sorted(d for d in sure if len(outputs_of[d]) == 1 and sightings[d] > 1)
    return np.array(certain, np.int64), np.array([min(outputs_of[d]) for d in certain], np.int64)


def _near_gaps(path: Bytes, drawn: Flags) -> Flags:
    """Return the steps that lie within the margin of a gap of one place."""
    near = np.zeros(len(path), np.bool_)
    checked = np.flatnonzero(path == 0)
    for gap in np.flatnonzero(~drawn):
        at = int(np.searchsorted(checked, gap))
        first = checked[at - MARGIN] if at >= MARGIN else 0
        last = checked[at + MARGIN - 1] if at + MARGIN <= len(checked) else len(path)
        near[first : last + 1] = True
    return near

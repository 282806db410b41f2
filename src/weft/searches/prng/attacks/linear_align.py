"""Locates the outputs that are missing between draws made by rejection.

A draw below n takes k bits of an output; if they are n or more, the output is rejected without a
trace and the next one is used. The relations (`linear_relations`) hold between outputs at fixed
lags; the draws at these lags are closer together by the number of missing outputs in between.

    anchor   a run without a gap at all seven places: six distances, by meet-in-the-middle
    track    extend it output by output; at each place the output was a draw or is missing
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
"""Bits in which the two halves of an anchor must agree."""
FILTER = (1 << 22) - 1
SPREAD = 5
"""Standard deviations by which the number of missing outputs may deviate from its mean."""
MOST_PATHS = 20_000
TAIL = 16
"""Steps at the end of a walk that are discarded because no later steps confirm them."""
WINDOW = 64
"""Length of the window of steps in which gaps are counted, to notice that a walk is lost."""
MARGIN = 4
"""Steps with a draw at every place that must separate a gap from a draw that is used; by the
relations, each rules out another place for the gap."""


@dataclass(frozen=True, slots=True)
class RejectionDraws:
    """Draws made by rejection; on average, `missing_per_thousand` outputs are missing."""

    draws: Ints
    relations: Relations
    missing_per_thousand: int

    @property
    def run(self) -> int:
        """Number of consecutive draws that an anchor compares."""
        return -(-KEY_BITS // self.relations.count)

    @property
    def gap_bits(self) -> int:
        """Improbability of a gap, in bits."""
        return (1000 // self.missing_per_thousand).bit_length()

    def candidates(self, base: int, lag: int) -> Ints:
        """Return the possible indices of the draw `lag` outputs after draw `base`."""
        mean = lag * self.missing_per_thousand // 1000
        spread = SPREAD * (isqrt(mean) + 1)
        first, last = base + lag - mean - spread, base + lag - max(0, mean - spread)
        return np.arange(first, min(last, len(self.draws) - self.run) + 1)


def anchors(sieved: RejectionDraws, base: int) -> Iterator[tuple[int, ...]]:
    """Yield possible indices of the draws at the seven places, with draw `base` at the first."""
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
    """Return, for the run of draws at each index, its contribution to all relations."""
    table = sieved.relations.tables[place]
    keys = np.zeros(len(indices), np.int64)
    for step in range(sieved.run):
        keys |= table[sieved.draws[indices + step]] << (step * sieved.relations.count)
    return keys


def _sums(keys: list[Ints]) -> Ints:
    """Return the sums of all choices of one key from each list, the last list varying fastest."""
    total = keys[0]
    for more in keys[1:]:
        total = (total[:, None] ^ more[None, :]).ravel()
    return total


def _split(index: int, places: list[Ints]) -> list[int]:
    """Return the choice of places that gave the sum at `index`."""
    chosen = []
    for place in reversed(places):
        index, at = divmod(index, len(place))
        chosen.append(int(place[at]))
    return chosen[::-1]


def track(sieved: RejectionDraws, anchor: tuple[int, ...], steps: int) -> Bytes | None:
    """Extend an anchor; return for each step the places (bits) whose output is missing.

    An explanation costs bits: the improbability of each gap and, for each step with a gap, the bits
    of the relations that it evades. Returns None if the best explanation costs too much, as those
    of a false anchor do.
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
    """Return the step at which a walk is lost: more gaps follow than are plausible.

    Where gaps are very dense, the right explanation may cost too much and be discarded. Returns the
    number of steps if the walk is never lost.
    """
    mean = WINDOW * len(sieved.relations.lags) * sieved.missing_per_thousand // 1000
    gaps = np.convolve(path != 0, np.ones(WINDOW, np.int64), "valid")
    large_gaps = np.flatnonzero(gaps > mean + SPREAD * (isqrt(mean) + 1))
    return int(large_gaps[0]) if len(large_gaps) else len(path)


def _prices_bits(sieved: RejectionDraws) -> Ints:
    """Return the cost of missing outputs, indexed by the places (bits) where they are missing."""
    gaps = [move.bit_count() for move in range(1 << len(sieved.relations.lags))]
    evaded = sieved.relations.count
    return np.array([gap * sieved.gap_bits + (evaded if gap else 0) for gap in gaps], np.int64)


def aligned(sieved: RejectionDraws, anchor: tuple[int, ...], path: Bytes) -> tuple[Ints, Ints]:
    """Return draws in rising order, and their outputs, counted from the anchor's first.

    At least two places pass over each draw, all agree on its output, and one of them is away from
    gaps: where gaps are dense, a walk may be wrong for some steps, but not twice in the same way.
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
    """Return which steps are within the margin of a gap at one place."""
    near = np.zeros(len(path), np.bool_)
    checked = np.flatnonzero(path == 0)
    for gap in np.flatnonzero(~drawn):
        at = int(np.searchsorted(checked, gap))
        first = checked[at - MARGIN] if at >= MARGIN else 0
        last = checked[at + MARGIN - 1] if at + MARGIN <= len(checked) else len(path)
        near[first : last + 1] = True
    return near

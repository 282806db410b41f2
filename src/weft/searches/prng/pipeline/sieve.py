"""The sieve: which seeds, skips and starts fit windows of draws, in both directions.

The outputs of each seed are generated once. An output that equals a draw of a window votes for the
one start at which the two would coincide; starts with enough votes survive. The votes are exactly
the hits of a pass over the window from either end, since draw i is compared with the output at its
position regardless of the order. The twin `plain_sieve` performs both passes.

Starts are counted in two ways: from the window's first draw, for a generator that is reseeded now
and then, and from the stream's first draw, for one that was seeded once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from weft.errors import BugError
from weft.searches.prng.arrays import Draws16, Ints, Ints32, Words
from weft.searches.prng.families import family_named
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis, Skips, position
from weft.searches.prng.kernels import bulk
from weft.searches.prng.kernels.compiled import KERNELS

BLOCK = 256
"""Number of seeds whose outputs are in memory at a time."""
FIELDS = ("row", "window", "skip", "start", "hits")
MAX_OUTPUTS = 20_000
"""Maximum outputs per seed, for reaching a late window from the stream's first draw."""


@dataclass(frozen=True, slots=True)
class SieveRequest:
    """The parameters of a sieve; the kernel reports those it used."""

    window: int
    skips: tuple[int, int]
    starts: tuple[int, int]
    forward_need: int
    reverse_need: int

    @property
    def need(self) -> int:
        """Minimum hits at which at least one pass keeps a hypothesis."""
        return min(self.forward_need, self.reverse_need)

    def hypotheses(self) -> int:
        """Return the hypotheses tried per seed and window, with starts counted both ways."""
        return 2 * (self.skips[1] - self.skips[0] + 1) * (self.starts[1] - self.starts[0] + 1)

    def span(self, begin: int = 0) -> int:
        """Return the number of outputs needed per seed for a window that begins at draw `begin`."""
        return self.starts[1] + (begin + self.window - 1) * (self.skips[1] + 1) + 1

    def seeded_once(self, begin: int) -> SieveRequest | None:
        """Return the request with the skips at which a window is reachable from the first draw.

        The window begins at draw `begin`; None if no skip is small enough.
        """
        room = MAX_OUTPUTS - self.starts[1] - 1
        most = min(self.skips[1], room // (begin + self.window - 1) - 1)
        return None if most < self.skips[0] else replace(self, skips=(self.skips[0], most))

    def numbers(self) -> list[int]:
        """Return the parameters in the order in which the kernel reports them."""
        return [self.window, *self.skips, *self.starts, self.need]


def check_effective(request: SieveRequest, effective: Sequence[int]) -> None:
    """Raise BugError if a sieve used parameters other than requested."""
    names = ("window", "skip_min", "skip_max", "start_min", "start_max", "need")
    for name, expected, used in zip(names, request.numbers(), effective, strict=True):
        if expected != used:
            raise BugError(f"the sieve was asked for {name} {expected} and used {used}")


def sieve(
    family: str,
    output: str,
    modulus: int,
    seeds: Words,
    windows: Sequence[Sequence[int]],
    request: SieveRequest,
    begins: Sequence[int] = (),
) -> Ints:
    """Return FIELDS, as columns, of hypotheses with at least `request.need` hits.

    `row` is an index into `seeds`. `begins` is the draw of its stream at which each window begins;
    without it, starts are counted only from the windows. Rows are ordered by seed, skip, window
    and start.
    """
    made_by = (family, output, modulus)
    near = _pass(made_by, seeds, windows, request, [0] * len(windows))
    once = request.seeded_once(max(begins, default=0))
    if once is None or not any(begins):
        return near
    late = _pass(made_by, seeds, windows, once, begins)
    late = late[late[:, 3] > request.starts[1]]  # the others are in `near`
    both = np.concatenate([near, late])
    row, window, skip, start, _ = both.T
    order: Ints = np.lexsort([start, window, skip, row])
    return both[order]


def _pass(
    made_by: tuple[str, str, int],
    seeds: Words,
    windows: Sequence[Sequence[int]],
    request: SieveRequest,
    begins: Sequence[int],
) -> Ints:
    """Sieve with starts counted from `begins` draws before each window."""
    family, output, modulus = made_by
    table = np.array(windows, np.uint16).reshape(len(windows), request.window)
    heads, nexts = _index(table, modulus)
    known = family_named(family)
    before, count = np.array(begins, np.int64), request.span(max(begins, default=0))
    blocks: list[Ints] = []
    room = 1024
    for at in range(0, len(seeds), BLOCK):
        part = seeds[at : at + BLOCK]
        none = np.zeros(len(part), np.int64)
        rows = bulk.rows(known, output, modulus, part, none, none, count)
        while True:
            survivors = np.empty((room, len(FIELDS)), np.int64)
            effective = np.zeros(6, np.int64)
            many = sieve_kernel(
                rows, heads, nexts, table.shape[1], *request.skips, *request.starts, request.need,
                np.unique(before), before, survivors, effective,
            )  # fmt: skip
            check_effective(request, [int(number) for number in effective])
            if many <= room:
                break
            room = 2 * many  # never truncate survivors
        survivors = survivors[:many]
        survivors[:, 0] += at
        blocks.append(survivors)
    return np.concatenate(blocks) if blocks else np.empty((0, len(FIELDS)), np.int64)


def _index(table: Draws16, modulus: int) -> tuple[Ints32, Ints32]:
    """Chain the occurrences of each value over all windows: first occurrences, then links."""
    values = table.reshape(-1)
    heads = np.full(modulus, -1, np.int32)
    nexts = np.full(len(values), -1, np.int32)
    for place in range(len(values) - 1, -1, -1):
        nexts[place] = heads[values[place]]
        heads[values[place]] = place
    return heads, nexts


@KERNELS.kernel
def _vote(
    outputs: Draws16, heads: Ints32, nexts: Ints32, first: int, last: int, stride: int, starts: int,
    counts: NDArray[np.bool_], index: Ints, bases: Ints, votes: NDArray[np.int16],
) -> int:  # fmt: skip
    """Let outputs vote for starts, for entries in `counts`; return the most votes of a start."""
    top = 0
    for place in range(first, last):
        entry = heads[outputs[place]]
        while entry >= 0:
            start = place - index[entry] * stride - first
            if 0 <= start < starts and counts[entry]:
                at = bases[entry] + start
                votes[at] += 1
                top = max(top, votes[at])
            entry = nexts[entry]
    return top


@KERNELS.entry
def sieve_kernel(
    rows: Draws16, heads: Ints32, nexts: Ints32, size: int, skip_min: int, skip_max: int,
    start_min: int, start_max: int, need: int, origins: Ints, begins: Ints,
    survivors: Ints, effective: Ints,
) -> int:  # fmt: skip
    """Write survivors to `survivors` as far as there is room; return their total number.

    `begins` holds, for each window, the number of draws before it from which starts are counted;
    `origins` holds the distinct values of `begins`. Starts are written relative to the window's
    first draw.
    """
    starts = start_max - start_min + 1
    windows = len(nexts) // size
    many = 0
    votes = np.zeros(windows * starts, np.int16)
    owner = np.arange(len(nexts)) // size
    index, bases = np.arange(len(nexts)) % size, owner * starts
    counting = np.empty((len(origins), len(nexts)), np.bool_)
    for number in range(len(origins)):
        counting[number] = begins[owner] == origins[number]
    for row in range(rows.shape[0]):
        for skip in range(skip_min, skip_max + 1):
            stride = skip + 1
            votes[:] = 0
            top = 0
            for number in range(len(origins)):
                first = start_min + origins[number] * stride
                last = first + starts + (size - 1) * stride
                top = max(
                    top,
                    _vote(
                        rows[row], heads, nexts, first, last, stride, starts, counting[number],
                        index, bases, votes,
                    ),
                )  # fmt: skip
            if top < need:
                continue
            for at in range(len(votes)):
                if votes[at] >= need:
                    if many < len(survivors):
                        survivors[many, 0], survivors[many, 1], survivors[many, 2] = (
                            row,
                            at // starts,
                            skip,
                        )
                        first = start_min + begins[at // starts] * stride
                        survivors[many, 3], survivors[many, 4] = at % starts + first, votes[at]
                    many += 1
    effective[0], effective[1], effective[2] = len(nexts) // windows, skip_min, skip_max
    effective[3], effective[4] = start_min, start_min + starts - 1
    effective[5] = need
    return many


def plain_sieve(
    family: str,
    output: str,
    modulus: int,
    seeds: Sequence[int],
    draws: Sequence[int],
    request: SieveRequest,
) -> list[tuple[int, int, int, int, int]]:
    """Return (seed, skip, start, forward hits, reverse hits) of one window, by two passes."""
    survivors = []
    for seed in seeds:
        stream = generate(Hypothesis(family, output, modulus, seed), request.span())
        for skip in range(request.skips[0], request.skips[1] + 1):
            for start in range(request.starts[0], request.starts[1] + 1):
                guess = Hypothesis(
                    family, output, modulus, seed, skips=Skips.constant(skip), start=start
                )
                matches = [stream[position(guess, i)] == draw for i, draw in enumerate(draws)]
                forward = sum(matches[i] for i in range(len(matches)))
                reverse = sum(matches[i] for i in range(len(matches) - 1, -1, -1))
                if forward >= request.need:
                    survivors.append((seed, skip, start, forward, reverse))
    return survivors

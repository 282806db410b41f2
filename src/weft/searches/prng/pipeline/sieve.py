"""The sieve: which seeds, skips and starts fit windows of draws, in both directions.

For each seed its outputs are made once. An output that equals a draw of a window votes for the
one start at which the two would coincide; starts with enough votes survive. That counts exactly
what a pass over the window counts, from either end: draw i is compared with the output at its
own position, whichever draw comes first. `plain_sieve` walks both passes and is the twin.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from weft.errors import BugError
from weft.searches.prng.arrays import Draws16, Ints, Ints32, Words
from weft.searches.prng.families import family_named
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis, Skips, position
from weft.searches.prng.kernels import bulk
from weft.searches.prng.kernels.compiled import KERNELS

BLOCK = 256
"""Seeds whose outputs are held at a time."""
FIELDS = ("row", "window", "skip", "start", "hits")


@dataclass(frozen=True, slots=True)
class SieveRequest:
    """What a sieve is asked to do; the kernel says back what it did."""

    window: int
    skips: tuple[int, int]
    starts: tuple[int, int]
    forward_need: int
    reverse_need: int

    @property
    def need(self) -> int:
        """Hits below which neither pass keeps a hypothesis."""
        return min(self.forward_need, self.reverse_need)

    def hypotheses(self) -> int:
        """Return how many hypotheses are tried per seed and window."""
        return (self.skips[1] - self.skips[0] + 1) * (self.starts[1] - self.starts[0] + 1)

    def span(self) -> int:
        """Return how many outputs of a seed are looked at."""
        return self.starts[1] + (self.window - 1) * (self.skips[1] + 1) + 1

    def numbers(self) -> list[int]:
        """Return the parameters as the kernel reports them."""
        return [self.window, *self.skips, *self.starts, self.need]


def check_effective(request: SieveRequest, effective: Sequence[int]) -> None:
    """Refuse a sieve that did something else than it was asked: its trial would mean nothing."""
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
) -> Ints:
    """Return FIELDS of all that reach `request.need` hits, as columns; `row` indexes `seeds`.

    The order is that of seeds, skips, windows, starts.
    """
    table = np.array(windows, np.uint16).reshape(len(windows), request.window)
    heads, nexts = _index(table, modulus)
    known = family_named(family)
    blocks: list[Ints] = []
    room = 1024
    for at in range(0, len(seeds), BLOCK):
        part = seeds[at : at + BLOCK]
        none = np.zeros(len(part), np.int64)
        rows = bulk.rows(known, output, modulus, part, none, none, request.span())
        while True:
            survivors = np.empty((room, len(FIELDS)), np.int64)
            effective = np.zeros(6, np.int64)
            many = sieve_kernel(
                rows, heads, nexts, table.shape[1], *request.skips, *request.starts, request.need,
                survivors, effective,
            )  # fmt: skip
            check_effective(request, [int(number) for number in effective])
            if many <= room:
                break
            room = 2 * many  # all that survive are kept, however many there are
        survivors = survivors[:many]
        survivors[:, 0] += at
        blocks.append(survivors)
    return np.concatenate(blocks) if blocks else np.empty((0, len(FIELDS)), np.int64)


def _index(table: Draws16, modulus: int) -> tuple[Ints32, Ints32]:
    """Chain the places of each value over all windows: the first, then each one's next."""
    values = table.reshape(-1)
    heads = np.full(modulus, -1, np.int32)
    nexts = np.full(len(values), -1, np.int32)
    for place in range(len(values) - 1, -1, -1):
        nexts[place] = heads[values[place]]
        heads[values[place]] = place
    return heads, nexts


@KERNELS.entry
def sieve_kernel(
    rows: Draws16, heads: Ints32, nexts: Ints32, size: int, skip_min: int, skip_max: int,
    start_min: int, start_max: int, need: int, survivors: Ints, effective: Ints,
) -> int:  # fmt: skip
    """Write survivors to `survivors` as far as it has room; return how many there are."""
    starts = start_max - start_min + 1
    windows = len(nexts) // size
    many = 0
    votes = np.zeros(windows * starts, np.int16)
    index, bases = np.arange(len(nexts)) % size, np.arange(len(nexts)) // size * starts
    for row in range(rows.shape[0]):
        for skip in range(skip_min, skip_max + 1):
            stride = skip + 1
            votes[:] = 0
            top = 0
            for place in range(start_min, start_max + (size - 1) * stride + 1):
                entry = heads[rows[row, place]]
                while entry >= 0:
                    start = place - index[entry] * stride - start_min
                    if 0 <= start < starts:
                        at = bases[entry] + start
                        votes[at] += 1
                        top = max(top, votes[at])
                    entry = nexts[entry]
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
                        survivors[many, 3], survivors[many, 4] = at % starts + start_min, votes[at]
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
    """Return (seed, skip, start, forward hits, reverse hits) of one window, both passes walked."""
    survivors = []
    for seed in seeds:
        stream = generate(Hypothesis(family, output, modulus, seed), request.span())
        for skip in range(request.skips[0], request.skips[1] + 1):
            for start in range(request.starts[0], request.starts[1] + 1):
                guess = Hypothesis(
                    family, output, modulus, seed, skips=Skips.constant(skip), start=start
                )
                there = [stream[position(guess, i)] == draw for i, draw in enumerate(draws)]
                forward = sum(there[i] for i in range(len(there)))
                reverse = sum(there[i] for i in range(len(there) - 1, -1, -1))
                if forward >= request.need:
                    survivors.append((seed, skip, start, forward, reverse))
    return survivors

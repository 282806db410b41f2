"""A survivor: a seed whose outputs fit a window before a cut, and its alignment with the stream.

One function gives the position of a draw for sieve, scorer and predictor. `base` is the position
of the stream's draw 0, which is before the generator's first output if it was reseeded later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from weft.searches.prng.arrays import Draws16, Ints
from weft.searches.prng.families import family_named
from weft.searches.prng.hypothesis import Hypothesis, Skips
from weft.searches.prng.kernels import bulk
from weft.searches.prng.pipeline.request import PipelineRequest

if TYPE_CHECKING:
    import polars as pl

Index = TypeVar("Index", int, Ints)


@dataclass(frozen=True, slots=True)
class Survivor:
    """A hypothesis about one stream: draw i is output `base + i * (skip + 1)`."""

    stream: str
    seed: int
    skip: int
    base: int

    def first(self) -> int:
        """Return the index of the first draw it predicts."""
        return int(first_draw(np.array([self.base]), np.array([self.skip]))[0])

    def hypothesis(self, family: str, output: str, modulus: int) -> Hypothesis:
        """Return the hypothesis whose draw 0 is the stream's draw `first()`."""
        start = draw_position(self.base, self.skip, self.first())
        return Hypothesis(
            family, output, modulus, self.seed, skips=Skips.constant(self.skip), start=start
        )


def draw_position(base: Index, skip: Index, index: Index) -> Index:
    """Return the position of the stream's draw `index` among the generator's outputs.

    Arguments are integers or arrays of them.
    """
    return base + index * (skip + 1)


def first_draw(base: Ints, skip: Ints) -> Ints:
    """Return the first draw that is at or after the generator's first output."""
    first: Ints = np.maximum(0, -(base // (skip + 1)))
    return first


def base_of(start: Ints, skip: Ints, offset: Ints) -> Ints:
    """Return the base of a hypothesis whose position at draw `offset` is `start`."""
    return start - offset * (skip + 1)


def predicted(
    request: PipelineRequest, rows: pl.DataFrame, first: int | Ints, count: int
) -> Draws16:
    """Return `count` outputs of each survivor, for the stream's draws from `first` on.

    `first` is one index for all rows or one per row, never before a row's own first draw.
    """
    base = rows["base"].to_numpy().astype(np.int64)
    skip = rows["skip"].to_numpy().astype(np.int64)
    leads = draw_position(base, skip, np.asarray(first, np.int64))
    assert len(rows) == 0 or leads.min() >= 0, "a survivor has no output for this draw"
    seeds = rows["seed"].to_numpy()
    family = family_named(request.family)
    return bulk.rows(family, request.output, request.modulus, seeds, leads, skip, count)

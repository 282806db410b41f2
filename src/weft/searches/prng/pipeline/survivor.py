"""A survivor: a seed whose outputs fit a window before a cut, and where it stands in the stream.

One function gives the position of a draw for sieve, scorer and predictor. `base` is the position
of the stream's draw 0, which may lie before the generator's first output: a reseeded stream.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from weft.searches.prng.arrays import Ints
from weft.searches.prng.hypothesis import Hypothesis, Skips

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
    """Return the position among the generator's outputs of the stream's draw `index`.

    For numbers or arrays of them.
    """
    return base + index * (skip + 1)


def first_draw(base: Ints, skip: Ints) -> Ints:
    """Return the first draw whose position is not before the generator's first output."""
    first: Ints = np.maximum(0, -(base // (skip + 1)))
    return first


def base_of(start: Ints, skip: Ints, offset: Ints) -> Ints:
    """Return the base of a hypothesis whose position at draw `offset` is `start`."""
    return start - offset * (skip + 1)

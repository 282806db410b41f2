"""One possible origin of the draws: family, seed or state, output map, skips, start.

The same value is passed from the attack that found it to the verdict and the prediction. Each call
of the output map is one position in the stream; draw i of a history is at `position(i)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weft.errors import InputError


@dataclass(frozen=True, slots=True)
class Skips:
    """Unrecorded calls before each draw except the first.

    `between` holds the least and the greatest number; if they differ, `listed` holds the numbers
    before draws 1, 2, … as far as they are known.
    """

    between: tuple[int, int] = (0, 0)
    listed: tuple[int, ...] = ()

    @classmethod
    def constant(cls, count: int) -> Skips:
        """Return the skips with the same number before every draw."""
        return cls((count, count))

    @property
    def is_constant(self) -> bool:
        """Whether every draw has the same number of skips before it."""
        return self.between[0] == self.between[1]

    @property
    def choices(self) -> int:
        """The number of possible skip counts before a draw."""
        return self.between[1] - self.between[0] + 1

    def before(self, index: int) -> int:
        """Return the number of calls skipped immediately before draw `index` (1, 2, …)."""
        if self.is_constant:
            return self.between[0]
        return self.listed[index - 1]


@dataclass(frozen=True, slots=True)
class Hypothesis:
    """A stream of draws from a `seed`, expanded by the family's seeding, or from a `state`.

    Exactly one of the two is given. `start` calls precede draw 0.
    """

    family: str
    output: str
    modulus: int
    seed: int | None = None
    state: str | None = None
    """The words of the state in hexadecimal."""
    skips: Skips = Skips()
    start: int = 0
    schema_version: Literal[1] = 1

    def __post_init__(self) -> None:
        if (self.seed is None) == (self.state is None):
            raise InputError("a hypothesis has either a seed or a state")


def position(hypothesis: Hypothesis, index: int) -> int:
    """Return the position in the stream of draw `index`: `start + index * (skip + 1)`.

    With varying skips, the listed skips are summed. Raises IndexError beyond the listed ones.
    """
    skips = hypothesis.skips
    if skips.is_constant:
        return hypothesis.start + index * (skips.between[0] + 1)
    if index > len(skips.listed):
        raise IndexError(f"skips are known for {len(skips.listed)} draws, not for draw {index}")
    return hypothesis.start + index + sum(skips.listed[:index])

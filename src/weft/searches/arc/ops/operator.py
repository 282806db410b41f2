"""What an operator is. Facts about shape and palette let the search prune; tests check them.

An operator takes one value and the example's input grid, and gives one value or fails. The
`twin` is its definition, in plain Python on plain values; the kernel must do the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum

from weft.searches.arc.values import Grid, Value, ValueStage

Twin = Callable[[Value, Grid, int, int], Value | None]
BIT = 1000
"""Costs are counted in thousandths of a bit."""


class ShapeEffect(Enum):
    """What a grid-to-grid operator can do to height and width."""

    KEEP = "keep"
    """Neither changes."""
    SHRINK = "shrink"
    """Neither grows."""
    GROW = "grow"
    """Neither shrinks."""
    INPUT = "input"
    """The result is as large as the input grid, whatever came in (also from other stages)."""
    ANY = "any"


class Palette(Enum):
    """Which colours a result can have that the value did not."""

    KEEP = "keep"
    """None, and black (0) only if it is among the value's."""
    BLACK = "black"
    """Black (0) at most."""
    INPUT = "input"
    """Black and those of the input grid at most."""
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator. `kernel`, `p` and `q` are what the compiled dispatcher of `takes` gets."""

    name: str
    takes: ValueStage
    gives: ValueStage
    kernel: int
    p: int
    q: int
    millibits: int
    shape: ShapeEffect
    palette: Palette
    twin: Twin
    doc: str

    def plain(self, value: Value, given: Grid) -> Value | None:
        """Run the slow twin: the operator's definition."""
        return self.twin(value, given, self.p, self.q)


@dataclass(frozen=True, slots=True)
class OperatorFamily:
    """The operators of one kernel; a call declares one of them: a row in the table of its file."""

    kernel: int
    twin: Twin
    takes: ValueStage = ValueStage.GRID
    gives: ValueStage = ValueStage.GRID
    shape: ShapeEffect = ShapeEffect.ANY
    palette: Palette = Palette.KEEP

    def __call__(
        self, name: str, p: int, q: int, bits: int, doc: str, palette: Palette | None = None,
        shape: ShapeEffect | None = None,
    ) -> Operator:  # fmt: skip
        """Declare an operator; facts that are not given are the family's."""
        return Operator(
            name, self.takes, self.gives, self.kernel, p, q, bits * BIT, shape or self.shape,
            palette or self.palette, self.twin, doc,
        )  # fmt: skip

"""The operator type. Facts about shape and palette let the search prune; tests check them.

An operator maps one value and the example's input grid to one value, or fails. Its `twin` is its
definition, in plain Python on plain values; the kernel must do the same.
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
    """The effect of a grid-to-grid operator on height and width."""

    KEEP = "keep"
    """Neither changes."""
    SHRINK = "shrink"
    """Neither grows."""
    GROW = "grow"
    """Neither shrinks."""
    INPUT = "input"
    """The result is as large as the input grid, whatever the value (also of other value types)."""
    ANY = "any"


class Palette(Enum):
    """The colours that a result can add to those of the value."""

    KEEP = "keep"
    """None; black (0) only if the value has it."""
    BLACK = "black"
    """At most black (0)."""
    INPUT = "input"
    """At most black and the colours of the input grid."""
    ANY = "any"


@dataclass(frozen=True, slots=True)
class Operator:
    """An operator. `kernel`, `p` and `q` are passed to the compiled dispatcher of its kernels."""

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
        """Apply the slow twin, the operator's definition."""
        return self.twin(value, given, self.p, self.q)


@dataclass(frozen=True, slots=True)
class OperatorFamily:
    """The operators of one kernel; a call declares one of them, a row in its module's table."""

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
        """Declare an operator; facts that are omitted are the family's."""
        return Operator(
            name, self.takes, self.gives, self.kernel, p, q, bits * BIT, shape or self.shape,
            palette or self.palette, self.twin, doc,
        )  # fmt: skip

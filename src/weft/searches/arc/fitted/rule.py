"""The interface of fitted operators ("rules"): the last step of a program.

    vector (one grid per example), inputs, training targets
        --propose-->  parameters, as canonical bytes
        --apply---->  kept only if every training grid becomes exactly its target
        --agree---->  kept only if all that remain agree on the test grids

`apply` defines the meaning of the parameters and is all that a finished program needs. A rule
knows nothing of the search. It fails (None) rather than guess: if no parameters fit, if they do
not determine a test grid, or if equally good ones disagree on it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from weft.errors import ValueInvalid
from weft.searches.arc.kernels.layout import I64, U8
from weft.searches.arc.ops.operator import BIT, ShapeEffect
from weft.searches.arc.values import Grid, decode_grids, encode_grids

BASE = 4 * BIT
"""Cost of naming the rule."""
COLOUR = 3322
"""Cost of one of ten colours, in thousandths of a bit."""
MAX_PARAMS = 4096


@dataclass(frozen=True, slots=True)
class RuleFit:
    """A rule with its parameters and cost, and its outputs on all examples (grids, one by one)."""

    rule: str
    params: bytes
    millibits: int
    outputs: bytes


@dataclass(frozen=True, slots=True)
class Examples:
    """`EncodedExamples` in plain form: vector, inputs, and one target per training pair."""

    values: tuple[Grid, ...]
    given: tuple[Grid, ...]
    expected: tuple[Grid, ...]

    def pairs(self) -> list[tuple[Grid, Grid]]:
        """Return the vector's training grids with their targets."""
        return list(zip(self.values, self.expected, strict=False))


@dataclass(frozen=True, slots=True)
class EncodedExamples:
    """A vector with its task, as kernels read it: encoded grids and where each begins.

    Training examples come first; there are as many as target offsets. All arrays are C contiguous
    and writable (numba compiles again for others).
    """

    src: U8
    offsets: I64
    inp: U8
    inp_offsets: I64
    targets: U8
    target_offsets: I64

    @staticmethod
    def of(
        node: Sequence[Grid], inputs: Sequence[Grid], targets: Sequence[Grid]
    ) -> EncodedExamples:
        """Encode plain grids."""
        return EncodedExamples(*_packed(node), *_packed(inputs), *_packed(targets))

    def examples(self) -> Examples:
        """Decode all grids."""
        return Examples(*(decode_grids(a.tobytes()) for a in (self.src, self.inp, self.targets)))


def _packed(grids: Sequence[Grid]) -> tuple[U8, I64]:
    sizes = [2 + len(grid.cells) for grid in grids]
    starts = np.cumsum([0, *sizes], dtype=np.int64)[: len(grids)]
    return np.array(bytearray(encode_grids(grids)), np.uint8), starts.copy()


class FittedRule(ABC):
    """A fitted operator."""

    name: ClassVar[str]
    doc: ClassVar[str]
    shape: ClassVar[ShapeEffect]

    @abstractmethod
    def propose(self, examples: Examples) -> Iterator[bytes]:
        """Yield every parameter setting worth trying, in a fixed order.

        Not all need fit. The training pairs determine them, and the test grids must not.
        """

    @abstractmethod
    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        """Apply the parameters to a grid; None if they do not determine the result."""

    @abstractmethod
    def price(self, params: bytes) -> int:
        """Return the cost of the rule with its parameters, in thousandths of a bit."""

    @abstractmethod
    def show(self, params: bytes) -> str:
        """Return the parameters in the notation used in programs."""

    @abstractmethod
    def read(self, text: str) -> bytes:
        """Invert `show`; raises ValueError, IndexError or KeyError if the text is invalid."""

    def parse(self, text: str) -> bytes:
        """Parse parameters from a program; raises ValueInvalid unless `show` would write them."""
        try:
            params = self.read(text)
            same = len(params) <= MAX_PARAMS and self.show(params) == text
        except (ValueError, IndexError, KeyError):
            same = False
        if not same:
            raise ValueInvalid(
                f"{text!r} is not a parameter of {self.name}",
                hint=f"see docs/arc-language.md: {self.doc}",
            )
        return params

    def fit(self, view: EncodedExamples) -> RuleFit | None:
        """Fit the rule; a compiled rule overrides this and must give the same as `fit_plain`."""
        return self.fit_plain(view)

    def fit_plain(self, view: EncodedExamples) -> RuleFit | None:
        """Return the first proposal that fits, if all others that fit give the same outputs."""
        examples = view.examples()
        if examples.values[: len(examples.expected)] == examples.expected:
            return None  # nothing is left to do
        best: RuleFit | None = None
        for params in self.propose(examples):
            outputs = self.outputs(params, examples)
            if outputs is None or not self.covers(params, examples):
                continue
            if best is None:
                best = RuleFit(self.name, params, self.price(params), outputs)
            elif outputs != best.outputs:
                return None
        return best

    def covers(self, params: bytes, examples: Examples) -> bool:
        """Whether training shows enough to trust the parameters on the test grids."""
        return True

    def outputs(self, params: bytes, examples: Examples) -> bytes | None:
        """Apply the rule to every example; None if a training output is wrong or anything fails."""
        if len(params) > MAX_PARAMS:
            return None
        grids = []
        for e, (value, given) in enumerate(zip(examples.values, examples.given, strict=True)):
            grid = self.apply(params, value, given)
            if grid is None or (e < len(examples.expected) and grid != examples.expected[e]):
                return None
            grids.append(grid)
        return encode_grids(grids)


class Composed(FittedRule):
    """A rule that the search learns from many vectors at the end of a phase.

    Its parameters are text. It proposes nothing, so fitting it to other pairs finds nothing.
    """

    def propose(self, examples: Examples) -> Iterator[bytes]:
        return iter(())

    def show(self, params: bytes) -> str:
        return params.decode()


class Proposed(Composed):
    """A composed rule whose parameters the pairs themselves propose, one vector at a time."""

    @abstractmethod
    def settings(self, examples: Examples) -> Iterator[str]:
        """Yield parameters that may give the targets, in a fixed order, cheapest first."""

    def proposed(self, examples: Examples) -> Iterator[str]:
        """Yield the parameters that give every target."""
        for text in self.settings(examples):
            if self.gives_targets(text, examples):
                yield text

    def gives_targets(self, text: str, examples: Examples) -> bool:
        """Whether parameters map every training grid to its target."""
        given = zip(examples.values, examples.given, examples.expected, strict=False)
        return all(self.apply(text.encode(), v, g) == t for v, g, t in given)


def digit(symbol: str) -> int:
    """Parse one colour; raises ValueError if it is not a digit."""
    if len(symbol) != 1 or symbol not in "0123456789":
        raise ValueError(symbol)
    return int(symbol)


def number(symbol: str, low: int = 0, high: int = 99) -> int:
    """Parse a number without sign or leading zeros; raises ValueError if it is out of bounds."""
    value = int(symbol)
    if str(value) != symbol or not low <= value <= high:
        raise ValueError(symbol)
    return value


def colour_decides(examples: Examples) -> bool:
    """Whether equal colours always become equal ones, as in a colour map. Sizes are equal."""
    changes = {cells for v, t in examples.pairs() for cells in zip(v.cells, t.cells, strict=True)}
    return len({old for old, _ in changes}) == len(changes)


def sizes_equal(examples: Examples) -> bool:
    """Whether every training grid of the vector is as large as its target."""
    return all(value.size == target.size for value, target in examples.pairs())


def changing_colours(examples: Examples) -> list[int]:
    """Return the colours of all cells that change, ascending. Sizes are equal."""
    cells = {pair for v, t in examples.pairs() for pair in zip(v.cells, t.cells, strict=True)}
    return sorted({old for old, new in cells if old != new})

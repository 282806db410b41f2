"""The contract of views: how an example is seen, told by its input alone, and how to undo it.

    training pairs ──fit──► parameters        what the view keeps as it is
    parameters, an input ──turn──► there, back    for this example's grids, output included

A program with a view is run on the input seen so, and what it returns is seen back.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from weft.arc.ops.operator import BIT
from weft.arc.task import Pair
from weft.arc.turns import Turn
from weft.arc.values import Grid
from weft.errors import ValueInvalid

BASE = 6 * BIT
"""That there is a view, and which; about what an operator costs."""


class Sight(ABC):
    """One view."""

    name: ClassVar[str]
    doc: ClassVar[str]

    @abstractmethod
    def fit(self, train: Sequence[Pair]) -> str:
        """Return the parameters that training pairs determine."""

    @abstractmethod
    def turn(self, parameters: str, given: Grid) -> Turn:
        """Return how an example with this input is seen, and the way back."""

    @abstractmethod
    def turned(self, parameters: str, turn: Turn) -> str:
        """Return the parameters for a task whose grids were all turned or recoloured."""

    @abstractmethod
    def price(self, parameters: str) -> int:
        """Return what view and parameters cost, in thousandths of a bit."""

    @abstractmethod
    def is_valid(self, parameters: str) -> bool:
        """Whether `fit` could have returned a text."""

    def parse(self, text: str) -> str:
        """Return parameters as a program writes them, or refuse them."""
        if not self.is_valid(text):
            raise ValueInvalid(
                f"{text!r} is not a parameter of {self.name}", hint=f"it means: {self.doc}"
            )
        return text

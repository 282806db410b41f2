"""The contract of views: a symmetry for each example, determined by its input alone.

    training pairs ──fit──► parameters                what the view keeps as it is
    parameters, an input ──symmetry──► apply, undo    for this example's grids, output included

A program with a view runs on the viewed input, and the view is undone on what it returns.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import ClassVar

from weft.errors import ValueInvalid
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.symmetries import Symmetry
from weft.searches.arc.task import Pair
from weft.searches.arc.values import Grid

BASE = 6 * BIT
"""That there is a view, and which; about what an operator costs."""


class ViewDefinition(ABC):
    """One view."""

    name: ClassVar[str]
    doc: ClassVar[str]

    @abstractmethod
    def fit(self, train: Sequence[Pair]) -> str:
        """Return the parameters that training pairs determine."""

    @abstractmethod
    def symmetry(self, parameters: str, given: Grid) -> Symmetry:
        """Return the symmetry for an example with this input."""

    @abstractmethod
    def under(self, parameters: str, symmetry: Symmetry) -> str:
        """Return the parameters for a task whose grids were all transformed by a symmetry."""

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

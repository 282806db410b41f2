"""All views in a fixed order, a view as written in a program, and the choice of views to search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from weft.searches.arc.normal.view import (
    BLACK,
    ByCount,
    GroundBlack,
    GroundByCount,
    LinesLie,
    ViewDefinition,
    ground_of,
)
from weft.searches.arc.symmetries import Symmetry, composed
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid

BRIEF: tuple[ViewDefinition, ...] = (ByCount(), LinesLie(), GroundByCount())
"""Views that get a short search."""
VIEWS: tuple[ViewDefinition, ...] = (*BRIEF, GroundBlack())
BY_NAME: dict[str, ViewDefinition] = {view.name: view for view in VIEWS}
assert len(BY_NAME) == len(VIEWS), "two views have one name"
_PROBE = Grid(2, 5, bytes(range(10)))
"""A grid that no two symmetries map to the same grid."""


@dataclass(frozen=True, slots=True)
class FittedView:
    """A view with its parameters, and optionally another view that is applied to its result."""

    name: str
    parameters: str = ""
    below: FittedView | None = field(default=None, kw_only=True)

    def text(self) -> str:
        """Return the view as the first lines of a program."""
        own = f'view {self.name} "{self.parameters}"' if self.parameters else f"view {self.name}"
        return own if self.below is None else f"{own}\n{self.below.text()}"

    def layers(self) -> tuple[FittedView, ...]:
        """Return the individual views, in the order in which they are applied."""
        return (replace(self, below=None), *(() if self.below is None else self.below.layers()))

    @property
    def shows_objects(self) -> bool:
        """Whether the short search also learns actions on objects as this view shows them."""
        return BY_NAME[self.name].shows_objects

    def millibits(self) -> int:
        """Return the cost in thousandths of a bit."""
        below = 0 if self.below is None else self.below.millibits()
        return BY_NAME[self.name].price(self.parameters) + below

    def symmetry(self, given: Grid) -> Symmetry:
        """Return the symmetry for an example with the input `given`."""
        own = BY_NAME[self.name].symmetry(self.parameters, given)
        return own if self.below is None else composed(own, self.below.symmetry(own.apply(given)))

    def of(self, task: ArcTask) -> ArcTask:
        """Return the viewed task without its truth."""
        return ArcTask(task.name, tuple(map(self._pair, task.train)), self.each(task.test))

    def each(self, inputs: Sequence[Grid]) -> tuple[Grid, ...]:
        """Return the viewed inputs."""
        return tuple(self.symmetry(grid).apply(grid) for grid in inputs)

    def back(self, inputs: Sequence[Grid], outputs: Sequence[Grid]) -> tuple[Grid, ...]:
        """Map outputs for viewed inputs back to the original inputs."""
        both = zip(inputs, outputs, strict=True)
        return tuple(self.symmetry(given).undo(output) for given, output in both)

    def under(self, symmetry: Symmetry) -> FittedView:
        """Return the view that has the same effect on a task transformed by a symmetry.

        The symmetry keeps black, so it also transforms what a view of the background shows.
        """
        below = None if self.below is None else self.below.under(symmetry)
        own = BY_NAME[self.name].under(self.parameters, symmetry)
        return FittedView(self.name, own, below=below)

    def _pair(self, pair: Pair) -> Pair:
        symmetry = self.symmetry(pair.input)
        return Pair(symmetry.apply(pair.input), symmetry.apply(pair.output))


def grounded(task: ArcTask) -> FittedView | None:
    """Return the view on black, unless the background of every input is already black."""
    view = FittedView(GroundBlack.name)
    inputs = [*(pair.input for pair in task.train), *task.test]
    return view if any(view.symmetry(grid).apply(_PROBE) != _PROBE for grid in inputs) else None


def is_coloured(task: ArcTask) -> bool:
    """Whether black is the most common colour of no input."""
    inputs = (*(pair.input for pair in task.train), *task.test)
    return all(ground_of(grid) != BLACK for grid in inputs)


def worthwhile(task: ArcTask) -> tuple[FittedView, ...]:
    """Return the views worth a short search: those whose effect no operator can have.

    Views that apply the same symmetry to every example are left out, as are views with the same
    effect as an earlier one.
    """
    inputs = [*(pair.input for pair in task.train), *task.test]
    by_effect: dict[tuple[Grid, ...], FittedView] = {}
    for view in BRIEF:
        chosen = FittedView(view.name, view.fit(task.train))
        effect = tuple(chosen.symmetry(grid).apply(_PROBE) for grid in inputs)
        if any(probe != effect[0] for probe in effect):
            by_effect.setdefault(effect, chosen)
    return tuple(by_effect.values())

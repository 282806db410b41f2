"""All views in their fixed order, a view as a program names it, and which are worth a search."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.arc.normal.colours import ByCount
from weft.arc.normal.turning import InkOnTop, LinesLie
from weft.arc.normal.view import Sight
from weft.arc.task import ArcTask, Pair
from weft.arc.turns import Turn
from weft.arc.values import Grid

VIEWS: tuple[Sight, ...] = (ByCount(), LinesLie(), InkOnTop())
BY_NAME: dict[str, Sight] = {view.name: view for view in VIEWS}
assert len(BY_NAME) == len(VIEWS), "two views have one name"
_PROBE = Grid(2, 5, bytes(range(10)))
"""No two turns do the same to it."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """A view with its parameters."""

    name: str
    parameters: str = ""

    def text(self) -> str:
        """Write it as the first line of a program does."""
        return f'view {self.name} "{self.parameters}"' if self.parameters else f"view {self.name}"

    def millibits(self) -> int:
        """What it costs to say."""
        return BY_NAME[self.name].price(self.parameters)

    def turn(self, given: Grid) -> Turn:
        """Return how an example with this input is seen."""
        return BY_NAME[self.name].turn(self.parameters, given)

    def of(self, task: ArcTask) -> ArcTask:
        """Return a task as it is seen, without its truth."""
        return ArcTask(task.name, tuple(map(self._pair, task.train)), self.each(task.test))

    def each(self, inputs: Sequence[Grid]) -> tuple[Grid, ...]:
        """Return inputs as they are seen."""
        return tuple(self.turn(grid).there(grid) for grid in inputs)

    def back(self, inputs: Sequence[Grid], outputs: Sequence[Grid]) -> tuple[Grid, ...]:
        """Return what was made of inputs that were seen so, as it is."""
        both = zip(inputs, outputs, strict=True)
        return tuple(self.turn(given).back(output) for given, output in both)

    def turned(self, turn: Turn) -> Chosen:
        """Return the view that does to a task that was turned or recoloured what this one does."""
        return Chosen(self.name, BY_NAME[self.name].turned(self.parameters, turn))

    def _pair(self, pair: Pair) -> Pair:
        turn = self.turn(pair.input)
        return Pair(turn.there(pair.input), turn.there(pair.output))


def worthwhile(task: ArcTask) -> tuple[Chosen, ...]:
    """Return the views that show a task otherwise than the plain language could.

    A view that does the same to every example is left out, and one that does what an earlier one
    does.
    """
    inputs = [*(pair.input for pair in task.train), *task.test]
    found: dict[tuple[Grid, ...], Chosen] = {}
    for view in VIEWS:
        chosen = Chosen(view.name, view.fit(task.train))
        effect = tuple(chosen.turn(grid).there(_PROBE) for grid in inputs)
        if any(seen != effect[0] for seen in effect):
            found.setdefault(effect, chosen)
    return tuple(found.values())

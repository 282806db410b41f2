"""How plausible the outputs of a program are by themselves: what held in training, and they break.

    task, outputs ──► violated invariants, broken constants, new colour changes ──► bits

Looks at outputs only, so it judges every group of a puzzle, examined or not. `ranking` and
`support` ask for the same outputs, so what is known of them is kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from weft.searches.arc.evidence import violated
from weft.searches.arc.invariants import OutputInvariants
from weft.searches.arc.task import ArcTask
from weft.searches.arc.values import Grid

BROKEN_BITS = 10
"""What each break makes a program longer by, where programs are weighed against each other."""
MOST_CONSTANTS = 2


@dataclass(frozen=True, slots=True)
class Breaks:
    """How much the outputs for the tests of a task break."""

    violated: int
    """Invariants (`evidence.INVARIANTS`)."""
    constants: int
    """Properties that are the same in all training pairs, of the worst test."""
    changes: int
    """Colour changes that no training pair shows, of the worst test."""

    @property
    def bits(self) -> int:
        """What they add to the bits of a program that gives the outputs."""
        kinds = (self.violated > 0) + min(self.constants, MOST_CONSTANTS) + (self.changes > 0)
        return BROKEN_BITS * kinds


class Plausibility:
    """Judges the outputs that the programs of one puzzle give, each only once."""

    def __init__(self, task: ArcTask) -> None:
        self._task = task
        self._known: dict[tuple[Grid, ...], Breaks] = {}

    @cached_property
    def _invariants(self) -> OutputInvariants:
        return OutputInvariants(self._task)

    def of(self, outputs: tuple[Grid, ...]) -> Breaks:
        """Return what some outputs break."""
        if outputs not in self._known:
            constants, _, changes = self._invariants.broken(outputs)
            count = len(violated(self._task, outputs))
            self._known[outputs] = Breaks(count, len(constants), len(changes))
        return self._known[outputs]

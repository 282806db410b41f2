"""The plausibility of a program's outputs: how much of what holds in training they break.

    task, outputs ──► violated invariants, broken constants, new colour changes ──► bits

Inspects outputs only, so it can judge every group of a puzzle, examined or not. `ranking` and
`support` ask about the same outputs, so results are cached.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from weft.searches.arc.evidence import violated
from weft.searches.arc.invariants import OutputInvariants
from weft.searches.arc.task import ArcTask
from weft.searches.arc.values import Grid

BROKEN_BITS = 10
"""Bits that each break adds to a program when programs are weighed against each other."""
MOST_CONSTANTS = 2


@dataclass(frozen=True, slots=True)
class Breaks:
    """Counts of what the outputs for the tests of a task break."""

    violated: int
    """Invariants (`evidence.INVARIANTS`)."""
    constants: int
    """Properties that are the same in all training pairs and differ in the worst test."""
    changes: int
    """Colour changes of the worst test that no training pair shows."""

    @property
    def bits(self) -> int:
        """Bits that the breaks add to a program that gives the outputs."""
        kinds = (self.violated > 0) + min(self.constants, MOST_CONSTANTS) + (self.changes > 0)
        return BROKEN_BITS * kinds


class Plausibility:
    """Judges the outputs of the programs of one puzzle, each set of outputs only once."""

    def __init__(self, task: ArcTask) -> None:
        self._task = task
        self._known: dict[tuple[Grid, ...], Breaks] = {}

    @cached_property
    def _invariants(self) -> OutputInvariants:
        return OutputInvariants(self._task)

    def of(self, outputs: tuple[Grid, ...]) -> Breaks:
        """Return what the outputs break."""
        if outputs not in self._known:
            constants, _, changes = self._invariants.broken(outputs)
            count = len(violated(self._task, outputs))
            self._known[outputs] = Breaks(count, len(constants), len(changes))
        return self._known[outputs]

"""What an attack is: it says what it would cover, then covers it in ranges that tile the work.

    plan(case) ──► Plan: units of work, hypotheses tried, cost, in words what is covered
                   Gap:  why it cannot be used here
    run(case, plan, lo, hi) ──► hypotheses that explain the draws, for units lo..hi-1

An attack is deterministic: the same range gives the same hypotheses in the same order, on every
device. A hypothesis that it is sure to find when its plan covers it is found, always.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from weft.prng.case import Case
from weft.prng.hypothesis import Hypothesis

MAX_FOUND = 64
"""Hypotheses that one range reports at most, those with most hits first."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What one attack would do on one family and output map.

    The work is the units 0..`units`-1; a task takes `per_task` of them, whatever device runs it.
    `tried` counts the hypotheses of the whole work, for the correction of p. `cost` is an
    estimate in milliseconds of one core: plans are carried out by rising cost.
    """

    attack: str
    family: str
    output: str
    units: int
    per_task: int
    tried: int
    cost: int
    covers: str

    def ranges(self) -> list[tuple[int, int]]:
        """Tile the units: every unit is in exactly one range, in order.

        The first ranges are small and double from there on: small skips and likely seeds are
        the first units, and soon looked at.
        """
        found, lo, size = [], 0, 1
        while lo < self.units:
            found.append((lo, min(lo + size, self.units)))
            lo, size = lo + size, min(2 * size, self.per_task)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Return the recorded form; `from_dict` undoes it."""
        return {
            "attack": self.attack,
            "family": self.family,
            "output": self.output,
            "units": self.units,
            "per_task": self.per_task,
            "tried": self.tried,
            "cost": self.cost,
            "covers": self.covers,
        }

    @classmethod
    def from_dict(cls, raw: dict[str, Any]) -> Plan:
        """Read the recorded form."""
        return cls(**raw)


@dataclass(frozen=True, slots=True)
class Gap:
    """What is not covered, and why: `needs 6,900 draws, there are 500`."""

    attack: str
    family: str
    output: str
    why: str


@dataclass(frozen=True, slots=True)
class Found:
    """A hypothesis, how many of the compared draws it hits, and in how many it was compared.

    With a window of draws the numbers are those of the window; the scorer compares all later.
    """

    hypothesis: Hypothesis
    hits: int
    compared: int


class Attack(Protocol):
    """One way of finding hypotheses, for one or several families."""

    name: str

    def plan(self, case: Case) -> Sequence[Plan | Gap]:
        """Say for each family and output map what would be covered, or why nothing is."""

    def run(self, case: Case, plan: Plan, lo: int, hi: int, device: str) -> Sequence[Found]:
        """Cover the units lo..hi-1 on `cpu` or `gpu`; at most MAX_FOUND, most hits first."""


def best(found: Sequence[Found]) -> list[Found]:
    """Order by hits, most first, then in the order given; keep at most MAX_FOUND."""
    return sorted(found, key=lambda one: -one.hits)[:MAX_FOUND]

"""What an attack is: it says what it would cover, then covers it in ranges that tile the work.

    plan(case) ──► AttackPlan: units of work, hypotheses tried, cost, in words what is covered
                   Gap:  why it cannot be used here
    run(case, plan, units) ──► hypotheses that explain the draws, for some units

An attack is deterministic: the same range gives the same hypotheses in the same order, on every
device. A hypothesis that it is sure to find when its plan covers it is found, always.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from weft.searches.prng.family import Family
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis
from weft.searches.prng.rowmaps import chance_values, elements_of

MAX_CANDIDATES = 64
"""Hypotheses that one range reports at most, those with most hits first."""
REPORTED = 256
"""Draws that a report of an attack compares at most; the scorer compares all."""


@dataclass(frozen=True, slots=True)
class Case:
    """What an attack is given: draws below `modulus`, oldest first, and the ranges asked for.

    The draws are the training part of the history; the holdout never reaches an attack. Ranges
    of skips and starts are inclusive, `corrupt_percent` is the largest share of wrong draws.
    """

    draws: tuple[int, ...]
    modulus: int
    skips: tuple[int, int] = (0, 500)
    starts: tuple[int, int] = (0, 1000)
    corrupt_percent: int = 10
    thorough: bool = True
    """Whether brute force tolerates a beginning that has many wrong draws, which takes longer."""

    families: tuple[str, ...] = ()
    """Generators that plans are asked for; empty: all."""
    row_maps: tuple[str, ...] = ()
    """Maps of whole rows that are tried, where draws come in rows."""

    def chosen(self, families: Sequence[Family]) -> list[Family]:
        """Return the generators that plans are asked for."""
        return [family for family in families if self.is_chosen(family.name)]

    def is_chosen(self, family: str) -> bool:
        """Whether plans are asked for of a generator."""
        return not self.families or family in self.families

    def outputs_of(self, family: Family) -> list[str]:
        """Return the output maps of a generator that are tried; of one of rows those that fit."""
        if family.rows is None:
            return list(family.outputs)
        return [
            name
            for name in self.row_maps
            if name in family.outputs and elements_of(name, self.modulus)
        ]

    def judged_as(self, output: str) -> Case:
        """Return the case with the modulus whose inverse is the chance of a hit by accident."""
        values = chance_values(output, self.modulus)
        return self if values == self.modulus else replace(self, modulus=values)

    @property
    def skip_count(self) -> int:
        """How many skips were asked for."""
        return self.skips[1] - self.skips[0] + 1

    @property
    def place_count(self) -> int:
        """How many pairs of a start and a skip were asked for."""
        return (self.starts[1] - self.starts[0] + 1) * self.skip_count

    def fewest_draws(self, most: int, suffice: Callable[[Case], bool]) -> int:
        """Return how many draws, at least those there are, suffice; one more than `most` if none.

        Only their number counts, so it is tried with draws of 0.
        """
        counts = range(len(self.draws), most + 1)
        fitting = (count for count in counts if suffice(replace(self, draws=(0,) * count)))
        return next(fitting, most + 1)

    def wrong_allowed(self, compared: int) -> int:
        """Return how many of `compared` draws may be wrong, with room for bad luck."""
        return wrong_allowed(compared, self.corrupt_percent)


def wrong_allowed(compared: int, percent: int) -> int:
    """Return twice a share of draws, plus three: a window is a sample of the history."""
    return min(compared, 3 + 2 * compared * percent // 100) if percent else 0


@dataclass(frozen=True, slots=True)
class AttackPlan:
    """What one attack would do on one family and output map.

    The work is the units 0..`units`-1; a task takes `per_task` of them, whatever device runs it.
    `tried` counts the hypotheses of the whole work, for the correction of p. `cost_ms` is an
    estimate in milliseconds of one core: plans are executed by rising cost.
    """

    attack: str
    family: str
    output: str
    units: int
    per_task: int
    tried: int
    cost_ms: int
    covers: str
    seeding: str = ""
    """What it shares with other plans of the attack, so that one of them can do for all."""
    also: tuple[tuple[str, str], ...] = ()
    """Families and output maps that are tried with the same seeds at the same time."""

    @property
    def calls(self) -> tuple[tuple[str, str], ...]:
        """All families with output maps that the plan is about."""
        return ((self.family, self.output), *self.also)

    def ranges(self) -> list[tuple[int, int]]:
        """Tile the units: every unit is in exactly one range, in order.

        The first ranges are small and double from there on: small skips and likely seeds are
        the first units, and soon looked at.
        """
        ranges, lo, size = [], 0, 1
        while lo < self.units:
            ranges.append((lo, min(lo + size, self.units)))
            lo, size = lo + size, min(2 * size, self.per_task)
        return ranges


@dataclass(frozen=True, slots=True)
class Gap:
    """What is not covered, and why: `needs 6,900 draws, there are 500`."""

    attack: str
    family: str
    output: str
    why: str


@dataclass(frozen=True, slots=True)
class HypothesisMatch:
    """A hypothesis, how many of the compared draws it hits, and in how many it was compared.

    With a window of draws the numbers are those of the window; the scorer compares all later.
    """

    hypothesis: Hypothesis
    hits: int
    compared: int

    @property
    def wrong(self) -> int:
        """How many of the compared draws it misses."""
        return self.compared - self.hits


@dataclass(frozen=True, slots=True)
class Units:
    """The part of a plan that one task covers: units lo..hi-1, on `cpu` or `gpu`."""

    lo: int
    hi: int
    device: str = "cpu"


class Attack(Protocol):
    """One way of finding hypotheses, for one or several families."""

    name: str
    needs_luck: bool
    """Whether it tries some seeds only, so that other plans come first."""

    def plan(self, case: Case) -> Sequence[AttackPlan | Gap]:
        """Say for each family and output map what would be covered, or why nothing is."""

    def run(self, case: Case, plan: AttackPlan, units: Units) -> Sequence[HypothesisMatch]:
        """Cover some units of a plan; at most MAX_CANDIDATES, most hits first."""


def best(candidates: Sequence[HypothesisMatch]) -> list[HypothesisMatch]:
    """Order by hits, most first, then in the order given; keep at most MAX_CANDIDATES."""
    return sorted(candidates, key=lambda candidate: -candidate.hits)[:MAX_CANDIDATES]


def compare(case: Case, guess: Hypothesis, count: int = REPORTED) -> HypothesisMatch:
    """Return a hypothesis with its hits among the first `count` draws."""
    predictions = generate(guess, min(count, len(case.draws)))
    hits = sum(a == b for a, b in zip(predictions, case.draws, strict=False))
    return HypothesisMatch(guess, hits, len(predictions))

"""The attack interface: an attack plans what it would cover, then covers it range by range.

    plan(case) ──► AttackPlan: units of work, hypotheses tried, cost, description of the coverage
                   Gap:  why the attack does not apply
    run(case, plan, units) ──► hypotheses that explain the draws, for some units

An attack is deterministic: the same range gives the same hypotheses in the same order on every
device. It finds every hypothesis that its plan claims to cover.
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
"""Maximum number of hypotheses that one range reports, those with the most hits first."""
REPORTED = 256
"""Maximum number of draws that an attack's report compares; the scorer compares all."""


@dataclass(frozen=True, slots=True)
class Case:
    """The input of an attack: draws below `modulus`, oldest first, and the requested ranges.

    The draws are the training part of the history; the holdout never reaches an attack. The
    ranges of skips and starts are inclusive; `corrupt_percent` is the maximum share of wrong draws.
    """

    draws: tuple[int, ...]
    modulus: int
    skips: tuple[int, int] = (0, 500)
    starts: tuple[int, int] = (0, 1000)
    corrupt_percent: int = 10
    thorough: bool = True
    """Whether brute force tolerates many wrong draws at the beginning, which takes longer."""

    families: tuple[str, ...] = ()
    """Generators to plan for; empty: all."""
    row_maps: tuple[str, ...] = ()
    """Row maps to try, where draws come in rows."""

    def chosen(self, families: Sequence[Family]) -> list[Family]:
        """Return the given generators that are to be planned for."""
        return [family for family in families if self.is_chosen(family.name)]

    def is_chosen(self, family: str) -> bool:
        """Whether a generator is to be planned for."""
        return not self.families or family in self.families

    def outputs_of(self, family: Family) -> list[str]:
        """Return the output maps to try: all, or for a generator of rows the row maps that fit."""
        if family.rows is None:
            return list(family.outputs)
        return [
            name
            for name in self.row_maps
            if name in family.outputs and elements_of(name, self.modulus)
        ]

    def judged_as(self, output: str) -> Case:
        """Return the case with one over the chance of an accidental hit as its modulus."""
        values = chance_values(output, self.modulus)
        return self if values == self.modulus else replace(self, modulus=values)

    @property
    def skip_count(self) -> int:
        """The number of requested skips."""
        return self.skips[1] - self.skips[0] + 1

    @property
    def place_count(self) -> int:
        """The number of requested pairs of start and skip."""
        return (self.starts[1] - self.starts[0] + 1) * self.skip_count

    def fewest_draws(self, most: int, suffice: Callable[[Case], bool]) -> int:
        """Return the fewest draws that suffice, at least the present number; `most` + 1 if none do.

        Only the number of draws matters, so the trials use draws of 0.
        """
        counts = range(len(self.draws), most + 1)
        fitting = (count for count in counts if suffice(replace(self, draws=(0,) * count)))
        return next(fitting, most + 1)

    def wrong_allowed(self, compared: int) -> int:
        """Return how many of `compared` draws may be wrong, with a margin for sampling noise."""
        return wrong_allowed(compared, self.corrupt_percent)


def wrong_allowed(compared: int, percent: int) -> int:
    """Return twice the share of draws plus three, since a window is a sample of the history."""
    return min(compared, 3 + 2 * compared * percent // 100) if percent else 0


@dataclass(frozen=True, slots=True)
class AttackPlan:
    """The planned work of one attack on one family and output map.

    The work is units 0..`units`-1; a task covers up to `per_task` of them on any device. `tried`
    counts the hypotheses of the whole plan, for correcting p. `cost_ms` is an estimate in
    milliseconds on one core, by which plans are scheduled.
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
    """The seeding or equations shared with other plans of the attack; such plans are joined."""
    also: tuple[tuple[str, str], ...] = ()
    """Further families and output maps that the same pass covers."""

    @property
    def calls(self) -> tuple[tuple[str, str], ...]:
        """All pairs of family and output map that the plan covers."""
        return ((self.family, self.output), *self.also)

    def ranges(self) -> list[tuple[int, int]]:
        """Tile the units: every unit is in exactly one range, in order.

        Ranges start small and double in size, so that the first units (small skips and likely
        seeds) are tried early.
        """
        ranges, lo, size = [], 0, 1
        while lo < self.units:
            ranges.append((lo, min(lo + size, self.units)))
            lo, size = lo + size, min(2 * size, self.per_task)
        return ranges


@dataclass(frozen=True, slots=True)
class Gap:
    """A call that an attack does not cover, and why: `needs 6,900 draws, there are 500`."""

    attack: str
    family: str
    output: str
    why: str


@dataclass(frozen=True, slots=True)
class HypothesisMatch:
    """A hypothesis with the number of draws it was compared with and the number it hits.

    If the attack compared only a window of draws, the numbers are those of the window; the scorer
    later compares all draws.
    """

    hypothesis: Hypothesis
    hits: int
    compared: int

    @property
    def wrong(self) -> int:
        """The number of compared draws that it misses."""
        return self.compared - self.hits


@dataclass(frozen=True, slots=True)
class Units:
    """The part of a plan that one task covers: units lo..hi-1, on `cpu` or `gpu`."""

    lo: int
    hi: int
    device: str = "cpu"


class Attack(Protocol):
    """A method of finding hypotheses, for one or several families."""

    name: str
    needs_luck: bool
    """Whether it tries only some of the seeds."""

    def plan(self, case: Case) -> Sequence[AttackPlan | Gap]:
        """Return, for each family and output map, a plan or the reason why there is none."""

    def run(self, case: Case, plan: AttackPlan, units: Units) -> Sequence[HypothesisMatch]:
        """Cover some units of a plan; return at most MAX_CANDIDATES matches, most hits first."""


def best(candidates: Sequence[HypothesisMatch]) -> list[HypothesisMatch]:
    """Return up to MAX_CANDIDATES matches with the most hits; ties keep the given order."""
    return sorted(candidates, key=lambda candidate: -candidate.hits)[:MAX_CANDIDATES]


def compare(case: Case, guess: Hypothesis, count: int = REPORTED) -> HypothesisMatch:
    """Return a hypothesis with its hits among the first `count` draws."""
    predictions = generate(guess, min(count, len(case.draws)))
    hits = sum(a == b for a, b in zip(predictions, case.draws, strict=False))
    return HypothesisMatch(guess, hits, len(predictions))

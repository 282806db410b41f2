"""Everything that decides an analysis apart from the draws; recorded in its genesis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.searches.prng.attack import Case
from weft.searches.prng.scoring import split


@dataclass(frozen=True, slots=True)
class ExcludedPart:
    """The first `done` units of a plan, which an earlier run has covered without success."""

    stream: str
    attack: str
    family: str
    output: str
    covers: str
    units: int
    done: int

    def identity(self) -> tuple[str, str, str, str, str, int]:
        """Return the fields that identify the plan and its stream."""
        names = (self.stream, self.attack, self.family, self.output)
        return (*names, self.covers, self.units)


@dataclass(frozen=True, slots=True)
class AnalyseRequest:
    """User choices that change the outcome. Empty `families` or `outputs` mean all."""

    modulus: int
    families: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    skips: tuple[int, int] = (0, 500)
    starts: tuple[int, int] = (0, 1000)
    corrupt_percent: int = 10
    alpha_evidence: int = 3000
    """Required −log10 of p for a signal, in thousandths, both in training and in the holdout."""
    max_cost_ms: int | None = None
    """Budget for the estimated cost of all attacks, in milliseconds on one core; None: no limit."""
    all_seeds: bool = True
    """Whether all 32-bit seeds of common calls are tried regardless of the budget."""
    predict: int = 100
    """Number of draws to predict after the last one."""
    after: str = ""
    """The head of the run from which the `excluded` parts come."""
    excluded: tuple[ExcludedPart, ...] = ()
    row_maps: tuple[str, ...] = ()
    """Row maps to try, where the draws come in rows."""

    @property
    def is_named(self) -> bool:
        """Whether the user has named family and output map, and so wants all seeds and states."""
        return bool(self.families and self.outputs)

    def case(self, draws: Sequence[int]) -> Case:
        """Return the input of attacks on a stream: its training part and the requested ranges."""
        train, _ = split(draws, self.modulus)
        ranges = (self.skips, self.starts, self.corrupt_percent)
        thorough = bool(self.families)
        return Case(train, self.modulus, *ranges, thorough, self.families, self.row_maps)

    def includes(self, family: str, output: str) -> bool:
        """Whether an output map of a generator is to be tried."""
        chosen = not self.families or family in self.families
        return chosen and (not self.outputs or output in self.outputs)

"""What decides an analysis beside the draws: bound into its genesis record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.searches.prng.attack import Case
from weft.searches.prng.scoring import split


@dataclass(frozen=True, slots=True)
class ExcludedPart:
    """The first `done` units of a plan, which an earlier run has covered and found nothing in."""

    stream: str
    attack: str
    family: str
    output: str
    covers: str
    units: int
    done: int

    def identity(self) -> tuple[str, str, str, str, str, int]:
        """Return what only the same plan for the same stream has."""
        names = (self.stream, self.attack, self.family, self.output)
        return (*names, self.covers, self.units)


@dataclass(frozen=True, slots=True)
class AnalyseRequest:
    """What a user may choose that changes the outcome. `families` and `outputs` empty: all."""

    modulus: int
    families: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    skips: tuple[int, int] = (0, 500)
    starts: tuple[int, int] = (0, 1000)
    corrupt_percent: int = 10
    alpha_evidence: int = 3000
    """−log10 of p in thousandths that a signal needs, in training and in the holdout."""
    max_cost_ms: int | None = None
    """Milliseconds of one core that attacks together may be estimated to cost."""
    all_seeds: bool = True
    """Whether all 32-bit seeds of the calls that people make are tried beyond that."""
    predict: int = 100
    """How many draws after the last one are predicted."""
    after: str = ""
    """The head of the run whose `excluded` parts are taken over."""
    excluded: tuple[ExcludedPart, ...] = ()
    row_maps: tuple[str, ...] = ()
    """Maps of whole rows to try, where the draws come in rows."""

    @property
    def is_named(self) -> bool:
        """Whether the user has named family and output map: then all seeds and states are meant."""
        return bool(self.families and self.outputs)

    def case(self, draws: Sequence[int]) -> Case:
        """Return what attacks may know of a stream: its training part and the ranges."""
        train, _ = split(draws, self.modulus)
        ranges = (self.skips, self.starts, self.corrupt_percent)
        thorough = bool(self.families)
        return Case(train, self.modulus, *ranges, thorough, self.families, self.row_maps)

    def includes(self, family: str, output: str) -> bool:
        """Whether a generator and one of its output maps are to be tried."""
        chosen = not self.families or family in self.families
        return chosen and (not self.outputs or output in self.outputs)

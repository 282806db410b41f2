"""What decides an analysis beside the draws: bound into its genesis record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.searches.prng.attack import Case
from weft.searches.prng.scoring import split


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
    """Weighted milliseconds of one core after which a plan is left where it is."""
    predict: int = 100
    """How many draws after the last one are predicted."""

    def case(self, draws: Sequence[int]) -> Case:
        """Return what attacks may know of a stream: its training part and the ranges."""
        train, _ = split(draws)
        return Case(train, self.modulus, self.skips, self.starts, self.corrupt_percent)

    def includes(self, family: str, output: str) -> bool:
        """Whether a generator and one of its output maps are to be tried."""
        chosen = not self.families or family in self.families
        return chosen and (not self.outputs or output in self.outputs)

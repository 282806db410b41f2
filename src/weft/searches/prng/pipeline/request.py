"""Everything that decides a pipeline run apart from the draws; recorded in its genesis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from weft.errors import UsageError
from weft.searches.prng.families import family_named
from weft.searches.prng.family import Family
from weft.searches.prng.generate import draw_of
from weft.searches.prng.statistics import MILLI, decades, tail_evidence

MODELS = ("neural_net", "xgboost", "lightgbm", "random_forest")
AUTO = "auto"
NETS = ("sklearn", "torch")
"""Libraries that train the neural net; always an explicit choice, since it changes the outcome."""
BATCH = 4
"""Number of trials requested at a time, independent of the number of slots."""
RANGE_SEEDS = 65_536
CHUNK_ROWS = 8_192
NULLS = 99
"""Minimum number of null reruns: fewer cannot establish a p of 1 in 100."""
MOST = 10_000
"""Maximum number of trials, reruns or voters."""
MAX_MODULUS = 65_536
MAX_SEEDS = 1 << 32
MAX_SKIP = 1_000
MAX_START = 100_000
NULL_SEEDS = 2_048
"""Number of seeds in every rerun, on the observed history and on null histories."""
NULL_BEST = 8
"""Number of best survivors of each window whose seeds every rerun includes."""
FOLDS = 3
PERMUTATIONS = 999
SAMPLE_ROWS = 2_000
HORIZON = 10
"""Number of draws predicted per stream."""
POOLS = (20, 100, 300)
EVIDENCE = 2 * MILLI
"""A corrected p below 10^-2 is a signal."""
CHANCE_SURVIVORS = 256
"""Expected maximum of chance survivors per window, at the loosest threshold."""
SIZES = (16, 64)
"""Smallest and largest window for a modulus of 1000; smaller moduli need more draws."""


@dataclass(frozen=True, slots=True)
class PipelineRequest:
    """All user choices that change the outcome."""

    modulus: int = 1000
    family: str = "java"
    output: str = "bounded"
    seeds: tuple[int, int] = (0, 100_000)
    """First seed, and end (exclusive)."""
    skips: tuple[int, int] = (0, 5)
    starts: tuple[int, int] = (0, 200)
    window_trials: int = 8
    scorer_trials: int = 8
    model_trials: int = 4
    model: str = AUTO
    net: str = NETS[0]
    top_k: int = 20
    nulls: int = NULLS
    schema_version: Literal[1] = 1

    def __post_init__(self) -> None:
        family = family_named(self.family)
        draw_of(family, self.output)
        if self.output == "raw":
            raise UsageError("--output raw: draws of the pipeline are below a modulus")
        _check_count("--modulus", self.modulus, 2, MAX_MODULUS)
        _check_seeds(family, *self.seeds)
        _check_rising("--skips", self.skips, MAX_SKIP)
        _check_rising("--starts", self.starts, MAX_START)
        for name in ("window_trials", "scorer_trials", "model_trials", "top_k"):
            _check_count(f"--{name.replace('_', '-')}", getattr(self, name), 1, MOST)
        if self.model not in (AUTO, *MODELS):
            names = ", ".join(MODELS)
            raise UsageError(f"--model must be auto or one of {names}, not {self.model[:40]!r}")
        if self.net not in NETS:
            raise UsageError(f"--net must be one of {', '.join(NETS)}, not {self.net[:40]!r}")
        _check_count("--nulls", self.nulls, NULLS, MOST)

    def models(self) -> tuple[str, ...]:
        """Return the kinds of model to compare."""
        return MODELS if self.model == AUTO else (self.model,)

    def ranges(self) -> list[tuple[int, int]]:
        """Tile the seeds: every seed is in exactly one range, in order."""
        low, high = self.seeds
        return [(at, min(at + RANGE_SEEDS, high)) for at in range(low, high, RANGE_SEEDS)]

    def sizes(self) -> tuple[int, int]:
        """Return the smallest and the largest window."""
        scale = max(MILLI, 3 * MILLI * MILLI // max(1, decades(self.modulus)))
        return SIZES[0] * scale // MILLI, SIZES[1] * scale // MILLI

    def least_need(self, window: int) -> int:
        """Return the fewest hits at which chance leaves few enough survivors in a window.

        Raises UsageError if no number of hits suffices.
        """
        skips = self.skips[1] - self.skips[0] + 1
        starts = 2 * (self.starts[1] - self.starts[0] + 1)  # from the window, and from draw 0
        tried = (self.seeds[1] - self.seeds[0]) * skips * starts
        evidence = decades(tried) - decades(CHANCE_SURVIVORS)
        for need in range(2, window + 1):
            if tail_evidence(need, window, self.modulus) >= evidence:
                return need
        raise UsageError(
            f"windows of {window} draws below {self.modulus} cannot tell {tried:,} hypotheses"
            " apart",
            hint="use fewer --seeds, --skips or --starts, or more draws",
        )


def _check_count(option: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise UsageError(f"{option} must be {least} to {most}, not {value}")


def _check_rising(option: str, pair: tuple[int, int], most: int) -> None:
    low, high = pair
    if not 0 <= low <= high <= most:
        raise UsageError(f"{option} must be an ascending range within 0:{most}, not '{low}:{high}'")


def _check_seeds(family: Family, low: int, end: int) -> None:
    most = 1 << family.seed_bits
    if not 0 <= low < end <= most:
        raise UsageError(
            f"--seeds {low}:{end}: {family.name} has seeds 0:{most}; the range must not be empty"
        )
    if end - low > MAX_SEEDS:
        raise UsageError(
            f"--seeds: {end - low:,} seeds; the pipeline sieves {MAX_SEEDS:,} at most",
            hint="weft prng analyse finds states without trying seeds",
        )

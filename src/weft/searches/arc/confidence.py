"""From features to a probability: an additive model in integers, monotone in every feature.

    feature value ──► level (how many thresholds it reaches) ──► points
    points added up ──► bent: above the bend each counts more or less ──► permille, by a fixed table
    another explanation that is nearly as cheap, or pairs with equal outputs ──► permille at most
    `LIMITED`

Points are thousandths of a nat of log-odds, and the table is the logistic function, rounded. All
numbers are data (`confidence.json`), written by `tools/fit_arc_confidence.py` from puzzles made of
training tasks, searched with all operators and once more with half of them, so that it holds where
the language lacks the right program. The probability is that of the whole puzzle: that all its
outputs are right.
"""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from weft.model import codec

SURE = 950
"""Least permille of an answer, if not asked otherwise."""
RIVAL_BITS, LIMITED = 4, 700
"""Where another explanation costs less than so much more, doubts of both included, nothing else
lifts the confidence above so many permille: then the choice between the two decides. Neither does
it where pairs have equal outputs: then an output is one of a few, and agreeing with it is easy."""
WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class FeaturePoints:
    """One feature: `points[n]` counts where `n` thresholds are reached."""

    name: str
    thresholds: tuple[int, ...]
    points: tuple[int, ...]

    def of(self, value: int) -> int:
        """Return the points of a value."""
        return self.points[bisect_right(self.thresholds, value)]


@dataclass(frozen=True, slots=True)
class ConfidenceModel:
    """A fitted model: points to begin with, points of features, the table to permille."""

    base_points: int
    bend_points: int
    slope_permille: int
    """What each point above the bend counts. Fitted on puzzles that the points were not fitted on,
    so that high confidences hold as low ones do."""
    features: tuple[FeaturePoints, ...]
    least_points: tuple[int, ...]
    """`least_points[n]`, ascending: the sum of points from which n + 1 permille are reached."""

    def points(self, features: Mapping[str, int]) -> dict[str, int]:
        """Return the points of each feature that has some."""
        points = {each.name: each.of(features[each.name]) for each in self.features}
        return {name: n for name, n in points.items() if n}

    def confidence_permille(self, features: Mapping[str, int]) -> int:
        """Return the probability that an answer with these features is right."""
        total = self.base_points + sum(self.points(features).values())
        above = max(0, total - self.bend_points)
        bent = total - above + above * self.slope_permille // 1000
        permille = bisect_right(self.least_points, bent)
        return min(permille, LIMITED) if is_limited(features) else permille


def is_limited(features: Mapping[str, int]) -> bool:
    """Whether something speaks against an answer that no points make up for."""
    has_rival = features["price_margin_bits"] < RIVAL_BITS
    return has_rival or features["repeated_outputs"] > 0


@cache
def model(left_out: str = WHOLE) -> ConfidenceModel:
    """Return the model that ships, or the one fitted with a part of the features left out."""
    text = files("weft.searches.arc").joinpath("confidence.json").read_text("ascii")
    raw = json.loads(text)
    own = {**raw["models"][left_out], "least_points": raw["least_points"]}
    return codec.from_json(ConfidenceModel, own)

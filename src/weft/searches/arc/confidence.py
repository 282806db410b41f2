"""From features to a probability: an additive model in integers, monotone in every feature.

    feature value ──► level (how many thresholds it reaches) ──► points
    sum of points ──► scaled above a breakpoint by a fitted slope ──► permille, by a fixed table
    another explanation that is nearly as cheap, or pairs with equal outputs ──► permille capped
    at `LIMITED`

Points are thousandths of a nat of log-odds, and the table is the logistic function, rounded. All
numbers are data (`confidence.json`), written by `tools/fit_arc_confidence.py` from puzzles derived
from training tasks. Each is searched with all operators and again with half of them, so that the
model also holds where the language lacks the right program. The probability is that of the whole
puzzle: that all its outputs are right.
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
"""Default confidence that an answer needs, in permille."""
RIVAL_BITS, LIMITED = 4, 700
"""If another explanation costs fewer than `RIVAL_BITS` more, doubts of both included, the
confidence is capped at `LIMITED` permille, because the choice between the two decides. The cap also
applies if pairs have equal outputs: then an output is one of a few, and easy to match by chance."""
WHOLE = "whole"


@dataclass(frozen=True, slots=True)
class FeaturePoints:
    """One feature: a value that reaches `n` thresholds is worth `points[n]`."""

    name: str
    thresholds: tuple[int, ...]
    points: tuple[int, ...]

    def of(self, value: int) -> int:
        """Return the points of a value."""
        return self.points[bisect_right(self.thresholds, value)]


@dataclass(frozen=True, slots=True)
class ConfidenceModel:
    """A fitted model: base points, points of features, and the table from points to permille."""

    base_points: int
    bend_points: int
    slope_permille: int
    """Weight of each point above the breakpoint. Fitted on puzzles that the points were not fitted
    on, so that high confidences are as well calibrated as low ones."""
    features: tuple[FeaturePoints, ...]
    least_points: tuple[int, ...]
    """`least_points[n]`, ascending: the least sum of points that reaches n + 1 permille."""

    def points(self, features: Mapping[str, int]) -> dict[str, int]:
        """Return the points of each feature whose points are not 0."""
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
    """Whether the confidence is capped at `LIMITED`, whatever the points."""
    has_rival = features["price_margin_bits"] < RIVAL_BITS
    return has_rival or features["repeated_outputs"] > 0


@cache
def model(left_out: str = WHOLE) -> ConfidenceModel:
    """Return the shipped model, or the one fitted with some features left out."""
    text = files("weft.searches.arc").joinpath("confidence.json").read_text("ascii")
    raw = json.loads(text)
    own = {**raw["models"][left_out], "least_points": raw["least_points"]}
    return codec.from_json(ConfidenceModel, own)

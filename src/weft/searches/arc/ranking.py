"""The order of guesses: a conditional logit over the groups of one puzzle, in integers.

    group, all programs that give its outputs, task ──► features: small integers by name
    sum of weight × value ──► points; groups with fewer points are guessed first

Points are thousandths of a nat: a group with 693 points fewer is twice as likely to be right. The
weights are data (`ranking.json`), fitted by `tools/fit_arc_ranking.py` on puzzles derived from
training tasks. `confidence` decides whether a puzzle is answered.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.plausibility import Plausibility
from weft.searches.arc.program import order_key
from weft.searches.arc.support import independent, joint_bits
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.values import encode_grids
from weft.searches.arc.verdict import Group

BITS = (("bits_to_40", -40, 40), ("bits_to_80", 40, 80), ("bits_to_140", 80, 140))
"""Ranges in which joint bits of the programs that agree (`support.joint_bits`) are weighted
separately: one more bit means much for a short program and little for a long one."""
MOST = {"output_constants": 2, "output_changes": 1, "independent": 3}
FEATURES = (*(name for name, _, _ in BITS), "guessed", "violated", "inconsistent", *MOST)


class Ranking:
    """Ranks the groups of one puzzle."""

    def __init__(
        self,
        plausibility: Plausibility,
        candidates: Sequence[ProgramCandidate],
        guesses: Sequence[ProgramCandidate],
    ) -> None:
        self._plausibility = plausibility
        self._explained = {candidate.outputs for candidate in candidates}
        self._members: dict[bytes, list[ProgramCandidate]] = {}
        both = (*candidates, *guesses)
        for each in sorted(both, key=lambda c: (c.millibits, order_key(c.program))):
            self._members.setdefault(each.outputs, []).append(each)

    def features(self, group: Group) -> dict[str, int]:
        """Return the features of a group by name, in the order of `FEATURES`."""
        outputs = encode_grids(group.outputs)
        breaks = self._plausibility.of(group.outputs)
        programs = {c.program: c.millibits // BIT for c in self._members[outputs]}
        bits = joint_bits(programs.values())
        counts = {
            "output_constants": breaks.constants,
            "output_changes": breaks.changes,
            "independent": independent(programs) - 1,
        }
        return {
            **{name: min(max(bits, low), high) - low for name, low, high in BITS},
            "guessed": int(outputs not in self._explained),
            "violated": int(breaks.violated > 0),
            "inconsistent": int(group.evidence is not None and group.evidence.inconsistent > 0),
            **{name: min(count, MOST[name]) for name, count in counts.items()},
        }

    def points(self, group: Group) -> int:
        """Return the points of a group; of one puzzle's groups, fewer points are more likely."""
        return points(weights(), self.features(group))


def points(own: Mapping[str, int], features: Mapping[str, int]) -> int:
    """Return the sum of features times their weights."""
    return sum(weight * features[name] for name, weight in own.items())


@cache
def weights() -> Mapping[str, int]:
    """Return the shipped weights: points per unit of each feature."""
    text = files("weft.searches.arc").joinpath("ranking.json").read_text("ascii")
    raw: dict[str, int] = json.loads(text)
    return raw

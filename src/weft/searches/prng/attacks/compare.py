"""How many draws of a case a hypothesis explains, by the plain definition."""

from __future__ import annotations

from weft.searches.prng.attack import HypothesisMatch
from weft.searches.prng.case import Case
from weft.searches.prng.generate import generate
from weft.searches.prng.hypothesis import Hypothesis

REPORTED = 256
"""Draws that a report of an attack compares at most; the scorer compares all."""


def compare(case: Case, guess: Hypothesis, count: int = REPORTED) -> HypothesisMatch:
    """Return a hypothesis with its hits among the first `count` draws."""
    predictions = generate(guess, min(count, len(case.draws)))
    hits = sum(a == b for a, b in zip(predictions, case.draws, strict=False))
    return HypothesisMatch(guess, hits, len(predictions))

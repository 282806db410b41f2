"""Explain from a run's records why an answer was accepted or refused, in words and numbers."""

from __future__ import annotations

from weft.model import codec
from weft.model.codec import Table
from weft.searches.arc.evidence import Evidence
from weft.searches.arc.verdict import Confidence, Weighing

SHOWN = 4
"""Number of features shown with a confidence: those with the most weight."""


def weighed(raw: Table | None) -> str:
    """Return what decided about the best answer; empty if there was none to decide about."""
    if raw is None:
        return ""
    weighing = codec.from_json(Weighing, raw)
    if weighing.confidence is not None:
        return _confidence(weighing, weighing.confidence)
    alone, limit = weighing.alone_millibits, weighing.limit_millibits
    price = weighing.price_millibits + alone
    lone = f", {_bits(alone)} as few programs agree" if alone else ""
    if not weighing.is_affordable:
        return f"refused: {_bits(price)} bits with doubts{lone}; the limit is {_bits(limit)}"
    margin, needed = weighing.margin_millibits, weighing.needed_millibits
    if margin is None:
        return f"accepted: {_bits(price)} of {_bits(limit)} bits{lone}; nothing contradicts it"
    bound = "no competitor is allowed" if needed is None else f"more than {_bits(needed)} needed"
    word = "accepted" if weighing.is_clear(needed) else "refused"
    return f"{word}: the strongest competitor costs {_bits(margin)} bits more, {bound}"


def _confidence(weighing: Weighing, confidence: Confidence) -> str:
    """Return the confidence, the one needed, and the features with the most weight, as text."""
    needed, margin = weighing.needed_permille or 0, weighing.needed_millibits
    ranked = sorted(confidence.points.items(), key=lambda item: (-abs(item[1]), item[0]))
    shares = [f"{_named(name)} {points / 1000:+.1f}" for name, points in ranked[:SHOWN]]
    rest = f" ({', '.join(shares)})" if shares else ""
    of = f" in guess {weighing.place + 1}" if weighing.place else ""
    reached = f"confidence{of} {confidence.permille / 1000:.3f}, {needed / 1000:.3f} needed{rest}"
    if confidence.permille < needed:
        return f"refused: {reached}"
    if margin is not None and not weighing.is_clear(margin):
        return f"refused: a competitor is within {_bits(margin)} bits; {reached}"
    return f"accepted: {reached}"


def _named(feature: str) -> str:
    return feature.replace("_", " ")


def doubts(raw: Table | None) -> str:
    """Return the doubts about a program; empty if there are none or it was not examined.

    Older versions recorded other keys; their runs are shown without doubts.
    """
    if raw is None or "loo_passed" not in raw:
        return ""
    evidence = codec.from_json(Evidence, raw)
    reasons = []
    if evidence.loo_passed < evidence.loo_required:
        counts = f"{evidence.loo_passed} of {evidence.loo_required} pairs"
        reasons.append(f"{counts} predicted in cross-validation")
    if evidence.refuted:
        reasons.append(f"{evidence.refuted} predicted wrongly")
    if evidence.inconsistent:
        count = evidence.inconsistent
        reasons.append(f"answers differently on {count} rotated, mirrored or recoloured tasks")
    reasons += [f"violates the invariant {name!r}" for name in evidence.violated]
    if evidence.extrapolation is not None and evidence.extrapolation.total:
        count = evidence.extrapolation.total
        noun = "property" if count == 1 else "properties"
        reasons.append(f"a test breaks {count} {noun} of training")
    if not reasons:
        return ""
    return f"{_bits(evidence.doubt_millibits)} bits of doubt: {', '.join(reasons)}"


def _bits(millibits: int) -> str:
    return f"{millibits / 1000:.1f}"

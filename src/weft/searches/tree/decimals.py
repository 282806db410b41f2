"""Scores as decimals: compared to their last digit, as they were recorded, never as floats."""

from __future__ import annotations

import re
from decimal import Context, Decimal

from weft.model.values import Value

EXACT = Context(prec=4000)
"""The default context would round after 28 digits."""
MAX_DIGITS = 400
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]{1,3})?")


def lower_is_better(score: Decimal, direction: str) -> Decimal:
    """Return a score for sorting; negated without rounding."""
    return score.copy_negate() if direction == "max" else score


def gain(score: Decimal, than: Decimal, direction: str) -> Decimal:
    """By how much a score is better than another; negative when it is worse."""
    return EXACT.subtract(score, than) if direction == "max" else EXACT.subtract(than, score)


def number_of(value: Value) -> Decimal | None:
    """Return the number that a recorded text is; None when it is none to compare."""
    is_number = isinstance(value, str) and len(value) <= MAX_DIGITS and NUMBER.fullmatch(value)
    return Decimal(str(value)) if is_number else None

"""Scores as decimals, compared exactly as recorded, never as floats."""

from __future__ import annotations

import re
from decimal import Context, Decimal

from weft.model.values import Value

EXACT = Context(prec=4000)
"""The default context would round after 28 digits."""
MAX_DIGITS = 400
NUMBER = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]{1,3})?")


def lower_is_better(score: Decimal, direction: str) -> Decimal:
    """Return a sort key for a score, best first; negated without rounding for `max`."""
    return score.copy_negate() if direction == "max" else score


def gain(score: Decimal, than: Decimal, direction: str) -> Decimal:
    """Return how much better a score is than another; negative if it is worse."""
    return EXACT.subtract(score, than) if direction == "max" else EXACT.subtract(than, score)


def number_of(value: Value) -> Decimal | None:
    """Return the number in a recorded text; None if it is not a comparable number."""
    is_number = isinstance(value, str) and len(value) <= MAX_DIGITS and NUMBER.fullmatch(value)
    return Decimal(str(value)) if is_number else None

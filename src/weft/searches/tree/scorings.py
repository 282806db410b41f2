"""Repeated scorings of one candidate: the median counts, and is often known early.

After k of n scorings, the median is between the best and the worst value that the remaining
scorings could give it. If both are equal, or the gate would refuse even the best, the remaining
scorings are skipped. This is decided after each round, in eval order, independently of parallelism.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.searches.tree.decimals import lower_is_better
from weft.searches.tree.results import StageResult

IsRefused = Callable[[StageResult], bool]
"""Whether the gate would refuse a result."""


def first_round(repeats: int) -> int:
    """Return the minimum number of scorings after which the median can be known."""
    return repeats // 2 + 1


def median_of(scorings: Sequence[StageResult], direction: str) -> StageResult:
    """Return the median scoring; for an even number, the better of the middle two."""
    return _best_first(scorings, direction)[(len(scorings) - 1) // 2]


def settled(
    scorings: Sequence[StageResult], repeats: int, direction: str, is_refused: IsRefused
) -> StageResult | None:
    """Return the scoring that counts for all `repeats`; None while it is undecided."""
    failed = next((s for s in scorings if s.rows is not None and not s.rows.complete), None)
    if failed is not None:
        return failed
    order, middle = _best_first(scorings, direction), repeats // 2
    missing = repeats - len(scorings)
    if middle < missing:
        return None
    best = order[middle - missing]
    worst = order[middle] if middle < len(order) else None
    is_known = worst is not None and worst.decimal == best.decimal
    return best if is_known or is_refused(best) else None


def _best_first(scorings: Sequence[StageResult], direction: str) -> list[StageResult]:
    return sorted(scorings, key=lambda s: lower_is_better(s.decimal, direction))

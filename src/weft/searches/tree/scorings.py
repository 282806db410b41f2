"""Several scorings of one candidate: the median counts, and it is known before the last one often.

With n scorings of which k are in, the median lies between the best and the worst that the rest
could make of it. When both are the same, or when even the best would be refused, the rest is not
run. Decided after each round, in eval order, so it is the same for any number at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from weft.searches.tree.decimals import lower_is_better
from weft.searches.tree.results import StageResult

IsRefused = Callable[[StageResult], bool]
"""Whether the gate would refuse a result."""


def first_round(repeats: int) -> int:
    """Return how many scorings are needed at least before a median can be known."""
    return repeats // 2 + 1


def median_of(scorings: Sequence[StageResult], direction: str) -> StageResult:
    """Return the scoring in the middle; of an even number the better one of the two."""
    return _best_first(scorings, direction)[(len(scorings) - 1) // 2]


def settled(
    scorings: Sequence[StageResult], repeats: int, direction: str, is_refused: IsRefused
) -> StageResult | None:
    """Return the scoring that stands for all `repeats` of them; None while that is open."""
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

"""Whether lists learned from some pairs hold on another: each is left out once and asked for."""

from __future__ import annotations

import numpy as np

from weft.arc.lists.learn import Lesson, learn


def foretold(lesson: Lesson) -> int:
    """Count the pairs that the cheapest list learned without them tells cell for cell."""
    pairs = int(lesson.pairs.max()) + 1
    return sum(_tells(lesson, left) for left in range(pairs)) if pairs > 1 else 0


def _tells(lesson: Lesson, left: int) -> bool:
    asked = lesson.pairs == left
    found = learn(without(lesson, left))
    if not found:
        return False
    columns = {source: column[asked] for source, column in lesson.columns.items()}
    decided = found[0].decide(columns.__getitem__, int(asked.sum()))
    return bool(np.array_equal(decided, lesson.wanted[asked]))


def without(lesson: Lesson, left: int) -> Lesson:
    """Return the lesson of all other pairs, numbered anew."""
    kept = lesson.pairs != left
    pairs = lesson.pairs[kept]
    columns = {source: column[kept] for source, column in lesson.columns.items()}
    return Lesson(columns, lesson.wanted[kept], pairs - (pairs > left).astype(np.uint8))

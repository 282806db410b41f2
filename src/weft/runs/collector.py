"""Makes Python's cycle collector run less often during a run.

A coordinator creates a few objects for each task and no cycles, and holds those of a whole round.
With Python's default threshold of 700 the collector scans them again and again, in a fifth of the
coordinator's time; cycles that a search leaves behind are still found.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

ALLOCATIONS = 100_000
"""Allocations in excess of deallocations before the youngest generation is collected."""


@contextmanager
def collected_rarely() -> Iterator[None]:
    """Raise the collector's first threshold in the context, unless it is higher or off."""
    first, *others = gc.get_threshold()
    if 0 < first < ALLOCATIONS:
        gc.set_threshold(ALLOCATIONS, *others)
    try:
        yield
    finally:
        gc.set_threshold(first, *others)

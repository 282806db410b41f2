"""Python's cycle collector while a run is under way: it looks less often.

A coordinator makes a few objects for each task and no cycles, and holds those of a whole round.
With Python's own threshold of 700 the collector walks over them again and again, at a fifth of
the coordinator's time; what a search leaves behind in cycles is still found.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

ALLOCATIONS = 100_000
"""So many more objects made than freed before the youngest are looked through."""


@contextmanager
def collected_rarely() -> Iterator[None]:
    """Raise the collector's first threshold inside; a higher one, or none at all, is left alone."""
    first, *others = gc.get_threshold()
    if 0 < first < ALLOCATIONS:
        gc.set_threshold(ALLOCATIONS, *others)
    try:
        yield
    finally:
        gc.set_threshold(first, *others)

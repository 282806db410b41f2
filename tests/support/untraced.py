"""Loops that repeat thousands of times what other tests of a file measure once.

Under coverage each of their lines would be counted again, at three quarters of the time.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def untraced() -> Iterator[None]:
    """Run without the trace function of coverage, if there is one."""
    trace = sys.gettrace()
    sys.settrace(None)
    try:
        yield
    finally:
        sys.settrace(trace)

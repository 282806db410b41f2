"""Wait for an event: a file, a record, a process that answers.

A wait ends when what it waits for has happened. The limit is there for hangs alone: beside a load
a command that takes seconds takes minutes, and a test must not fail for that.
"""

from __future__ import annotations

import time
from collections.abc import Callable

HANG_S = 600.0
"""Longer than any step takes beside a load; less than what pytest gives a whole test."""


def wait_until(condition: Callable[[], object], what: str, limit_s: float = HANG_S) -> None:
    """Look again and again until it holds; with a limit of its own where the time is the test."""
    end_s = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end_s, f"waited too long for: {what}"
        time.sleep(0.002)

"""Wait for an event: a file, a record, a process that answers.

A wait ends when the event has happened. The limit is only for hangs: under load, a command that
takes seconds takes minutes, and a test must not fail because of that.
"""

from __future__ import annotations

import time
from collections.abc import Callable

HANG_S = 600.0
"""Longer than any step takes under load, but less than pytest's limit for a whole test."""


def wait_until(condition: Callable[[], object], what: str, limit_s: float = HANG_S) -> None:
    """Poll until the condition holds; with a specific limit if the test is about time."""
    end_s = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < end_s, f"waited too long for: {what}"
        time.sleep(0.002)

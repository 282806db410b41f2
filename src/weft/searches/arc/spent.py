"""CPU seconds of a task, noted for the telemetry of its run; they decide nothing.

Wall-clock time says little about a task's cost, because tasks may wait for a core.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from weft import note

CPU_S = "cpu_s"
"""Name of the note."""


@contextmanager
def noted() -> Iterator[None]:
    """Note the process's CPU seconds in the block; also works as a decorator of task functions."""
    start_s = time.process_time()
    try:
        yield
    finally:
        note(**{CPU_S: round(time.process_time() - start_s, 6)})

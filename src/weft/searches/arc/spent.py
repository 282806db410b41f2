"""CPU seconds of a task, noted for the telemetry of its run; nothing of it decides.

The time that a task runs says little of its cost: beside others it waits for a core.
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
    """Note what the process spends meanwhile; a decorator of task functions, too."""
    start_s = time.process_time()
    try:
        yield
    finally:
        note(**{CPU_S: round(time.process_time() - start_s, 6)})

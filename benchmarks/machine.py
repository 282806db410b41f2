"""Describe the machine of a measurement: cores, load, Python, and how long a disk sync takes."""

from __future__ import annotations

import os
import platform
import statistics
import tempfile
import time

SYNCS = 50


def describe() -> str:
    """Return one line about this machine in its current state, before a measurement."""
    load = os.getloadavg()[0]
    python = f"{cores()} cores, load {load:.1f} before, Python {platform.python_version()}"
    return f"{python}, {sync_us():.0f} µs a disk sync"


def cores() -> int:
    """Return the number of cores that this process may use."""
    return len(os.sched_getaffinity(0))


def sync_us() -> float:
    """Return the median time of an `fdatasync` after writing 4 KiB to a temporary file."""
    times_s = []
    with tempfile.TemporaryFile(buffering=0) as file:
        for _ in range(SYNCS):
            file.write(bytes(4096))
            start_s = time.perf_counter()
            os.fdatasync(file.fileno())
            times_s.append(time.perf_counter() - start_s)
    return 1e6 * statistics.median(times_s)

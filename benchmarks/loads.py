"""The work that every engine is given, as plain functions."""

from __future__ import annotations

import time
from collections.abc import Callable

TASK_S = 0.001
GREET_S = 0.3
"""How long a first task sleeps, so that each worker must run one."""


def tiny(x: int) -> int:
    return x + 1


def millisecond(x: int) -> int:
    """Spin for exactly 1 ms of the monotonic clock."""
    end_s = time.perf_counter() + TASK_S
    while time.perf_counter() < end_s:
        pass
    return x + 1


def greet(x: int) -> int:
    time.sleep(GREET_S)
    return x


LOADS: dict[str, Callable[[int], int]] = {"tiny": tiny, "millisecond": millisecond}


def wanted_sum(n: int) -> int:
    """Return the sum of the results of either load for 0 … n − 1."""
    return n * (n + 1) // 2


class Hand:
    """An actor of a pool."""

    def do(self, load: str, x: int) -> int:
        """Run one task of a load."""
        return {**LOADS, "greet": greet}[load](x)

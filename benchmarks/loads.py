"""What every engine is asked to do, as plain functions and as tasks of Weft."""

from __future__ import annotations

import time
from collections.abc import Callable

TASK_S = 0.001
GREET_S = 0.3
"""How long a first task sleeps, so that each worker must take one."""


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
    """Sum of the results of either load for 0 … n − 1."""
    return n * (n + 1) // 2


class Hand:
    """What an actor of a pool can do."""

    def do(self, load: str, x: int) -> int:
        """Do one task of a load."""
        return {**LOADS, "greet": greet}[load](x)

"""The loads as searches of Weft: all tasks in one round, plain or lazy; the answer is their sum."""

from __future__ import annotations

import time

import weft
from benchmarks import loads


@weft.task
def tiny(x: int) -> int:
    return loads.tiny(x)


@weft.task
def millisecond(x: int) -> int:
    return loads.millisecond(x)


@weft.task
def greet(x: int) -> int:
    return loads.greet(x)


arrived_at: list[float] = []
"""When the search had the results of its last round in hand."""
TASKS = {"tiny": tiny, "millisecond": millisecond}


@weft.search(version=1)
def one_round(load: str, n: int, lazy: bool, greetings: int):
    """Sum up one round of n tasks; before it, `greetings` tasks in a round of their own."""
    if greetings:
        yield [greet(i) for i in range(greetings)]
    task = TASKS[load]
    results = yield weft.lazy(n, task) if lazy else [task(i) for i in range(n)]
    arrived_at.append(time.time())  # a clock in a search: for measuring, and only here
    return sum(result.value for result in results)

"""The loads as searches of Weft: one round of all tasks, plain or lazy, or rounds of one task."""

from __future__ import annotations

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


TASKS = {"tiny": tiny, "millisecond": millisecond}


@weft.search(version=1)
def one_round(load: str, n: int, lazy: bool, greetings: int):
    """Sum the results of one round of n tasks, after a separate round of `greetings` tasks."""
    if greetings:
        yield [greet(i) for i in range(greetings)]
    task = TASKS[load]
    results = yield weft.lazy(n, task) if lazy else [task(i) for i in range(n)]
    return sum(result.value for result in results)


@weft.search(version=1)
def many_rounds(rounds: int):
    """Run rounds of one tiny task each, which increments the value of the round before."""
    value = 0
    for _ in range(rounds):
        [result] = yield [tiny(value)]
        value = result.value
    return value

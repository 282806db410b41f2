"""The work that an engine is asked to do, and the stopwatch that times it."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from benchmarks import loads


@dataclass(frozen=True, slots=True)
class Ask:
    """A request for `n` tasks of a load on `workers` workers."""

    load: str
    n: int
    warm: bool
    workers: int

    @property
    def work(self) -> Callable[[int], int]:
        """The function to call with 0 … n − 1."""
        return loads.LOADS[self.load]


class Stopwatch:
    """Measures time from its creation or, when warm, from when all workers have answered."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self._start_s = time.perf_counter()

    def workers_are_up(self, answers: Iterable[int]) -> None:
        """Check the greetings of all workers and restart the stopwatch."""
        total, expected = sum(answers), sum(range(self.ask.workers))
        if total != expected:
            raise AssertionError(f"greetings summed up to {total}, not {expected}")
        self._start_s = time.perf_counter()

    def seconds(self) -> float:
        """Return the seconds since the start."""
        return time.perf_counter() - self._start_s


Outcome = tuple[float, int]
"""Seconds, sum of the results."""
Engine = Callable[[Ask, Stopwatch], Outcome]

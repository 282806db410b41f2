"""The world of a simulation: a virtual clock, a disk that crashes, and injected faults."""

from __future__ import annotations

import os
import random

from weft.coordinator.policy import LOSSES_BEFORE_FAILED
from weft.storage.disk import Disk

MIN_FAULTS = 20
"""Minimum number of faults for every seed."""


class SimCrash(BaseException):
    """The process ends at this step. `except Exception` must not catch it."""


class SimClock:
    """Time that passes only when the simulation advances it."""

    def __init__(self) -> None:
        self.now_s = 1000.0

    def wall(self) -> float:
        """Return the virtual wall time."""
        return self.now_s

    def monotonic(self) -> float:
        """Return the virtual monotonic time."""
        return self.now_s


class SimDisk(Disk):
    """A disk that crashes before durable step number `crash_at`, sometimes in mid-write."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__()
        self._chance = chance
        self.steps = 0
        self.crash_at: int | None = None

    def step(self, name: str) -> None:
        """Count a durable step; crash if it is the chosen one."""
        self.steps += 1
        if self.steps == self.crash_at:
            raise SimCrash(name)

    def append(self, fd: int, data: bytes) -> None:
        """Append data, or write only a part of it and crash."""
        if self.steps + 1 == self.crash_at and self._chance.random() < 0.5:
            os.write(fd, data[: self._chance.randrange(len(data))])
        super().append(fd, data)


class Faults:
    """Decides which faults happen: none for the reference, at least MIN_FAULTS otherwise."""

    def __init__(self, chance: random.Random | None) -> None:
        self._chance = chance
        self._losses: dict[tuple[str, int, int], int] = {}
        self.count = 0

    def strikes(self, kind: str) -> bool:
        """Decide whether a fault of this kind happens now, and count it."""
        del kind
        if self._chance is None:
            return False
        likely = 0.5 if self.count < MIN_FAULTS + 5 else 0.05
        happens = self._chance.random() < likely
        self.count += happens
        return happens

    def pick(self, count: int) -> int:
        """Return which of `count` goes first."""
        return 0 if self._chance is None else self._chance.randrange(count)

    def pass_time(self, choices_s: tuple[float, ...]) -> float:
        """Return how much time one poll takes."""
        return choices_s[self.pick(len(choices_s))]

    def may_lose(self, place: tuple[str, int, int]) -> bool:
        """Count a loss; return False if it would fail the task and change the ledger."""
        self._losses[place] = self._losses.get(place, 0) + 1
        return self._losses[place] < LOSSES_BEFORE_FAILED

    def spared(self, place: tuple[str, int, int]) -> None:
        """Undo the count of `may_lose`: the attempt was not lost."""
        self._losses[place] = self._losses.get(place, 1) - 1

"""Measure the coordinator's own cost per task, by number of slots; prints one JSON line.

    python -m benchmarks.idleworkers SLOTS BLOCK N [--profile]

The run is real, with its manifest and its ledger; only its workers are not: a backend in the same
process answers each block of BLOCK tasks immediately, in the order in which slots were given work,
a few slots per poll. Its own time, about 1 µs per task, is included. With --profile, the most
expensive functions are printed to stderr.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import sys
import tempfile
import time
from collections import deque
from collections.abc import Callable, Sequence
from typing import ParamSpec, TypeVar

import weft
import weft.runs.session
from benchmarks import loads, loadsearches
from weft.model.attempts import Assignment, BackendEvent, Completed, Worker

PREFIX = '{"x":'
"""The arguments of a tiny task, up to its number."""
ANSWERS_A_POLL = 8
"""Number of slots that report per poll."""
TOP = 30
P, R = ParamSpec("P"), TypeVar("R")


class IdleBackend:
    """Implements the backend contract in place of the local backend."""

    block = 32

    def __init__(self, setup: object, slots: Sequence[object], *more: object) -> None:
        del setup, more
        self._most = 2 * self.block if self.block > 1 else 1
        self._room = [self._most] * len(slots)
        self._waiting: deque[Assignment] = deque()
        self._workers = [Worker(pid=1, started=0.0, node="idle") for _ in slots]

    def capacity(self) -> list[int]:
        """Return the room per slot; as in the local backend, 0 until a quarter of it is free."""
        return [room if 4 * room >= self._most else 0 for room in self._room]

    def submit(self, assignments: Sequence[Assignment]) -> None:
        """Queue assignments."""
        for assignment in assignments:
            self._room[assignment.slot] -= len(assignment.tickets)
        self._waiting.extend(assignments)

    def poll(self, timeout_s: float) -> list[BackendEvent]:
        """Answer the oldest few assignments."""
        del timeout_s
        answers = min(ANSWERS_A_POLL, len(self._waiting))
        return [self._answer(self._waiting.popleft()) for _ in range(answers)]

    def _answer(self, assignment: Assignment) -> BackendEvent:
        self._room[assignment.slot] += len(assignment.tickets)
        texts = (assignment.args, *assignment.more)
        values = tuple([str(int(text[len(PREFIX) : -1]) + 1) for text in texts])
        worker = self._workers[assignment.slot]
        return Completed(assignment.ticket, values, (1,) * len(values), worker)

    def cancel(self, tickets: Sequence[int]) -> None:
        """Do nothing: no task is ever cancelled."""

    def close(self) -> None:
        """Do nothing: there are no processes to stop."""


def measure(slots: int, block: int, n: int) -> dict[str, float]:
    """Run n tiny tasks; return wall-clock and CPU seconds, including start and sealing."""
    IdleBackend.block = block
    weft.runs.session.LocalBackend = IdleBackend  # type: ignore[assignment,misc]
    with tempfile.TemporaryDirectory() as folder:
        search = loadsearches.one_round("tiny", n, lazy=True, greetings=0)
        start_s, start_cpu_s = time.perf_counter(), time.process_time()
        run = weft.run(search, out=f"{folder}/run", workers=slots)
        seconds, cpu_s = time.perf_counter() - start_s, time.process_time() - start_cpu_s
    assert run.answer == loads.wanted_sum(n), f"summed up to {run.answer}"
    return {"seconds": seconds, "cpu_s": cpu_s}


def profiled(work: Callable[P, R], *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function and print the most expensive functions to stderr."""
    profile = cProfile.Profile()
    result = profile.runcall(work, *args, **kwargs)
    pstats.Stats(profile, stream=sys.stderr).sort_stats("tottime").print_stats(TOP)
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m benchmarks.idleworkers")
    for name in ("slots", "block", "n"):
        parser.add_argument(name, type=int)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    sizes = (options.slots, options.block, options.n)
    print(json.dumps(profiled(measure, *sizes) if options.profile else measure(*sizes)))

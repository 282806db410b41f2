"""Measure how busy one coordinator keeps many workers, in simulated time; prints one JSON line.

    python -m benchmarks.simulatedworkers SLOTS TASK_US N

The run, its manifest, its ledger and the local backend's decisions are real; the workers are not.
Each is a queue that takes TASK_US per task and reports like a real one, at the end of a block or
after 50 ms. Time is the coordinator's own CPU time plus its waiting time, so other load hardly
matters: every worker, and the coordinator, has its own core. A disk sync costs nothing here.
Efficiency is the sum of the tasks' time over slots × time taken, from the first assignment to the
last result.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterator

import weft
import weft.runs.session
from benchmarks import loads, loadsearches
from weft.backends.local import LocalBackend, WorkerSlot
from weft.backends.process import WorkerSeat
from weft.model.attempts import BackendEvent
from weft.model.slots import Slot
from weft.worker.frames import FromWorker, ToWorker
from weft.worker.loop import FLUSH_NS
from weft.worker.page import Mark

PREFIX = '{"x":'
"""The arguments of a task, up to its number."""
FLUSH_S = FLUSH_NS / 1e9
HOP_S = 0.0001
"""Time from sending a message to reading it."""


class SimulatedTime:
    """The CPU time of this process, plus the time that it would have slept."""

    def __init__(self) -> None:
        self._slept_s = time.monotonic() - time.process_time()

    def now_s(self) -> float:
        """Return monotonic seconds."""
        return time.process_time() + self._slept_s

    def sleep_until(self, until_s: float) -> None:
        """Advance the time to `until_s`, unless that has passed."""
        self._slept_s += max(0.0, until_s - self.now_s())


class SimulatedWorker(WorkerSeat):
    """Runs nothing; computes when each task would end."""

    def __init__(self, number: int, slot: Slot, clock: SimulatedTime, task_s: float) -> None:
        super().__init__(number, slot)
        self.ready = True
        self._clock, self._task_s = clock, task_s
        self._reports: deque[tuple[float, FromWorker]] = deque()
        self.first_s = self.free_s = self._flushed_s = clock.now_s()
        """When it starts, when it becomes idle, and when it last reports before that."""
        self.idle_s = 0.0

    def send(self, message: ToWorker) -> None:
        """Accept a message; all but work is ignored."""
        if message[0] != "run":
            return
        arrives_s = self._clock.now_s() + HOP_S
        if arrives_s > self.free_s:
            self.idle_s += arrives_s - self.free_s
            self.free_s = self._flushed_s = arrives_s
        for row in message[1]:
            self._plan(row[0], [int(text[len(PREFIX) :]) for text in row[2][1:-2].split("},")])

    def _plan(self, ticket: int, numbers: list[int]) -> None:
        """Schedule the reports of a block's results."""
        values = list[str]()
        for place, x in enumerate(numbers):
            self.free_s += self._task_s
            values.append(str(x + 1))
            if place == len(numbers) - 1 or self.free_s - self._flushed_s > FLUSH_S:
                first, run_us = ticket + place + 1 - len(values), int(1e6 * self._task_s)
                report: FromWorker = ("completed", first, values, [run_us] * len(values))
                self._reports.append((self.free_s + HOP_S, report))
                values, self._flushed_s = [], self.free_s

    def next_s(self) -> float | None:
        """Return when the next report arrives; None if there is none."""
        return self._reports[0][0] if self._reports else None

    def receive(self) -> list[FromWorker]:
        """Return the reports that have arrived."""
        now_s, messages = self._clock.now_s(), list[FromWorker]()
        while self._reports and self._reports[0][0] <= now_s:
            messages.append(self._reports.popleft()[1])
        return messages

    def flush(self) -> bool:
        """Return True: nothing waits to be written."""
        return True

    def mark(self) -> Mark | None:
        """Return None: no task is long enough to be noticed."""
        return None

    def kill(self) -> None:
        """Close the channel, which is unused."""
        self.channel.close()
        self._far.close()

    def wait(self) -> int:
        """Return 0: there is no process."""
        return 0

    def ended(self) -> int:
        """Return 0: a simulated worker never ends on its own."""
        return 0

    def log_tail(self) -> str:
        """Return an empty text: nothing is printed."""
        return ""


class SimulatedBackend(LocalBackend):
    """The local backend with simulated workers."""

    clock = SimulatedTime()
    task_s = 0.001
    efficiency = 0.0

    def _launch(self, number: int, slot: Slot) -> WorkerSeat:
        return SimulatedWorker(number, slot, self.clock, self.task_s)

    def poll(self, timeout_s: float) -> list[BackendEvent]:
        """Wait in simulated time for the next report."""
        arrivals = [s for worker, _ in self._simulated() if (s := worker.next_s()) is not None]
        if not self._events:
            self.clock.sleep_until(min([self.clock.now_s() + timeout_s, *arrivals]))
        now_s = self.clock.now_s()
        for worker, place in self._simulated():
            if (at_s := worker.next_s()) is not None and at_s <= now_s:
                self._read(worker, place)
        events, self._events = self._events, []
        return events

    def _simulated(self) -> Iterator[tuple[SimulatedWorker, WorkerSlot]]:
        for worker, place in self._serving():
            assert isinstance(worker, SimulatedWorker)
            yield worker, place

    def close(self) -> None:
        """Compute the workers' efficiency, then close the backend."""
        workers = [worker for worker, _ in self._simulated()]
        if workers:
            start_s = min(worker.first_s for worker in workers)
            end_s = max(worker.free_s for worker in workers)
            busy_s = sum(worker.free_s - worker.first_s - worker.idle_s for worker in workers)
            type(self).efficiency = busy_s / len(workers) / (end_s - start_s)
        super().close()


def measure(slots: int, task_us: int, n: int) -> dict[str, float]:
    """Run n tasks; return the workers' efficiency and the coordinator's CPU time."""
    SimulatedBackend.task_s = task_us / 1e6
    weft.runs.session.LocalBackend = SimulatedBackend  # type: ignore[assignment,misc]
    time.monotonic = SimulatedBackend.clock.now_s
    with tempfile.TemporaryDirectory() as folder:
        search = loadsearches.one_round("tiny", n, lazy=True, greetings=0)
        start_cpu_s = time.process_time()
        run = weft.run(search, out=f"{folder}/run", workers=slots)
        cpu_s = time.process_time() - start_cpu_s
    assert run.answer == loads.wanted_sum(n), f"summed up to {run.answer}"
    return {"efficiency": SimulatedBackend.efficiency, "cpu_s": cpu_s}


if __name__ == "__main__":
    slots, task_us, n = map(int, sys.argv[1:])
    print(json.dumps(measure(slots, task_us, n)))

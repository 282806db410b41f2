"""Worker processes on this machine, each killed and replaced by itself.

    coordinator ── socketpair ──► python -m weft.worker   (no fork, no re-import of the script)

Small tasks travel several at a time; a worker marks each start and streams each result, so
a worker that dies costs one attempt of the task it had started, and the rest comes back
unharmed. `serial` is this backend with one worker and one task at a time.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from weft.errors import WorldError
from weft.model.attempts import (
    Assignment,
    BackendEvent,
    Finished,
    GivenBack,
    Lost,
    Staged,
    Started,
    Worker,
)
from weft.model.results import TaskError
from weft.worker.frames import Unpacker, pack

CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
"""Signals a process sends itself: the task's own fault, unlike a KILL from outside."""
MAX_CREDIT = 256
BATCH_S = 0.02
"""A worker is given about this much work at a time."""
START_FAILURES = 3
START_KILLS = 50
"""Workers killed from outside before they were ready, in a row: then something wants none here."""
CANCEL_GRACE_S = 0.25
"""A new worker costs about this much, so a task given up may take it to end by itself."""
LOG_TAIL_BYTES = 4000
ONE_THREAD = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
"""Sums in BLAS depend on the number of threads; one thread keeps them the same."""


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """What every worker is told at its start."""

    run_seed: int
    objects: Path
    staging: Path
    logs: Path
    path: Sequence[str]
    environment: Mapping[str, str]

    def hello(self) -> bytes:
        """Return the first message to a worker."""
        return pack(["hello", {
            "seed": self.run_seed, "path": list(self.path),
            "objects": str(self.objects), "staging": str(self.staging), "logs": str(self.logs),
        }])  # fmt: skip


class LocalBackend:
    """Up to `workers` processes; `max_credit` limits how many tasks one holds at a time."""

    def __init__(self, setup: WorkerSetup, workers: int, max_credit: int = MAX_CREDIT) -> None:
        self._setup = setup
        self._limit = workers
        self._max_credit = max_credit
        self._selector = selectors.DefaultSelector()
        self._workers: list[_Process] = []
        self._events: list[BackendEvent] = []
        self._failed_starts = self._killed_starts = 0
        self._task_s = BATCH_S
        self._numbers = 0

    def capacity(self) -> int:
        """How many more assignments fit, over all workers that are or may be started."""
        credit = self._credit()
        held = sum(min(credit, len(worker.held)) for worker in self._workers)
        return self._limit * credit - held

    def submit(self, assignments: Sequence[Assignment]) -> None:
        """Spread assignments over the workers with the fewest, in order."""
        while len(self._workers) < min(self._limit, len(assignments) + self._busy()):
            self._start()
        batches: dict[int, list[Assignment]] = {}
        for assignment in assignments:
            worker = min(self._workers, key=lambda w: (len(w.held), w.number))
            worker.held[assignment.ticket] = assignment
            batches.setdefault(worker.number, []).append(assignment)
        for worker in self._workers:
            if worker.number in batches:
                rows = [_row(a) for a in batches[worker.number]]
                worker.send(["run", rows])
                self._watch(worker)

    def poll(self, timeout_s: float) -> list[BackendEvent]:
        """Read from and write to the workers; wait only when nothing has happened yet."""
        self._kill_cancelled()
        ready = self._selector.select(0 if self._events else timeout_s)
        for key, mask in ready:
            worker: _Process = key.data
            if mask & selectors.EVENT_WRITE and worker.flush():
                self._watch(worker)
            if mask & selectors.EVENT_READ:
                self._read(worker)
        events, self._events = self._events, []
        return events

    def cancel(self, ticket: int) -> None:
        """Forget a task: drop it if it waits in a worker; kill the worker if it goes on."""
        for worker in self._workers:
            if ticket in worker.held:
                worker.cancelled[ticket] = time.monotonic()
                if worker.running != ticket:
                    worker.send(["drop", [ticket]])
                    self._watch(worker)
                return
        self._events = [event for event in self._events if event.ticket != ticket]

    def close(self) -> None:
        """Kill every worker and wait for it."""
        for worker in self._workers:
            worker.stop(self._selector)
        self._workers.clear()

    # -- workers --------------------------------------------------------------------------

    def _credit(self) -> int:
        return max(1, min(self._max_credit, int(BATCH_S / max(self._task_s, 1e-6))))

    def _busy(self) -> int:
        return sum(1 for worker in self._workers if worker.held)

    def _start(self) -> None:
        if self._failed_starts >= START_FAILURES or self._killed_starts >= START_KILLS:
            tail = self._last_log[-300:].strip().replace("\n", " | ")
            raise WorldError(f"workers cannot start: {tail or 'they end at once'}",
                             hint="run `python -m weft.worker` by hand to see why")  # fmt: skip
        self._numbers += 1
        worker = _Process(self._numbers, self._setup)
        self._workers.append(worker)
        self._watch(worker)

    def _watch(self, worker: _Process) -> None:
        mask = selectors.EVENT_READ | (selectors.EVENT_WRITE if worker.outbox else 0)
        if worker.channel in self._selector.get_map():
            self._selector.modify(worker.channel, mask, worker)
        else:
            self._selector.register(worker.channel, mask, worker)

    def _read(self, worker: _Process) -> None:
        messages = worker.receive()
        if messages is None:
            self._died(worker)
            return
        for kind, *body in messages:
            if kind == "ready":
                worker.ready = True
                self._failed_starts = self._killed_starts = 0
            elif kind == "dropped":
                for ticket in body[0]:
                    worker.held.pop(ticket, None)
                    worker.cancelled.pop(ticket, None)
            else:
                self._task_event(worker, kind, body)

    def _task_event(self, worker: _Process, kind: str, body: list[Any]) -> None:
        ticket = body[0]
        if kind == "started":
            worker.running = ticket
            if ticket not in worker.cancelled:  # else it started before the drop reached it
                self._events.append(Started(ticket, worker.identity))
            return
        worker.running = None
        worker.held.pop(ticket, None)
        if ticket in worker.cancelled:
            del worker.cancelled[ticket]
        elif kind == "finished":
            end = _finished(ticket, body[1])
            self._task_s += 0.1 * (end.run_s - self._task_s)
            self._events.append(end)
        else:
            self._events.append(Lost(ticket, body[1], body[2]))

    def _kill_cancelled(self) -> None:
        """Kill workers that still run a task given up a moment ago; short ones just end."""
        limit_s = time.monotonic() - CANCEL_GRACE_S
        for worker in list(self._workers):
            if worker.running is not None and worker.cancelled.get(worker.running, 1e18) < limit_s:
                self._remove(worker)
                self._give_back(worker)

    def _died(self, worker: _Process) -> None:
        """A worker ended by itself or was killed: charge the task it had started, no other."""
        code = self._remove(worker)
        self._last_log = worker.log_tail()
        if not worker.ready:
            self._failed_starts += not _from_outside(code)
            self._killed_starts += _from_outside(code)
        running = worker.running
        if running is not None:
            worker.held.pop(running, None)
            if running not in worker.cancelled:
                self._events.append(_end_of(running, code, self._last_log))
        self._give_back(worker)

    def _remove(self, worker: _Process) -> int:
        self._workers.remove(worker)
        return worker.stop(self._selector)

    def _give_back(self, worker: _Process) -> None:
        for ticket in worker.held:
            if ticket not in worker.cancelled:
                self._events.append(GivenBack(ticket))

    _last_log: str = ""


class _Process:
    """One worker process, its socket, and the tickets it holds."""

    def __init__(self, number: int, setup: WorkerSetup) -> None:
        self.number = number
        self.held: dict[int, Assignment] = {}
        self.cancelled: dict[int, float] = {}
        """Tickets given up while here, and when."""
        self.running: int | None = None
        self.ready = False
        self.outbox = bytearray(setup.hello())
        self._unpacker = Unpacker()
        self.channel, theirs = socket.socketpair()
        self.channel.setblocking(False)
        setup.logs.mkdir(parents=True, exist_ok=True)
        self._log = setup.logs / f"worker-{os.getpid()}-{number}.log"
        with theirs, self._log.open("ab") as log:
            self._popen = subprocess.Popen(
                [sys.executable, "-m", "weft.worker", str(theirs.fileno()), str(os.getpid())],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                pass_fds=[theirs.fileno()],
                env={**setup.environment, **dict.fromkeys(ONE_THREAD, "1")},
                start_new_session=True,
            )
        started = psutil.Process(self._popen.pid).create_time()
        self.identity = Worker(pid=self._popen.pid, started=started, node="local")

    def send(self, message: list[Any]) -> None:
        """Queue a message; the socket takes it when it can (a blocking send could deadlock)."""
        self.outbox += pack(message)
        self.flush()

    def flush(self) -> bool:
        """Write what the socket takes; True when nothing is left to write."""
        try:
            sent = self.channel.send(self.outbox)
        except BlockingIOError:
            return False
        except OSError:
            sent = len(self.outbox)  # the worker is gone; reading will say so
        del self.outbox[:sent]
        return not self.outbox

    def receive(self) -> list[list[Any]] | None:
        """Messages that have arrived; None when the worker has ended."""
        try:
            data = self.channel.recv(1 << 20)
        except BlockingIOError:
            return []
        except OSError:
            return None
        return list(self._unpacker.feed(data)) if data else None

    def stop(self, selector: selectors.BaseSelector) -> int:
        """End the process for sure and return its exit status."""
        if self.channel in selector.get_map():
            selector.unregister(self.channel)
        self.channel.close()
        try:
            code = self._popen.wait(timeout=0.2 if not self.held else 0.02)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            code = self._popen.wait()
        return code

    def log_tail(self) -> str:
        """Return the end of what the worker printed."""
        with self._log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - LOG_TAIL_BYTES))
            return file.read().decode("utf-8", "replace")


def _row(a: Assignment) -> list[Any]:
    return [a.ticket, a.function, a.args, a.lane, a.round, a.index, a.key, a.attempt]


def _finished(ticket: int, body: dict[str, Any]) -> Finished:
    error = TaskError(*body["error"]) if "error" in body else None
    return Finished(
        ticket,
        value=body.get("value"),
        error=error,
        retriable=body.get("retriable", False),
        detail=body.get("detail", ""),
        staged=tuple(Staged(*item) for item in body.get("staged", ())),
        notes=body.get("notes"),
        run_s=body["run_s"],
    )


def _from_outside(code: int) -> bool:
    """Whether a process was ended by a signal that it would not send itself."""
    return code < 0 and -code not in CRASHES


def _end_of(ticket: int, code: int, log: str) -> Finished | Lost:
    """A crash or exit is the task's own doing; a KILL or TERM comes from outside."""
    if _from_outside(code):
        return Lost(ticket, f"worker-killed-{signal.Signals(-code).name}", log)
    exit_code = 128 - code if code < 0 else code
    return Finished(ticket, error=TaskError("worker-died", "run", exit_code), detail=log)

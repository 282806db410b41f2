"""One worker process on a node and the messages on their way to and from it.

A dedicated thread starts the worker and relays until it has ended (the kernel kills a worker when
the thread that started it ends). Results wait a moment for more, so that many short tasks cost
few calls.
"""

from __future__ import annotations

import json
import select
import shutil
import signal
import socket
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from weft.backends.orphans import CLEARED_S, Orphans
from weft.backends.process import WorkerProcess, WorkerSetup
from weft.model.attempts import Worker
from weft.model.slots import Slot
from weft.worker import outcomes
from weft.worker.frames import FromWorker, ToWorker
from weft.worker.page import NOTHING

NOTICE_S = 0.02
"""A task that runs for this long is reported as started."""
LOOK_S = 0.2
"""How often the page is read while a task runs whose start was reported."""
PULL_S = 5.0
"""How long a call waits for a message."""
REST_S = 0.005
"""Pause after reading from a worker that has more to do: reading each message at once would
preempt it a thousand times a second."""
GATHER_S = 0.03
QUIET_S = 0.008
"""Results gather for `GATHER_S`, or until none came for `QUIET_S`, which exceeds `REST_S`."""
GONE_S = 3 * CLEARED_S
MAX_LOG_BYTES = 1 << 24


@dataclass(frozen=True, slots=True)
class Reply:
    """A worker's messages, the logs of attempts that ended, and how the worker ended if it has."""

    messages: list[FromWorker]
    logs: list[tuple[str, bytes]]
    ended: tuple[int, str] | None = None
    """Exit status and the end of its log."""

    @staticmethod
    def stale() -> Reply:
        """Return the reply for a lease that is over."""
        return Reply([], [], (-signal.SIGKILL, "another lease has the slot"))


class Lease:
    """A worker under one epoch; all methods but the thread's own may be called at any time."""

    def __init__(self, epoch: int, setup: WorkerSetup, slot: Slot) -> None:
        self.epoch = epoch
        self.identity = Worker()
        self._setup, self._slot = setup, slot
        self._inbox: dict[int, Sequence[ToWorker]] = {}
        """Received messages by number; those before `_next` have been passed to the worker."""
        self._next = 0
        self._outgoing: list[FromWorker] = []
        self._tickets: dict[int, tuple[str, int]] = {}
        """Tickets that the worker holds, with key and attempt for the first task of each block."""
        self._reported = NOTHING
        """The last task whose start was reported."""
        self._logs: list[tuple[str, bytes]] = []
        self._noted_logs: list[tuple[Path, Path]] = []
        """Folders of logs already sent, of commands with an outcome file, and attempt folders."""
        self._ended: tuple[int, str] | None = None
        self._changed = threading.Condition()
        self._waker, self._wakes = socket.socketpair()
        self._ending = False
        self._begun, self._gone = threading.Event(), threading.Event()
        threading.Thread(target=self._serve, daemon=True).start()
        self._begun.wait()

    def push(self, number: int, messages: Sequence[ToWorker]) -> None:
        """Queue messages to the worker, in the order of their numbers."""
        with self._changed:
            self._inbox[number] = messages
        self._wake()

    def pull(self) -> Reply:
        """Wait for a message, then a moment for more; return what has arrived."""
        with self._changed:
            self._changed.wait_for(lambda: self._outgoing or self._ended, PULL_S)
        end_s, last_count = time.monotonic() + GATHER_S, -1
        while self._may_follow() and len(self._outgoing) != last_count and time.monotonic() < end_s:
            last_count = len(self._outgoing)
            time.sleep(QUIET_S)
        with self._changed:
            reply = Reply(self._outgoing, self._logs, self._ended)
            self._outgoing, self._logs = [], []
            return reply

    def end(self) -> None:
        """Kill the worker and all that it started; return when they are gone."""
        self._ending = True
        self._wake()
        self._gone.wait(GONE_S)

    def _may_follow(self) -> bool:
        return bool(self._outgoing and self._tickets) and self._ended is None

    def _wake(self) -> None:
        try:
            self._waker.send(b"!")
        except OSError:
            return  # the thread has ended

    # -- the thread -----------------------------------------------------------------------

    def _serve(self) -> None:
        try:
            worker = WorkerProcess(self.epoch, self._setup, self._slot)
            self.identity = worker.identity
        except OSError as error:
            self._close((1, f"no worker could be started: {error}"), self._gone.set)
            return
        finally:
            self._begun.set()
        self._relay(worker)
        if self._ending:
            worker.kill()
            code = worker.wait()
        else:
            code = worker.ended()
        self._close((code, worker.log_tail()), lambda: self._clear(worker.orphans()))

    def _close(self, ended: tuple[int, str], clear: Callable[[], None]) -> None:
        """Report the end, then clean up: only the next lease waits for the cleanup."""
        with self._changed:
            self._collect_logs(list(self._tickets))
            self._ended = ended
            self._changed.notify_all()
        self._waker.close()
        self._wakes.close()
        clear()
        self._gone.set()

    @staticmethod
    def _clear(marks: range) -> None:
        orphans = Orphans()
        orphans.expect(marks)
        orphans.finish()

    def _relay(self, worker: WorkerProcess) -> None:
        while not self._ending:
            unsent = [worker.channel] if worker.outbox else []
            wait_s = self._notice(worker)
            ready, writable, _ = select.select([worker.channel, self._wakes], unsent, [], wait_s)
            if self._wakes in ready:
                self._wakes.recv(4096)
                for message in self._due():
                    worker.send(message)
            if writable:
                worker.flush()
            if worker.channel in ready:
                messages = worker.receive()
                if messages is None:
                    self._notice(worker, least_s=0.0)
                    return
                self._take(messages)
                if self._tickets and not self._ending:
                    time.sleep(REST_S)

    def _notice(self, worker: WorkerProcess, least_s: float = NOTICE_S) -> float | None:
        """Report the start of a task that has run for a while; return how soon to check again."""
        mark = worker.mark()
        if mark is not None and mark.ticket == self._reported:
            return LOOK_S if self._tickets else None
        if mark is None or mark.ticket not in self._tickets:
            return NOTICE_S if self._tickets else None
        if time.monotonic() - mark.started_s >= least_s:
            self._take([("started", mark.ticket)])
        return NOTICE_S

    def _due(self) -> list[ToWorker]:
        """Return the messages whose turn it is, and note the tickets that the worker will hold."""
        messages_due: list[ToWorker] = []
        with self._changed:
            while (messages := self._inbox.pop(self._next, None)) is not None:
                self._next += 1
                messages_due += messages
            for message in messages_due:
                if message[0] == "run":
                    for row in message[1]:
                        count = len(json.loads(row[2]))
                        self._tickets.update(dict.fromkeys(range(row[0], row[0] + count), ("", 0)))
                        self._tickets[row[0]] = (row[6], row[7])
        return messages_due

    def _take(self, messages: list[FromWorker]) -> None:
        with self._changed:
            for message in messages:
                if message[0] == "started":
                    self._reported = message[1]
                elif message[0] == "finished":
                    self._collect_logs([message[1]])
                    self._collect(message[2].get("log"))
                elif message[0] == "lost":
                    self._collect_logs([message[1]])
                elif message[0] == "completed":
                    for ticket in range(message[1], message[1] + len(message[2])):
                        self._tickets.pop(ticket, None)
                elif message[0] == "dropped":
                    for ticket in message[1]:
                        self._tickets.pop(ticket, None)
            self._outgoing += messages
            self._changed.notify_all()

    def _collect_logs(self, tickets: Sequence[int]) -> None:
        """Collect the output of attempts; most printed nothing and have no folder."""
        for ticket in tickets:
            key, attempt = self._tickets.pop(ticket, ("", 0))
            folder = self._setup.logs / key
            if not key or not folder.is_dir():
                continue
            for path in sorted(folder.glob(f"{attempt}.*")):
                self._logs.append((f"{key}/{path.name}", _tail(path)))
            if (self._setup.attempts.parent / outcomes.FOLDER / f"{key}-{attempt}").exists():
                attempt_folder = self._setup.attempts / f"{key[:16]}-{attempt}"
                self._noted_logs.append((folder, attempt_folder))
            else:
                shutil.rmtree(folder, ignore_errors=True)
        self._remove_settled_logs()

    def _remove_settled_logs(self) -> None:
        """Remove logs that no adoption needs: the worker has removed their attempts' folders."""
        for folder, attempt_folder in self._noted_logs:
            if not attempt_folder.exists():
                shutil.rmtree(folder, ignore_errors=True)
        self._noted_logs = [pair for pair in self._noted_logs if pair[1].exists()]

    def _collect(self, name: str | None) -> None:
        """Collect the output of a task of a block."""
        if name is not None and (path := self._setup.logs / name).is_file():
            self._logs.append((name, _tail(path)))
            shutil.rmtree(path.parent, ignore_errors=True)


def _tail(path: Path) -> bytes:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - MAX_LOG_BYTES))
        return file.read()

"""One worker process: its socket, its log, and the tickets it holds.

`WorkerSeat` is what a backend sees of a worker, wherever that runs; `WorkerProcess` is one of
this machine.
"""

from __future__ import annotations

import abc
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from weft.backends.forkserver import ForkedProcess, ForkServer
from weft.backends.orphans import WORKER, Marks
from weft.model.attempts import Assignment, Finished, Lost, Staged, Worker
from weft.model.results import TaskError
from weft.model.slots import VISIBLE_DEVICES, Slot, visible_variable
from weft.worker.context import COMMAND_DEVICES
from weft.worker.environment import ONE_THREAD
from weft.worker.frames import (
    AssignmentRow,
    FromWorker,
    Hello,
    ResultBody,
    ToWorker,
    Unpacker,
    pack,
)
from weft.worker.page import NOTHING, Mark, StartPage, new_page
from weft.worker.processtree import birth_s

CRASHES = (signal.SIGSEGV, signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL)
"""Signals a process sends itself: the task's own fault, unlike a KILL from outside."""
LOG_TAIL_BYTES = 4000


@dataclass(frozen=True, slots=True)
class WorkerSetup:
    """What every worker of a run receives at its start."""

    run_seed: int
    objects: Path
    staging: Path
    logs: Path
    attempts: Path
    path: Sequence[str]
    environment: Mapping[str, str]
    marks: Marks
    """For everything that is started; no other run's."""
    run_id: str = ""
    kept_folder: Path | None = None
    """Where the folders of failed commands go; None to remove them."""
    genesis: str = ""
    """Names tasks whose output is kept."""
    sandbox: str | None = None
    """The program that confines commands, empty where none can; None if nobody has looked."""
    secret_names: Collection[str] = ()
    """Variables that no worker has in its environment: commands get them that ask for them."""
    outcome_token: str = ""
    """What marks outcome files as the run's own; empty where none are written."""
    fork_server: ForkServer | None = None
    """Forks workers that need not load what they run; None to start each by itself."""

    def hello(self, slot: Slot, page: int) -> bytes:
        """Return the first message to a worker; `page` is the descriptor it marks starts in."""
        hello: Hello = {
            "seed": self.run_seed, "path": list(self.path), "objects": str(self.objects),
            "staging": str(self.staging), "logs": str(self.logs),
            "attempts": str(self.attempts), "slot": slot.name,
            "folder": slot.folder, "python": slot.python, "run_id": self.run_id,
            "kept_folder": None if self.kept_folder is None else str(self.kept_folder),
            "allow_paths": list(slot.allow_paths), "genesis": self.genesis, "page": page,
            "sandbox": self.sandbox, "secrets": self._secrets(),
            "outcome_token": self.outcome_token,
        }  # fmt: skip
        return pack(("hello", hello))

    def _secrets(self) -> dict[str, str]:
        known = self.environment
        return {name: known[name] for name in sorted(self.secret_names) if name in known}

    def environment_for(self, slot: Slot) -> dict[str, str]:
        """Return the environment of a worker: one thread each, and only its slot's GPU.

        On a CPU slot functions see what we see, for `--device gpu`; commands see no GPU.
        """
        pinned = dict.fromkeys(ONE_THREAD, "1")
        variable, devices = visible_variable(slot.gpu_type), ""
        inherited = {n: v for n, v in self.environment.items() if n not in self.secret_names}
        if slot.gpu is not None:
            devices = str(slot.gpu)
            pinned[variable] = devices
            inherited = {
                name: value for name, value in inherited.items() if name not in VISIBLE_DEVICES
            }
        pinned[COMMAND_DEVICES] = f"{variable}={devices}"
        return {**inherited, **pinned}


class WorkerSeat(abc.ABC):
    """A worker on one slot and what it holds. The coordinator's side of it never blocks."""

    def __init__(self, number: int, slot: Slot) -> None:
        self.number = number
        self.tickets: dict[int, str] = {}
        """What it was given and has not answered for, in order, with the function it runs."""
        self.cancelled: dict[int, float] = {}
        """Tickets given up while here, and when."""
        self.reported = NOTHING
        """The last ticket whose start was reported."""
        self.asked = NOTHING
        """The long task during which what waits was asked back."""
        self.ready = False
        self.watched = 0
        """For which events the backend's selector watches the channel."""
        self.outbox = bytearray()
        """What the channel has not taken yet."""
        self.identity = Worker(node=slot.node, gpu=slot.gpu)
        self.channel, self._far = socket.socketpair()
        """Becomes readable when there is something to receive."""
        self.channel.setblocking(False)

    @abc.abstractmethod
    def send(self, message: ToWorker) -> None:
        """Queue a message to the worker."""

    @abc.abstractmethod
    def flush(self) -> bool:
        """Write what the channel takes; True when nothing is left to write."""

    @abc.abstractmethod
    def receive(self) -> list[FromWorker] | None:
        """Messages that have arrived; None when the worker has ended."""

    @abc.abstractmethod
    def mark(self) -> Mark | None:
        """Return which task the worker runs, as far as it is known here; also after its end."""

    @abc.abstractmethod
    def kill(self) -> None:
        """End the worker without waiting for it."""

    @abc.abstractmethod
    def wait(self) -> int:
        """Wait for a killed worker to be gone, if that takes no time worth mentioning."""

    @abc.abstractmethod
    def ended(self) -> int:
        """Return the exit status of a worker whose end `receive` reported."""

    @abc.abstractmethod
    def log_tail(self) -> str:
        """Return the end of what the worker printed."""

    def orphans(self) -> range:
        """Marks by which this machine looks for what the worker left; empty for none."""
        return range(0)

    def end_of(self, ticket: int, code: int) -> Finished | Lost:
        """Return what became of the task that ran when the worker ended."""
        return end_of_worker(ticket, code, self.log_tail())


class WorkerProcess(WorkerSeat):
    """A worker of this machine."""

    def __init__(self, number: int, setup: WorkerSetup, slot: Slot) -> None:
        super().__init__(number, slot)
        page = new_page()
        self._page = StartPage(page)
        self.outbox += setup.hello(slot, page)
        self._unpacker = Unpacker[FromWorker]()
        self._marks = setup.marks
        self._log = setup.logs / f"worker-{os.getpid()}-{number}.log"
        try:
            setup.logs.mkdir(exist_ok=True)  # a run's folder that is gone is not made again
            with self._log.open("ab") as log:
                self._popen = self._start(setup, slot, page, log)
        except OSError:
            self.channel.close()
            raise
        finally:
            self._far.close()
            os.close(page)
        setup.marks.put(self._popen.pid, number)
        self.identity = Worker(self._popen.pid, birth_s(self._popen.pid), slot.node, slot.gpu)

    def _start(
        self, setup: WorkerSetup, slot: Slot, page: int, log: IO[bytes]
    ) -> subprocess.Popen[bytes] | ForkedProcess:
        """Fork the worker from the server of the run, if that serves; else start it by itself."""
        words = [str(self._far.fileno()), str(os.getpid())]
        inherited_fds, environment = [self._far.fileno(), page], setup.environment_for(slot)
        if setup.fork_server is not None:
            forked = setup.fork_server.start(words, environment, log.fileno(), inherited_fds)
            if forked is not None:
                return forked
        return subprocess.Popen(
            [sys.executable, "-u", "-m", WORKER, *words],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=inherited_fds,
            env=environment,
            start_new_session=True,
        )

    def send(self, message: ToWorker) -> None:
        """Queue a message; the socket takes it when it can (a blocking send could deadlock)."""
        self.outbox += pack(message)
        self.flush()

    def flush(self) -> bool:
        """Write what the socket takes; True when nothing is left to write."""
        try:
            sent_bytes = self.channel.send(self.outbox)
        except BlockingIOError:
            return False
        except OSError:
            sent_bytes = len(self.outbox)  # the worker is gone; reading will report it
        del self.outbox[:sent_bytes]
        return not self.outbox

    def receive(self) -> list[FromWorker] | None:
        """Messages that have arrived; None when the worker has ended."""
        try:
            return self._unpacker.receive(self.channel)
        except BlockingIOError:
            return []
        except OSError:
            return None

    def mark(self) -> Mark | None:
        """Read the page."""
        return self._page.read()

    def orphans(self) -> range:
        """Its own mark."""
        return self._marks.of_worker(self.number)

    def kill(self) -> None:
        """End the process without waiting for it.

        The signal first: a worker whose channel closes ends by itself, as if all were well.
        """
        self._popen.kill()
        self.channel.close()

    def wait(self) -> int:
        """Wait for the process to be gone and return its exit status."""
        return self._popen.wait()

    def ended(self) -> int:
        """Return the exit status of a process that closed its socket, ending it if need be."""
        self.channel.close()
        try:
            return self._popen.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            return self._popen.wait()

    def log_tail(self) -> str:
        """Return the end of what the worker printed."""
        with self._log.open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - LOG_TAIL_BYTES))
            return file.read().decode("utf-8", "replace")


def assignment_row(a: Assignment) -> AssignmentRow:
    """An assignment as it travels to a worker."""
    args = f"[{','.join((a.args, *a.more))}]"
    return (a.ticket, a.function, args, a.lane, a.round, a.index, a.key, a.attempt, a.slot,
            a.timeout_s, a.memory_mb, a.code)  # fmt: skip


def finished_event(ticket: int, body: ResultBody) -> Finished:
    """A result as it came from a worker."""
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


def killed_from_outside(code: int) -> bool:
    """Whether a process was ended by a signal that it would not send itself."""
    return code < 0 and -code not in CRASHES


def end_of_worker(ticket: int, code: int, log: str) -> Finished | Lost:
    """A crash or exit is the task's own doing; a KILL or TERM comes from outside."""
    if killed_from_outside(code):
        return Lost(ticket, f"worker-killed-{signal.Signals(-code).name}", log)
    exit_code = 128 - code if code < 0 else code
    return Finished(ticket, error=TaskError("worker-died", "run", exit_code), detail=log)

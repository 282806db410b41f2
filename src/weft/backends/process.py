"""One worker process: its socket, its log, and the tickets it holds.

`WorkerSeat` is a backend's view of a worker, wherever the worker runs; `WorkerProcess` is a worker
on this machine.
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
"""Signals that a process causes itself: the task's own fault, unlike a KILL from outside."""
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
    """Marks for everything that is started; no other run has them."""
    run_id: str = ""
    kept_folder: Path | None = None
    """Where the folders of failed commands are kept; None to remove them."""
    genesis: str = ""
    """Part of the keys under which the output of tasks is saved."""
    sandbox: str | None = None
    """The program that confines commands; empty if there is none, None if not checked yet."""
    secret_names: Collection[str] = ()
    """Variables that no worker has in its environment; commands get those that they request."""
    outcome_token: str = ""
    """Authenticates the run's outcome files; empty if none are written."""
    fork_server: ForkServer | None = None
    """Forks workers that need not load what they run; None to start each as a separate program."""

    def hello(self, slot: Slot, page: int) -> bytes:
        """Return the first message to a worker; `page` is the descriptor of its start page."""
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

        On a CPU slot functions see the GPUs that we see, for `--device gpu`; commands see none.
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
    """A worker on one slot and the tasks that it holds. The coordinator's side never blocks."""

    def __init__(self, number: int, slot: Slot) -> None:
        self.number = number
        self.tickets: dict[int, str] = {}
        """Tickets of the tasks that it holds, in order, with their functions."""
        self.cancelled: dict[int, float] = {}
        """Tickets cancelled while held here, and when."""
        self.reported = NOTHING
        """The last ticket whose start was reported."""
        self.asked = NOTHING
        """The long task during which the waiting tasks were requested back."""
        self.ready = False
        self.watched = 0
        """The events for which the backend's selector watches the channel."""
        self.outbox = bytearray()
        """Bytes that the channel has not accepted yet."""
        self.identity = Worker(node=slot.node, gpu=slot.gpu)
        self.channel, self._far = socket.socketpair()
        """Becomes readable when there is something to receive."""
        self.channel.setblocking(False)

    @abc.abstractmethod
    def send(self, message: ToWorker) -> None:
        """Queue a message to the worker."""

    @abc.abstractmethod
    def flush(self) -> bool:
        """Write what the channel accepts; return True if nothing is left to write."""

    @abc.abstractmethod
    def receive(self) -> list[FromWorker] | None:
        """Return the messages that have arrived; None if the worker has ended."""

    @abc.abstractmethod
    def mark(self) -> Mark | None:
        """Return which task the worker runs, as far as known here; also after its end."""

    @abc.abstractmethod
    def kill(self) -> None:
        """Kill the worker without waiting for its end."""

    @abc.abstractmethod
    def wait(self) -> int:
        """Wait until a killed worker is gone, if that takes negligible time."""

    @abc.abstractmethod
    def ended(self) -> int:
        """Return the exit status of a worker whose end `receive` reported."""

    @abc.abstractmethod
    def log_tail(self) -> str:
        """Return the end of what the worker printed."""

    def orphans(self) -> range:
        """Return the marks of the worker's orphans on this machine; empty for none."""
        return range(0)

    def end_of(self, ticket: int, code: int) -> Finished | Lost:
        """Return the event for the task that was running when the worker ended."""
        return end_of_worker(ticket, code, self.log_tail())


class WorkerProcess(WorkerSeat):
    """A worker on this machine."""

    def __init__(self, number: int, setup: WorkerSetup, slot: Slot) -> None:
        super().__init__(number, slot)
        page = new_page()
        self._page = StartPage(page)
        self.outbox += setup.hello(slot, page)
        self._unpacker = Unpacker[FromWorker]()
        self._marks = setup.marks
        self._log = setup.logs / f"worker-{os.getpid()}-{number}.log"
        try:
            setup.logs.mkdir(exist_ok=True)  # a run folder that is gone is not created again
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
        """Fork the worker from the run's fork server if possible; else start a separate program."""
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
        """Queue a message and write what the socket accepts (a blocking send could deadlock)."""
        self.outbox += pack(message)
        self.flush()

    def flush(self) -> bool:
        """Write what the socket accepts; return True if nothing is left to write."""
        try:
            sent_bytes = self.channel.send(self.outbox)
        except BlockingIOError:
            return False
        except OSError:
            sent_bytes = len(self.outbox)  # the worker is gone; reading will report it
        del self.outbox[:sent_bytes]
        return not self.outbox

    def receive(self) -> list[FromWorker] | None:
        """Return the messages that have arrived; None if the worker has ended."""
        try:
            return self._unpacker.receive(self.channel)
        except BlockingIOError:
            return []
        except OSError:
            return None

    def mark(self) -> Mark | None:
        """Return the task that is marked in the page."""
        return self._page.read()

    def orphans(self) -> range:
        """Return the worker's mark."""
        return self._marks.of_worker(self.number)

    def kill(self) -> None:
        """Kill the process without waiting for its end.

        The signal is sent first: a worker whose channel closes exits normally.
        """
        self._popen.kill()
        self.channel.close()

    def wait(self) -> int:
        """Wait until the process is gone and return its exit status."""
        return self._popen.wait()

    def ended(self) -> int:
        """Return the exit status of a process that closed its socket, killing it if necessary."""
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
    """Return an assignment in the form in which it is sent to a worker."""
    args = f"[{','.join((a.args, *a.more))}]"
    return (a.ticket, a.function, args, a.lane, a.round, a.index, a.key, a.attempt, a.slot,
            a.timeout_s, a.memory_mb, a.code)  # fmt: skip


def finished_event(ticket: int, body: ResultBody) -> Finished:
    """Return the event for a result received from a worker."""
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
    """Return a fault for a crash or exit, a loss for a KILL or TERM from outside."""
    if killed_from_outside(code):
        return Lost(ticket, f"worker-killed-{signal.Signals(-code).name}", log)
    exit_code = 128 - code if code < 0 else code
    return Finished(ticket, error=TaskError("worker-died", "run", exit_code), detail=log)

"""Runs a worker's commands, one at a time, and makes sure that none of their processes is left.

    worker ── stdin: a command, one JSON line ──► supervisor ──► command and all it starts
           ◄─ stdout: its report, one JSON line ─┘

Started by its path with a bare interpreter (standard library only). It is a subreaper, so
processes that double-fork or call setsid still become its children. It kills them until none is
left when the time limit has passed, the memory limit is exceeded, the command's main process has
ended, or the worker is gone. It reports, and accepts the next command, only without children.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import resource
import select
import signal
import sys
import time
from pathlib import Path
from typing import NotRequired, TypedDict

if __name__ == "__main__":  # started by its path
    sys.path.append(str(Path(__file__).parents[2]))

from weft.worker import outcomes
from weft.worker.confinement import (
    FAILED,
    NOT_FOUND,
    UNEXECUTED,
    Confinement,
    check_program,
    last_line,
)
from weft.worker.freeroom import UNLIMITED, allocate, free_room, free_unused
from weft.worker.logpipes import CommandLogs
from weft.worker.outcomes import OutcomeRequest
from weft.worker.processtree import (
    at_parents_end,
    become_subreaper,
    become_unreadable,
    descendants,
    end_with_parent,
    resident_bytes,
    signal_all,
)
from weft.worker.resultchannel import ChannelReport, ResultChannel

TERM_GRACE_S = 1.0
"""How long processes may take to obey TERM before they are killed."""
LOOK_AGAIN_S = 0.05
KILL_AGAIN_S = 0.005
"""How soon to check again for processes that were forked while others were killed."""
MEMORY_EVERY_S = 0.05
SPACE_EVERY_S = 0.5
SPACE_SOON_S = 0.01
"""How often free space is measured, and how often when there is little of it."""
LITTLE_BYTES = 1 << 28
LITTLE_INODES = 4096
STDERR_BYTES = 4096
"""Preallocated for a command's stderr, so that its last message fits on a full disk."""
_HANDLED = (signal.SIGCHLD, signal.SIGCONT, signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The first two mean that a child or the worker has ended; the others have no effect, since only
the worker's end and the limits end a supervisor. They are not ignored: a new program would inherit
that, and a command starts with the system's defaults."""
_IGNORED = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGQUIT)
"""Ignored when we start: the first two by Python, the last if a shell put us in the background."""


class CommandSpec(TypedDict):
    """What to run, where and within which limits."""

    argv: list[str]
    cwd: str
    folders: list[str]
    """Folders whose free space is measured while the command runs."""
    env: dict[str, str]
    stdout: str
    stderr: str
    timeout_s: float | None
    memory_bytes: int
    """0 for no limit."""
    sandbox: NotRequired[list[str]]
    """Arguments to put before `argv` to confine the command: bubblewrap and its options."""
    secrets: NotRequired[dict[str, str]]
    """Variables whose values are redacted from its logs."""
    outcome: NotRequired[OutcomeRequest]
    """Where its end is recorded, so that it is not run again after a crash."""


class CommandReport(TypedDict):
    """How a command ended."""

    status: int
    """Exit status, or minus the number of the signal that ended it."""
    reason: str
    wall_s: float
    cpu_s: float
    peak_bytes: int
    least_room: dict[str, tuple[int, int]]
    """The least free bytes and inodes seen in each folder."""
    unstarted: tuple[int | None, str] | None
    """Error number and reason when the program could not be started."""
    channel: NotRequired[ChannelReport | None]
    """What the command sent through its result channel; None if it had none."""


class CommandRequest(TypedDict):
    """A line from the worker."""

    number: int
    """The command's number among those of this supervisor."""
    spec: CommandSpec


class CommandResponse(TypedDict):
    """A line to the worker."""

    number: int
    """As in the request."""
    report: CommandReport


class Supervisor:
    """Watches one command; `wake` becomes readable when a child or the worker has ended."""

    def __init__(self, spec: CommandSpec, wake: int, worker: int) -> None:
        self._spec = spec
        self._wake = wake
        self._worker = worker
        self._main: int = 0
        self._status: int | None = None
        self._reason = "exited"
        self._peak_bytes = 0
        self._usage = (0.0, 0.0, 0)
        self._least: dict[str, tuple[int, int]] = {}
        """The least room seen in each folder: bytes, inodes."""
        self._unstarted: tuple[int | None, str] | None = None
        self._channel = ResultChannel(spec["env"])
        self._confinement = Confinement(spec.get("sandbox", []))
        self._logs: CommandLogs | None = None

    def run(self) -> CommandReport:
        """Start the command, watch it, clean up, and report."""
        start_s = time.monotonic()
        started_ns = time.time_ns()  # noqa: TID251 - compared with times of files
        self._main = self._start()
        self._watch(start_s)
        self._channel.end()
        self._measure_space()  # before anything that it left is removed
        self._kill_all(gently=self._status is None)
        if self._logs is not None:
            self._logs.close()
        self._judge_confinement()
        free_unused(self._spec["stderr"])
        assert self._status is not None
        cpu_s = self._usage[0] + self._usage[1]
        report: CommandReport = {
            "status": self._status,
            "reason": self._reason,
            "wall_s": time.monotonic() - start_s,
            "cpu_s": cpu_s,
            "peak_bytes": max(self._peak_bytes, self._usage[2] * 1024),
            "least_room": self._least,
            "unstarted": self._unstarted,
            "channel": self._channel.report(),
        }
        self._note_outcome(report, started_ns)
        return report

    def _note_outcome(self, report: CommandReport, started_ns: int) -> None:
        """Record a final end of the command, whether or not the worker still waits for it."""
        spec = self._spec
        if "outcome" not in spec or report["unstarted"] is not None:
            return
        if outcomes.is_final(report["status"], report["reason"]):
            outcomes.write(spec["outcome"], [spec["stdout"], spec["stderr"]], report, started_ns)

    # -- starting -------------------------------------------------------------------------

    def _start(self) -> int:
        """Fork the command; a pipe that exec closes reports why it could not start."""
        spec, supervisor_pid = self._spec, os.getpid()
        with contextlib.suppress(OSError):  # the command's process will report the same
            self._logs = CommandLogs(spec["stdout"], spec["stderr"], spec.get("secrets", {}))
        reader, writer = os.pipe()
        pid = os.fork()
        if pid:
            os.close(writer)
            self._channel.started()
            self._confinement.started()
            if self._logs is not None:
                self._logs.started()
            cause = os.read(reader, 4096)  # one write, small enough for a pipe to be atomic
            os.close(reader)
            self._unstarted = json.loads(cause) if cause else None
            return pid
        end_with_parent(supervisor_pid)
        try:
            self._become_command(writer)
        except FileNotFoundError as error:
            self._fail(127, error, writer)
        except (OSError, ValueError) as error:  # ValueError: a NUL byte, a name with "="
            self._fail(126, error, writer)
        os._exit(126)

    def _become_command(self, pipe: int) -> None:
        spec = self._spec
        os.setsid()
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        (self._logs or CommandLogs(spec["stdout"], spec["stderr"], {})).hand_over()
        allocate(2, STDERR_BYTES)
        handed_over = len(self._channel.hand_over())
        words = self._confinement.hand_over(3 + handed_over)
        os.closerange(3 + handed_over + bool(words), pipe)
        os.closerange(pipe + 1, 256)
        os.chdir(spec["cwd"])
        if spec["memory_bytes"]:
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if words:
            check_program(_look_up(spec["argv"][0], spec["env"].get("PATH", "")), spec["argv"][0])
        _execute([*words, *spec["argv"]], spec["env"])

    def _fail(self, code: int, error: OSError | ValueError, pipe: int) -> None:
        """Report why the command could not start to its stderr, as a shell would, and to us."""
        path = getattr(error, "filename", None)
        is_text = isinstance(path, str)  # bytes are a path that was tried on PATH
        subject = path if is_text else self._spec["argv"][0]
        why = str(getattr(error, "strerror", None) or error)
        with contextlib.suppress(OSError):  # a full disk
            os.write(2, f"{subject}: {why}\n".encode("utf-8", "replace"))
        cause = [getattr(error, "errno", None), f"{subject}: {why}"[:500]]
        os.write(pipe, json.dumps(cause).encode())
        os._exit(code)

    def _judge_confinement(self) -> None:
        """Distinguish failures of bubblewrap from those of the command."""
        if self._unstarted is None and self._reason == "exited" and self._status == FAILED:
            why = last_line(self._spec["stderr"])
            if self._confinement.is_incomplete():
                self._unstarted = (errno.EPERM, f"the sandbox could not be set up: {why}")
            elif self._confinement.words and why.startswith(UNEXECUTED):
                self._status = NOT_FOUND
        self._confinement.close()

    # -- watching -------------------------------------------------------------------------

    def _watch(self, start_s: float) -> None:
        """Wait until the main process ends, or a limit or the worker ends it."""
        limit_s = self._spec["timeout_s"]
        memory = self._spec["memory_bytes"]
        while self._status is None:
            left_s = None if limit_s is None else start_s + limit_s - time.monotonic()
            if left_s is not None and left_s <= 0:
                self._reason = "timeout"
                return
            wait_s = self._measure_space()
            if memory:
                wait_s = min(wait_s, MEMORY_EVERY_S)
            if left_s is not None:
                wait_s = min(wait_s, left_s)
            is_closed = self._pause(wait_s)
            self._reap()
            if is_closed and self._status is None:
                self._reason = "closed"
                return
            if memory and self._status is None and self._over_memory(memory):
                self._reason = "out-of-memory"
                return

    def _pause(self, wait_s: float) -> bool:
        """Wait for the end of a child or of the worker; return True if the worker is gone.

        Children of the worker may hold its end of the pipe open, so our parent is checked too.
        """
        logs = [] if self._logs is None else self._logs.readable()
        watched = [0, self._wake, *self._channel.readable(), *logs]
        ready, _, _ = select.select(watched, [], [], wait_s)
        self._channel.receive()
        if logs and self._logs is not None:
            self._logs.receive()
        if self._wake in ready:
            os.read(self._wake, 4096)
        return (0 in ready and not os.read(0, 4096)) or os.getppid() != self._worker

    def _measure_space(self) -> float:
        """Record the free space; return how soon to measure again."""
        soon = False
        for folder in self._spec["folders"]:
            try:
                size, inodes = free_room(folder)
            except OSError:  # the command removed it
                continue
            least = self._least.get(folder, (UNLIMITED, UNLIMITED))
            self._least[folder] = (min(size, least[0]), min(inodes, least[1]))
            soon = soon or size < LITTLE_BYTES or inodes < LITTLE_INODES
        return SPACE_SOON_S if soon else SPACE_EVERY_S

    def _over_memory(self, limit_bytes: int) -> bool:
        used_bytes = sum(resident_bytes(pid) for pid in descendants())
        self._peak_bytes = max(self._peak_bytes, used_bytes)
        return used_bytes > limit_bytes

    def _reap(self) -> bool:
        """Reap every child that has ended; return True while children are left."""
        while True:
            try:
                pid, status, usage = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            user_s, system_s, peak = self._usage
            self._usage = (
                user_s + usage.ru_utime,
                system_s + usage.ru_stime,
                max(peak, usage.ru_maxrss),
            )
            if pid == self._main:
                self._status = os.waitstatus_to_exitcode(status)

    def _kill_all(self, *, gently: bool) -> None:
        """End every descendant: TERM first if `gently`, then KILL until none is left."""
        if gently:  # bubblewrap would end everything else at once
            signal_all(signal.SIGTERM, self._main if self._confinement.words else 0)
            end_s = time.monotonic() + TERM_GRACE_S
            while self._reap() and time.monotonic() < end_s:
                self._await_child(LOOK_AGAIN_S)
                if self._logs is not None:
                    self._logs.receive()
        if self._confinement.words and self._reap():
            self._await_child(LOOK_AGAIN_S)  # the sandbox ends with bubblewrap
        while self._reap():
            signal_all(signal.SIGKILL)
            self._await_child(KILL_AGAIN_S)

    def _await_child(self, wait_s: float) -> None:
        """Wait for the end of a child; one that has ended since the last check counts too."""
        ready, _, _ = select.select([self._wake], [], [], wait_s)
        if ready:
            os.read(self._wake, 4096)


def _execute(argv: list[str], env: dict[str, str]) -> None:
    """Replace this process by the program.

    The standard library tries to execute it in every folder of PATH, and each failure is slow.
    A lookup finds most programs; the rest, and the errors, are left to the standard library.
    """
    for program in (_look_up(argv[0], env.get("PATH", "")), argv[0]):
        try:
            os.execvpe(program, argv, env)  # noqa: S606 - no shell, by design
        except OSError:
            if program == argv[0]:
                raise


def _look_up(name: str, search_path: str) -> str:
    """Return the first executable of that name on a search path, or else the name itself."""
    folders = [] if "/" in name else search_path.split(":")
    paths = (f"{folder}/{name}" for folder in folders if folder)
    return next((path for path in paths if os.access(path, os.X_OK)), name)


def _prepare_signals() -> int:
    """Handle or reset signals; return a pipe that becomes readable when one was handled."""
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    for number in _HANDLED:
        signal.signal(number, lambda *_: None)
    for number in _IGNORED:
        signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, [])
    return reader


def main() -> None:
    """Run the commands that the worker sends, one after the other, until it is gone.

    While there is nothing to clean up, the kernel kills us with the worker. During a command it
    only wakes us, even if we were stopped: a stopped supervisor could not clean up.
    """
    worker = os.getppid()
    become_unreadable()
    become_subreaper()
    wake = _prepare_signals()
    end_with_parent(worker)
    while line := _read_line():
        at_parents_end(signal.SIGCONT)
        request: CommandRequest = json.loads(line)
        report = Supervisor(request["spec"], wake, worker).run()
        end_with_parent(worker)
        response: CommandResponse = {"number": request["number"], "report": report}
        os.write(1, json.dumps(response).encode() + b"\n")
    os._exit(0)  # nothing is open that the interpreter would have to close


def _read_line() -> bytes:
    """Return the next line of stdin; empty if the worker has closed it."""
    line = b""
    while not line.endswith(b"\n"):
        piece = os.read(0, 65536)
        if not piece:
            return b""
        line += piece
    return line


if __name__ == "__main__":
    main()

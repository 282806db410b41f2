"""The worker's side of its supervisor: started for the first command, reused for the next ones.

A supervisor has nothing left to clean up when it reports, so it is as good as new for the next
command, which is spared the start of an interpreter. A supervisor that was killed, is overdue or
sends anything but the expected report is killed with all its descendants, and replaced.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import subprocess
import sys
import time

from weft.model.results import TaskError
from weft.worker import supervisor
from weft.worker.ending import Ending
from weft.worker.processtree import kill_descendants
from weft.worker.supervisor import CommandReport, CommandRequest, CommandResponse, CommandSpec

OVERDUE_S = 2.5
"""A supervisor that has not reported this long after the limit is stopped or stuck, and is killed.

It gives a command 1 s to obey TERM; the coordinator gives up on us 3.5 s after the limit.
"""
POLL_S = 3600.0
"""The system call accepts at most 24 days; a command may have more."""
MOST_BYTES = 1 << 23
"""Maximum size of a report with its result; if exceeded, another process writes to the pipe."""


class SupervisorProcess:
    """One supervisor and the pipes to it."""

    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-S", supervisor.__file__],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._requests, self._responses = self._process.stdin, self._process.stdout
        self._commands = 0

    def is_alive(self) -> bool:
        """Whether the supervisor can run another command."""
        return self._process.poll() is None

    def run(self, spec: CommandSpec) -> CommandReport:
        """Run one command.

        Raises TimeoutError if the supervisor is overdue, OSError if it was killed.
        """
        self._commands += 1
        request: CommandRequest = {"number": self._commands, "spec": spec}
        self._requests.write(json.dumps(request).encode() + b"\n")
        self._requests.flush()
        limit_s = spec["timeout_s"]
        end_s = None if limit_s is None else time.monotonic() + limit_s + OVERDUE_S
        return self._report_in(self._read_line(end_s))

    def _read_line(self, end_s: float | None) -> bytes:
        line = b""
        while not line.endswith(b"\n") and len(line) < MOST_BYTES:
            self._await_response(end_s)
            piece = os.read(self._responses.fileno(), 65536)
            if not piece:
                raise BrokenPipeError("the supervisor was killed")
            line += piece
        return line

    def _await_response(self, end_s: float | None) -> None:
        poll = select.poll()
        poll.register(self._responses, select.POLLIN)
        while True:
            left_s = POLL_S if end_s is None else end_s - time.monotonic()
            if poll.poll(1000 * max(0.0, min(left_s, POLL_S))):
                return
            if left_s <= 0:
                raise TimeoutError

    def _report_in(self, line: bytes) -> CommandReport:
        """Return the report on the last command; a command may have written to our pipe too."""
        with contextlib.suppress(ValueError, TypeError, KeyError):
            response: CommandResponse = json.loads(line)
            if response["number"] == self._commands:
                return response["report"]
        raise BrokenPipeError("the supervisor's report was damaged")

    def end(self) -> None:
        """Kill the supervisor; the caller kills its descendants."""
        self._process.kill()
        with contextlib.suppress(OSError), self._process:  # closes the pipes and waits
            pass


class CommandSupervision:
    """Runs commands, one at a time, under a supervisor that is started when needed."""

    def __init__(self) -> None:
        self._supervisor: SupervisorProcess | None = None

    def run(self, spec: CommandSpec) -> CommandReport:
        """Run one command and return the report.

        Raises Ending: a fault if the supervisor is overdue, a loss if it was killed or could not
        be started. In both cases no process of the command is left.
        """
        try:
            return self._ready().run(spec)
        except TimeoutError:
            self._discard()
            why = "supervisor overdue"
            raise Ending(TaskError("timeout", "run"), retriable=True, detail=why) from None
        except OSError as error:  # it could not be started, or was killed
            self._discard()
            raise Ending(None, lost="supervisor-died", detail=str(error)) from None

    def _ready(self) -> SupervisorProcess:
        """Return an idle supervisor: the current one, or a new one if that was killed."""
        if self._supervisor is not None and not self._supervisor.is_alive():
            self._end()
        if self._supervisor is None:
            self._supervisor = SupervisorProcess()
        return self._supervisor

    def _discard(self) -> None:
        """Kill the supervisor and all descendants of this process: it may have left a command."""
        self._end()
        kill_descendants()

    def _end(self) -> None:
        if self._supervisor is not None:
            self._supervisor.end()
            self._supervisor = None


supervise = CommandSupervision().run
"""Run one command under the only supervisor of this worker process."""

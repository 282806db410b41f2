"""Forks workers from a server process that has loaded what they need, and waits for them.

The server starts before there is a run: as a program that loads while the coordinator prepares,
or as a copy of a coordinator that has loaded what is needed. If it cannot serve, workers are
started as separate programs.
"""

from __future__ import annotations

import contextlib
import json
import os
import select
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

from weft.backends.orphans import WORKER
from weft.worker import forkserver
from weft.worker.forkserver import ForkRequest
from weft.worker.processtree import taking_orphans

MS = 1000
LOADED_WITHIN_S = 60.0
"""A server that takes longer is abandoned."""
THREADED = ("numpy", "numba", "torch", "polars")
"""Packages that start threads when loaded."""


class ForkedProcess:
    """A forked worker, a child of this process; what `subprocess.Popen` is for other workers."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self._descriptor = os.pidfd_open(pid)
        self._code: int | None = None

    def kill(self) -> None:
        """Kill the worker without waiting for its end."""
        if self._code is None:
            signal.pidfd_send_signal(self._descriptor, signal.SIGKILL)

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the worker's end and return its exit status; may raise TimeoutExpired."""
        if self._code is None:
            poll = select.poll()
            poll.register(self._descriptor, select.POLLIN)
            if not poll.poll(None if timeout is None else int(timeout * MS)):
                raise subprocess.TimeoutExpired([WORKER], timeout or 0.0)
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
            os.close(self._descriptor)
        return self._code


class ForkServer:
    """A process that has loaded what workers need, and forks them."""

    def __init__(
        self, channel: socket.socket, process: subprocess.Popen[bytes] | ForkedProcess
    ) -> None:
        self._channel = channel
        self._channel.settimeout(LOADED_WITHIN_S)
        self._process = process

    @classmethod
    def loading(cls, preload: str, environment: Mapping[str, str]) -> ForkServer:
        """Start a program that calls `preload`, an import path `module:function`.

        Raises OSError if it cannot be started.
        """
        channel, far = _channel()
        words = [WORKER, str(far.fileno()), str(os.getpid()), preload]
        with far, contextlib.ExitStack() as undo:
            undo.enter_context(channel)
            process = subprocess.Popen(
                [sys.executable, "-u", "-m", forkserver.__name__, *words],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=[far.fileno()],
                env=environment,
                start_new_session=True,
            )
            undo.pop_all()
        return cls(channel, process)

    @classmethod
    def copying(cls) -> ForkServer | None:
        """Fork a copy of this process as it is now; return None if that is unsafe or fails.

        The copy has only the thread that forked. NumPy's libraries start their own threads and
        fix their number when they are loaded.
        """
        if threading.active_count() > 1 or not sys.modules.keys().isdisjoint(THREADED):
            return None
        sys.stdout.flush()  # or both would print what is buffered
        sys.stderr.flush()
        parent = os.getpid()
        with contextlib.suppress(OSError), contextlib.ExitStack() as undo:
            channel, far = _channel()
            undo.enter_context(channel)
            with far:
                if (pid := os.fork()) == 0:
                    forkserver.serve_as_copy(far, parent, WORKER)
            undo.pop_all()
            return cls(channel, ForkedProcess(pid))
        return None

    def start(
        self, arguments: Sequence[str], environment: Mapping[str, str], log: int,
        descriptors: Sequence[int],
    ) -> ForkedProcess | None:  # fmt: skip
        """Fork a worker that keeps `descriptors` and prints to `log`; return None on failure.

        A server that has failed once is not used again.
        """
        request: ForkRequest = {
            "arguments": list(arguments),
            "environment": dict(environment),
            "places": [*forkserver.STANDARD, *descriptors],
        }
        with Path(os.devnull).open("rb") as nothing, taking_orphans():
            pid = self._ask(request, [nothing.fileno(), log, log, *descriptors])
        if not pid:
            self.close()
        return ForkedProcess(pid) if pid else None

    def _ask(self, request: ForkRequest, files: Sequence[int]) -> int:
        """Return the pid of the worker; 0 if there is none."""
        body = json.dumps(request).encode()
        if len(body) > forkserver.REQUEST_BYTES:
            return forkserver.NONE
        with contextlib.suppress(OSError):
            socket.send_fds(self._channel, [body], files)
            return int(self._channel.recv(forkserver.REQUEST_BYTES) or forkserver.NONE)
        return forkserver.NONE

    def close(self) -> None:
        """End the server; its workers continue."""
        self._channel.close()
        self._process.kill()
        self._process.wait()


def _channel() -> tuple[socket.socket, socket.socket]:
    return socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)

"""Cases whose coordinators fork from a process that has already imported what they need.

Imports take most of the time of a small run, and twice that under strace. strace is attached
before the first call of the coordinator itself, so that it counts and injects as in `Case`, the
simple implementation; tests compare the two.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO

from tests.faults.case import HERE, RUN_LIMIT_S, Case, Ended, Search

MODULES = "WEFT_FAULTS_MODULES"
ANSWER_BYTES = 64
ATTACHED = " attached"


class Coordinators:
    """A process that forks coordinators, one at a time."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel

    @classmethod
    @contextlib.contextmanager
    def of(cls, plain: Case) -> Iterator[Coordinators]:
        """Run the plain case to its end, then preload the modules it had loaded by then."""
        modules = plain.folder.with_suffix(".modules")
        plain.extra[MODULES] = str(modules)
        ended = plain.run()
        del plain.extra[MODULES]
        assert ended.returncode == 0, ended.stderr
        near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        near.settimeout(RUN_LIMIT_S)
        with near, far:
            words = [sys.executable, str(HERE / "forkdriver.py"), str(far.fileno()), str(modules)]
            process = subprocess.Popen(words, env=plain.environment(), pass_fds=[far.fileno()])
            far.close()
            yield cls(near)
            near.close()
            process.wait(RUN_LIMIT_S)

    def run(self, case: Case, prefix: Sequence[str], stdout: IO[str], stderr: IO[str]) -> int:
        """Run a coordinator to its end, under strace if `prefix` is not empty."""
        request = {"arguments": case.argv()[1:], "folder": str(case.folder),
                   "environment": case.environment()}  # fmt: skip
        inner, outer = os.pipe()
        with contextlib.ExitStack() as stack:
            stack.callback(os.close, outer)
            files = [stdout.fileno(), stderr.fileno(), inner]
            socket.send_fds(self._channel, [json.dumps(request).encode()], files)
            os.close(inner)
            pid = self._answer()
            if prefix:
                stack.enter_context(attached(prefix, pid))
            os.write(outer, b"x")
            try:
                return self._answer()
            except TimeoutError:
                os.kill(pid, signal.SIGKILL)
                raise

    def _answer(self) -> int:
        text = self._channel.recv(ANSWER_BYTES)
        assert text, "the process that forks coordinators has ended"
        return int(text)


@contextlib.contextmanager
def attached(prefix: Sequence[str], pid: int) -> Iterator[None]:
    """Trace a process with strace, from before the block until the process ends."""
    words = [*prefix, "-p", str(pid)]
    with subprocess.Popen(words, stderr=subprocess.PIPE, text=True) as strace:
        assert strace.stderr is not None
        first = strace.stderr.readline()
        assert ATTACHED in first, first + strace.stderr.read()
        yield
        strace.communicate(timeout=RUN_LIMIT_S)


class ForkedCase(Case):
    """A case whose coordinators are forked."""

    def __init__(self, coordinators: Coordinators, folder: Path, search: Search) -> None:
        super().__init__(folder, search)
        self._coordinators = coordinators

    def run(self, prefix: Sequence[str] = ()) -> Ended:
        """Run a forked coordinator to its end."""
        stdout, stderr = (self.folder.with_name(f"{self.folder.name}.{n}") for n in (1, 2))
        with stdout.open("w") as out, stderr.open("w") as err:
            code = self._coordinators.run(self, prefix, out, err)
        return Ended(code, stdout.read_text(), stderr.read_text())

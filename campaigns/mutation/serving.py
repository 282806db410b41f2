"""Run tests on a mutant in a fork, and report their progress on a socket.

    request ─► serve ─fork─► run_request ─► {"begins": …} … {"failed": …} or {"survived": …}

A request names tests, the changed file if its code is to be exchanged in memory, and a folder for
test output. All processes left behind by a fork are killed before the next request.
"""

from __future__ import annotations

import ctypes
import json
import os
import resource
import signal
import socket
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from campaigns.mutation.exchange import Functions

MEMORY_BYTES = 6 << 30
"""Address space of a fork: an endless list must not exhaust the machine."""
Request = dict[str, Any]


class Answers:
    """Sends lines of JSON about the tests that a process runs."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel

    def say(self, **words: object) -> None:
        """Send one line."""
        self._channel.sendall(json.dumps(words).encode() + b"\n")


def serve(channel: socket.socket, run: Callable[[Request], object], **ready: object) -> None:
    """Run every request in a fork, until the socket is closed."""
    answers = Answers(channel)
    adopt_orphans()
    answers.say(**ready)
    for line in channel.makefile("r"):
        pid = os.fork()
        if pid == 0:
            try:
                os.setsid()
                answers.say(pid=os.getpid())
                run(json.loads(line))
            finally:
                os._exit(0)
        _, status = os.waitpid(pid, 0)
        end_children()
        answers.say(status=status)


class WarmSession:
    """Collects all tests, then serves requests in forks that have everything imported."""

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Serve requests instead of running all tests."""
        functions = Functions()
        runner = RequestRunner(self._channel, functions)
        session.config.pluginmanager.register(runner)
        serve(self._channel, lambda request: runner.run(session.items, request),
              tests=len(session.items))  # fmt: skip
        return True


class OneRequest:
    """Collects the tests of one request, in a fork that has imported no part of Weft."""

    def __init__(self, channel: socket.socket, request: Request) -> None:
        self._channel, self._request = channel, request

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests of the request instead of all."""
        runner = RequestRunner(self._channel, None)
        session.config.pluginmanager.register(runner)
        runner.run(session.items, self._request)
        return True


class RequestRunner:
    """Runs the tests of a request up to the first failure."""

    def __init__(self, channel: socket.socket, functions: Functions | None) -> None:
        self._say = Answers(channel).say
        self._functions = functions
        self._failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Remember the first failure."""
        if report.failed and not self._failed:
            self._failed = report.nodeid

    def run(self, collected: list[pytest.Item], request: Request) -> None:
        """Run the tests of a request; any exception that ends them counts as a failure."""
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
        signal.signal(signal.SIGINT, signal.default_int_handler)
        items = {item.nodeid: item for item in collected}
        chosen = [items[name] for name in request["tests"] if name in items]
        for item in chosen[:1]:
            factory = item.config._tmp_path_factory  # type: ignore[attr-defined]
            factory._given_basetemp, factory._basetemp = Path(request["folder"]), None
        if self._functions and request["path"]:
            self._functions.exchange(Path(request["path"]))
        self._say(ready=True)
        try:
            self._run_items(chosen)
        except BaseException as error:
            self._say(failed=self._failed or f"{type(error).__name__}: {error}"[:200])

    def _run_items(self, chosen: list[pytest.Item]) -> None:
        for item, following in zip(chosen, [*chosen[1:], None], strict=True):
            self._say(begins=item.nodeid)
            start_s = time.monotonic()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._failed:
                self._say(failed=self._failed)
                return
            self._say(passed=item.nodeid, seconds=round(time.monotonic() - start_s, 4))
        self._say(survived=len(chosen))


def adopt_orphans() -> None:
    """Make orphaned descendants children of this process."""
    ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # PR_SET_CHILD_SUBREAPER


def end_children() -> None:
    """Kill and reap all processes that a fork left behind, including those orphaned by this."""
    tasks = Path("/proc/self/task")
    while children := " ".join(p.read_text() for p in tasks.glob("*/children")).split():
        for pid in children:
            os.kill(int(pid), signal.SIGKILL)
        for pid in children:
            os.waitpid(int(pid), 0)

"""Run tests on mutants: a copy of the checkout each, a pytest that has collected all, its forks.

    Place ─request─► pytest (collected, warm) ─fork─► tests on the changed code ─answers─► Place

A mutant that takes effect when its file is imported, or that cannot be exchanged in memory, is
tried by a new interpreter. A test that takes much longer than without the mutant has noticed it.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from campaigns.mutation.operators import Mutant
from campaigns.mutation.reach import OPTIONS, Reach, clean_environment, test_files
from campaigns.planting import copy_checkout, make_environment

KILLED, TIMED_OUT, SURVIVED, UNREACHED = "killed", "timed-out", "survived", "unreached"
TIMES, MORE_S = 6, 8.0
"""A test may take so many times what it took, and so many seconds more."""
START_S = 300.0
FIRST_MTIME = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Verdict:
    """How a mutant ended: which test noticed it, of how many that may run and that reach it."""

    outcome: str
    by: str = ""
    run: int = 0
    reaching: int = 0


class NotStartedError(Exception):
    """The tests did not begin: the file cannot be imported, or not be exchanged."""


class Channel:
    """Lines of JSON from the other end of a socket, each within a time."""

    def __init__(self, end: socket.socket) -> None:
        self._end, self._rest = end, b""

    def send(self, **words: object) -> None:
        """Send one line."""
        self._end.settimeout(None)
        self._end.sendall(json.dumps(words).encode() + b"\n")

    def receive(self, within_s: float) -> dict[str, Any] | None:
        """The next line; None at the end. Raises TimeoutError."""
        deadline_s = time.monotonic() + within_s
        while b"\n" not in self._rest:
            self._end.settimeout(max(0.001, deadline_s - time.monotonic()))
            try:
                more = self._end.recv(1 << 16)
            except ConnectionResetError:
                return None
            if not more:
                return None
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        answer: dict[str, Any] = json.loads(line)
        return answer


@dataclass(slots=True)
class Progress:
    """What the answers about one mutant have said so far."""

    pid: int = 0
    running: str = ""
    is_ready: bool = False
    is_late: bool = False
    has_ended: bool = False

    def follow(self, channel: Channel, reach: Reach) -> tuple[str, str]:
        """Wait for the outcome, test by test. Raises NotStartedError."""
        within_s = START_S
        while True:
            try:
                answer = channel.receive(within_s) or {"status": 1}
            except TimeoutError:
                self.is_late = True
                return TIMED_OUT, self.running
            if "begins" in answer:
                within_s = MORE_S + TIMES * reach.seconds[answer["begins"]]
            if outcome := self._take(answer):
                return outcome

    def _take(self, answer: dict[str, Any]) -> tuple[str, str] | None:
        """Note one answer; return the outcome if it is one."""
        self.pid = answer.get("pid", self.pid)
        self.running = answer.get("begins", self.running)
        self.is_ready = self.is_ready or "ready" in answer
        if "status" in answer:
            self.has_ended = True
            if not self.is_ready:
                raise NotStartedError
            return KILLED, f"{self.running} (its process ended)"
        if "failed" in answer:
            return KILLED, answer["failed"]
        return (SURVIVED, "") if "survived" in answer else None


class Place:
    """A copy of the checkout in which one mutant at a time is on disk and in memory."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.copy = copy_checkout(root, folder / "w")
        self.python = make_environment(self.copy, folder / "v")
        self._mtime = FIRST_MTIME
        self._server: subprocess.Popen[bytes] | None = None
        self._channel: Channel | None = None

    def try_mutant(self, mutant: Mutant, text: str, reach: Reach, budget_s: float) -> Verdict:
        """Run the tests that reach a mutant, fastest first, as many as the budget allows."""
        names = reach.tests_of(mutant)
        chosen = within(names, reach, budget_s)
        if not chosen:
            return Verdict(UNREACHED)
        self._write(mutant.path, mutant.apply(text))
        try:
            outcome, by = self._outcome(mutant, chosen, reach)
        finally:
            self._write(mutant.path, text)
        return Verdict(outcome, by, len(chosen), len(names))

    def _outcome(self, mutant: Mutant, chosen: list[str], reach: Reach) -> tuple[str, str]:
        if reach.in_process(mutant):
            with contextlib.suppress(NotStartedError):
                return self._in_fork(mutant.path, chosen, reach)
        try:
            return self._in_new_process(chosen, reach)
        except NotStartedError:
            return KILLED, "import"

    def control(self, names: list[str]) -> dict[str, float]:
        """Run tests without a mutant in a fork; return what those that pass take."""
        channel = self._warm()
        self._ask(channel, names, path="", keep_going=True)
        seconds: dict[str, float] = {}
        while "status" not in (answer := channel.receive(START_S) or {"status": 1}):
            if "passed" in answer:
                seconds[answer["passed"]] = answer["seconds"]
        return seconds

    def close(self) -> None:
        """End the server and remove the copy."""
        self._end_server()
        shutil.rmtree(self.folder, ignore_errors=True)

    # -- the warm process ------------------------------------------------------------------------

    def _warm(self) -> Channel:
        if self._channel is None:
            self._server, self._channel = self._start("serve", test_files(self.copy))
            answer = self._channel.receive(START_S)
            if answer is None:
                raise RuntimeError("the tests cannot be collected")
        return self._channel

    def _in_fork(self, path: str, chosen: list[str], reach: Reach) -> tuple[str, str]:
        channel = self._warm()
        self._ask(channel, chosen, path=path, keep_going=False)
        progress = Progress()
        try:
            outcome = progress.follow(channel, reach)
            self._wait(channel, progress)
        except NotStartedError:
            if self._server is None or self._server.poll() is not None:
                self._end_server()
            raise
        return outcome

    def _wait(self, channel: Channel, progress: Progress) -> None:
        """Wait for the end of a fork, which is killed where it was too slow."""
        if progress.is_late and progress.pid:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(progress.pid, signal.SIGKILL)
        try:
            while not progress.has_ended:
                answer = channel.receive(START_S)
                progress.has_ended = answer is None or "status" in answer
        except TimeoutError:
            self._end_server()

    def _in_new_process(self, chosen: list[str], reach: Reach) -> tuple[str, str]:
        process, channel = self._start("once", sorted({n.partition("::")[0] for n in chosen}))
        self._ask(channel, chosen, path="", keep_going=False)
        try:
            return Progress().follow(channel, reach)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _start(self, mode: str, files: Sequence[str]) -> tuple[subprocess.Popen[bytes], Channel]:
        ours, theirs = socket.socketpair()
        with theirs:
            environment = {**clean_environment(self.python),
                           "WEFT_MUTATION": f"{mode}:{theirs.fileno()}"}  # fmt: skip
            process = subprocess.Popen(
                [self.python, "-m", "pytest", *OPTIONS, f"--basetemp={self.folder}/b", *files],
                cwd=self.copy, env=environment, pass_fds=[theirs.fileno()],
                start_new_session=True, stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        return process, Channel(ours)

    def _ask(self, channel: Channel, names: list[str], *, path: str, keep_going: bool) -> None:
        folder = self.folder / "t"
        shutil.rmtree(folder, ignore_errors=True)
        whole = str(self.copy / path) if path else ""
        channel.send(tests=names, path=whole, patch=bool(path), folder=str(folder),
                     keep_going=keep_going)  # fmt: skip

    def _end_server(self) -> None:
        if self._server is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._server.pid, signal.SIGKILL)
            self._server.wait()
        self._server = self._channel = None

    def _write(self, path: str, text: str) -> None:
        """Write a file with a time of its own, so that no older bytecode is taken for its."""
        self._mtime += 1
        target = self.copy / path
        target.write_text(text, "utf-8")
        os.utime(target, (self._mtime, self._mtime))


def within(names: list[str], reach: Reach, budget_s: float) -> list[str]:
    """The first tests that together take no longer than the budget; one at least."""
    chosen: list[str] = []
    total_s = 0.0
    for name in names:
        total_s += reach.seconds[name]
        if chosen and total_s > budget_s:
            break
        chosen.append(name)
    return chosen

"""Run tests on mutants in a copy of the checkout, in forks of two prepared processes.

    Place ─request─► warm server (all tests collected) ─fork─► tests on exchanged code ─► answers
                 └─► cold server (no part of Weft imported) ─fork─► pytest on some files ─► answers

The cold server tries mutants that take effect at import, or whose code cannot be exchanged. A test
that takes much longer than without the mutant has noticed it. A test only counts as having noticed
a mutant if it passes in the same way without one. `Place.try_plainly` is the slow twin: a new
interpreter for each mutant, as one would do by hand.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from campaigns.mutation.channel import (
    KILLED,
    MORE_S,
    START_S,
    SURVIVED,
    TIMED_OUT,
    TIMES,
    UNREACHED,
    Channel,
    NotStartedError,
    Progress,
)
from campaigns.mutation.mutant import Mutant
from campaigns.mutation.reach import KILLERS_FIRST, OPTIONS, Reach, clean_environment, test_files
from campaigns.planting import copy_checkout, make_environment

FIRST_MTIME = 1_000_000_000
PASSED = 0


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome of a mutant: the test that noticed it, and how many were chosen and reach it."""

    outcome: str
    by: str = ""
    run: int = 0
    reaching: int = 0


class Server:
    """A process that runs each request in a fork; started on the first request."""

    def __init__(self, words: Sequence[str | Path], copy: Path, scratch: Path) -> None:
        self._words, self._copy, self._scratch = words, copy, scratch
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: Channel | None = None

    def run(self, tests: list[str], path: str, reach: Reach) -> tuple[str, str]:
        """Run tests on the files on disk; the code of `path`, if given, is exchanged in memory."""
        channel = self.start()
        folder = self._scratch / "t"
        shutil.rmtree(folder, ignore_errors=True)
        whole = str(self._copy / path) if path else ""
        channel.send(tests=tests, path=whole, folder=str(folder))
        progress = Progress()
        try:
            outcome = progress.follow(channel, reach.seconds)
            self._await_end(channel, progress)
        except NotStartedError:
            if self._process is None or self._process.poll() is not None:
                self.close()
            raise
        return outcome

    def start(self) -> Channel:
        """Start the process unless it is running; return its channel."""
        if self._channel is None:
            ours, theirs = socket.socketpair()
            with theirs:
                self._process = self._start(theirs.fileno())
            self._channel = Channel(ours)
            if self._channel.receive(START_S) is None:
                raise RuntimeError("the tests cannot be collected")
        return self._channel

    def _start(self, fd: int) -> subprocess.Popen[bytes]:
        python = Path(self._words[0])
        environment = {**clean_environment(python), "WEFT_MUTATION": f"serve:{fd}"}
        return subprocess.Popen(
            [str(word).format(fd=fd) for word in self._words], cwd=self._copy, env=environment,
            pass_fds=[fd], start_new_session=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def _await_end(self, channel: Channel, progress: Progress) -> None:
        """Wait for the end of a fork, which is killed if it was too slow."""
        if progress.is_late and progress.pid:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(progress.pid, signal.SIGKILL)
        try:
            while not progress.has_ended:
                answer = channel.receive(START_S)
                progress.has_ended = answer is None or "status" in answer
        except TimeoutError:
            self.close()

    def close(self) -> None:
        """Kill the process and its group."""
        if self._process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._process = self._channel = None


class Place:
    """A copy of the checkout in which one mutant at a time is on disk and in memory."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.copy = copy_checkout(root, folder / "w")
        self.python = make_environment(self.copy, folder / "v")
        self._mtime = FIRST_MTIME
        collect = [self.python, "-m", "pytest", *OPTIONS, f"--basetemp={folder}/b"]
        self._warm = Server([*collect, *test_files(self.copy)], self.copy, folder)
        cold = [self.python, "-m", "campaigns.mutation.cold", "{fd}", f"{folder}/b"]
        self._cold = Server(cold, self.copy, folder)
        self._passing: set[tuple[Server, str]] = set()

    def try_mutant(self, mutant: Mutant, text: str, reach: Reach, budget_s: float) -> Verdict:
        """Run the tests that reach a mutant, as many as the budget allows."""
        names = reach.tests_of(mutant)
        chosen = within(names, reach, budget_s)
        if not chosen:
            return Verdict(UNREACHED)
        self._warm.start()  # with the unchanged file
        self._write(mutant.path, mutant.apply(text))
        try:
            outcome, by, server = self._outcome(mutant, chosen, reach)
        finally:
            self._write(mutant.path, text)
        if by in reach.seconds and not self._passes(server, by, reach):
            reach.failed.add(by)
            return self.try_mutant(mutant, text, reach, budget_s)
        return Verdict(outcome, by, len(chosen), len(names))

    def _outcome(self, mutant: Mutant, chosen: list[str], reach: Reach) -> tuple[str, str, Server]:
        if reach.in_process(mutant):
            with contextlib.suppress(NotStartedError):
                return *self._warm.run(chosen, mutant.path, reach), self._warm
        for share in shares_of(mutant, chosen):
            try:
                outcome, by = self._cold.run(share, "", reach)
            except NotStartedError:
                return KILLED, "import", self._cold
            if outcome != SURVIVED:
                return outcome, by, self._cold
        return SURVIVED, "", self._cold

    def _passes(self, server: Server, test: str, reach: Reach) -> bool:
        """Whether a test passes without a mutant in a fork of this server; successes are cached."""
        if (server, test) not in self._passing:
            outcome, _ = server.run([test], "", reach)
            if outcome != SURVIVED:
                print(f"left out, fails without a mutant: {test}", flush=True)
                return False
            self._passing.add((server, test))
        return True

    def try_plainly(self, mutant: Mutant, text: str, reach: Reach, budget_s: float) -> Verdict:
        """Return the same verdict from a new interpreter that runs pytest on the changed copy."""
        names = reach.tests_of(mutant)
        chosen = within(names, reach, budget_s)
        if not chosen:
            return Verdict(UNREACHED)
        words = [self.python, "-m", "pytest", *OPTIONS, "-x", f"--basetemp={self.folder}/b"]
        limit_s = START_S + sum(MORE_S + TIMES * reach.seconds[name] for name in chosen)
        self._write(mutant.path, mutant.apply(text))
        try:
            result = subprocess.run(
                [*words, *chosen], check=False, cwd=self.copy, timeout=limit_s,
                env=clean_environment(self.python), stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return Verdict(TIMED_OUT, "", len(chosen), len(names))
        finally:
            self._write(mutant.path, text)
        outcome = SURVIVED if result.returncode == PASSED else KILLED
        return Verdict(outcome, "", len(chosen), len(names))

    def close(self) -> None:
        """End the servers and remove the copy."""
        self._warm.close()
        self._cold.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _write(self, path: str, text: str) -> None:
        """Write a file with a unique modification time, so that no stale bytecode is used."""
        self._mtime += 1
        target = self.copy / path
        target.write_text(text, "utf-8")
        os.utime(target, (self._mtime, self._mtime))


def within(names: list[str], reach: Reach, budget_s: float) -> list[str]:
    """Return the first tests that together fit the budget, at least one."""
    chosen: list[str] = []
    total_s = 0.0
    for name in names:
        total_s += reach.seconds[name]
        if chosen and total_s > budget_s:
            break
        chosen.append(name)
    return chosen


def shares_of(mutant: Mutant, chosen: list[str]) -> list[list[str]]:
    """Split tests: those in the likeliest files first, so that fewer files are collected."""
    place = Path(mutant.path)
    files = {f"tests/{place.parent.name}/test_{place.stem}.py"}
    files |= {name.partition("::")[0] for name in chosen[:KILLERS_FIRST]}
    first = [name for name in chosen if name.partition("::")[0] in files]
    rest = [name for name in chosen if name.partition("::")[0] not in files]
    return [share for share in (first, rest) if share]

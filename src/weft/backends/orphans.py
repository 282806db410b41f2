"""Kills the orphans of workers, identified by a mark that every process below a worker inherits.

    coordinator ── marks ──► worker ─► supervisor ─► command ─► all it starts

A supervisor cleans up after its command, and a worker after its supervisor. When both are killed
at once, or a function's own children outlive its worker, the mark identifies the orphans. The mark
is a value of RLIMIT_RTTIME, high enough to limit nothing. It is inherited through fork, exec,
`setsid`, double forks and cleared environments, and an unprivileged process cannot raise it again.
No unrelated process can carry it.
"""

# Why not another marker: an environment variable is lost with `env -i` and cannot be read from a
# zombie; a session or process group is lost with `setsid`. If the coordinator became a subreaper,
# orphans of the program that called weft.run would become its children too, indistinguishable from
# a command's, and it would have to reap them. The mark changes nothing about that program and its
# processes.

from __future__ import annotations

import contextlib
import os
import resource
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from weft.lazy_imports import lazy_module
from weft.model.keys import sha256_hex
from weft.worker import supervisor

if TYPE_CHECKING:
    import psutil
else:
    psutil = lazy_module("psutil")  # most runs leave no orphans and do not need it

CLEARED_S = 5.0
"""How long a supervisor may take to clean up before it is killed with the rest."""
SCAN_S = 0.02
"""Pause between two scans of the processes of this machine."""
EMPTY_SCANS = 2
"""Consecutive scans that must find nothing: during one, a process may fork unnoticed and end."""
WORKER = "weft.worker"
"""An argument of a worker's command line, or the process name of a worker forked from a copy."""
WORKER_BITS = 20
RUN_DIGITS = 9
"""Hex digits of a run's own part: 36 bits, so that two runs do not collide."""
TOP_US = 2**62
LEAST_US = 2**60
"""Some 36,000 years of uninterrupted computing, and a limit for real-time processes only."""


@dataclass(frozen=True, slots=True)
class Marks:
    """The marks of one run, one for each worker; none if the limit is in use."""

    all: range

    @staticmethod
    def of(name: str) -> Marks:
        """Derive a run's marks from its name; they are the same for all its coordinators.

        They are below our own limit, since inside another run's command we carry a mark ourselves.
        """
        own_mark = _mark_of(os.getpid())
        top = (
            TOP_US
            if own_mark is None or own_mark == resource.RLIM_INFINITY
            else min(own_mark, TOP_US)
        )
        low = top - ((int(sha256_hex(name)[:RUN_DIGITS], 16) + 1) << WORKER_BITS)
        return Marks(range(low, low + 2**WORKER_BITS) if low >= LEAST_US else range(0))

    def of_worker(self, number: int) -> range:
        """Return the mark of a worker; empty if none is left."""
        return self.all[number : number + 1]

    def put(self, pid: int, number: int) -> None:
        """Mark a worker that has started nothing yet; does nothing on systems without the limit."""
        for mark in self.of_worker(number):
            with contextlib.suppress(OSError, ValueError):
                resource.prlimit(pid, resource.RLIMIT_RTTIME, (mark, mark))


@dataclass(slots=True)
class _Search:
    """Marks of workers that are gone, searched for until no process carries them."""

    marks: range
    until_s: float
    """Until then a supervisor that is cleaning up is not disturbed."""
    empty: int = 0
    """Consecutive scans that found nothing."""


class Orphans:
    """The orphans of workers that are gone."""

    def __init__(self) -> None:
        self._searches: list[_Search] = []
        self._next_s = 0.0
        self.ended: set[int] = set()
        """Pids of the killed processes, except workers."""

    def expect(self, *marks: range) -> None:
        """Add marks whose workers are gone, and scan at once."""
        until_s = time.monotonic() + CLEARED_S
        self._searches += [_Search(mark, until_s) for mark in marks if mark]
        self._scan()

    def clear(self) -> None:
        """Scan again if it is time."""
        if self._searches and time.monotonic() >= self._next_s:
            self._scan()

    def finish(self) -> None:
        """Wait until no orphan is left; give up on those that do not even obey KILL."""
        end_s = time.monotonic() + 2 * CLEARED_S
        self._scan()
        while self._searches and time.monotonic() < end_s:
            time.sleep(SCAN_S)
            self._scan()
        self._searches.clear()

    def _scan(self) -> None:
        now_s = time.monotonic()
        self._next_s = now_s + SCAN_S
        carrying = list(carriers([search.marks for search in self._searches]))
        for search in self._searches:
            leftover = [carrier for carrier in carrying if carrier.mark in search.marks]
            search.empty = 0 if leftover else search.empty + 1
            if now_s >= search.until_s or not any(carrier.clears_up for carrier in leftover):
                self.ended |= {carrier.process.pid for carrier in leftover if carrier.kill()}
        self._searches = [search for search in self._searches if search.empty < EMPTY_SCANS]


def end_earlier(marks: Marks) -> int:
    """Kill what earlier coordinators of a run left; return the number of processes killed.

    Called by the holder of the run's lock, before its first worker starts.
    """
    orphans = Orphans()
    orphans.expect(marks.all)
    orphans.finish()
    return len(orphans.ended)


@dataclass(frozen=True, slots=True)
class _Carrier:
    """A process with a mark."""

    mark: int
    process: psutil.Process
    words: tuple[str, ...]
    """Its command line; empty when it is about to end."""
    name: str

    @property
    def clears_up(self) -> bool:
        return supervisor.__file__ in self.words

    def kill(self) -> bool:
        """Kill the process if it is still the one that was found (psutil compares start times).

        Return True if it was not a worker: those of a killed coordinator end by themselves.
        """
        if _mark_of(self.process.pid) != self.mark:
            return False
        with contextlib.suppress(psutil.Error):
            self.process.kill()
        return bool(self.words) and WORKER not in (*self.words, self.name)


def carriers(marks: Sequence[range]) -> Iterator[_Carrier]:
    """Yield every process that carries one of the marks and has not ended."""
    for pid in _pids() if marks else ():
        mark = _mark_of(pid)
        if mark is None or not any(mark in group for group in marks):
            continue
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(pid)
            if process.status() != psutil.STATUS_ZOMBIE:
                yield _Carrier(mark, process, tuple(process.cmdline()), process.name())
                continue
        with contextlib.suppress(ChildProcessError):  # it is our child only if we are pid 1
            os.waitpid(pid, os.WNOHANG)


def _pids() -> list[int]:
    """Return the pids of all processes on this machine, in ascending order."""
    return sorted(int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit())


def _mark_of(pid: int) -> int | None:
    """Return the hard limit of a process; None if we cannot read it."""
    try:
        return resource.prlimit(pid, resource.RLIMIT_RTTIME)[1]
    except OSError:
        return None

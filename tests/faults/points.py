"""State-changing system calls of a coordinator, and faults at the n-th of them, with strace.

strace runs without -f: only the coordinator is traced (it has one thread), never its workers.
It counts each kind of call separately, so a point is a kind and a number; a counting pass
says which numbers change something of the run.
"""

from __future__ import annotations

import itertools
import random
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tests.faults.case import Case, Ended

WRITES = ("write", "pwrite64")
SYNCS = ("fsync", "fdatasync")
CALLS = (*WRITES, *SYNCS, "rename", "unlink", "ftruncate", "mkdir", "chmod", "fchmod", "openat")
_CURRENT_FOLDER = re.compile(r"^AT_FDCWD<[^>]*>")
_CALL = re.compile(r"^(\w+)\((.*)\) += \S+")


@dataclass(frozen=True)
class Point:
    """The `number`-th call of its kind, and what it touched in the counting pass."""

    call: str
    number: int
    touched: str = ""

    def __str__(self) -> str:
        return f"{self.call}#{self.number}({self.touched})"


def count_points(case: Case, strace: str) -> list[Point]:
    """Run the case to its end under strace; return its state-changing calls in order."""
    log = case.folder.parent / f"{case.folder.name}.count"
    ended = case.run([strace, "-y", "-o", str(log), "-e", "trace=" + ",".join(CALLS)])
    assert ended.returncode == 0, ended.stderr
    return _parse(log.read_text(errors="replace"), case.folder)


def _parse(log: str, folder: Path) -> list[Point]:
    counts: Counter[str] = Counter()
    points = []
    for line in log.splitlines():
        if not (match := _CALL.match(line)):
            continue
        call, args = match[1], _CURRENT_FOLDER.sub("", match[2])
        counts[call] += 1
        reads = call == "openat" and not ("O_CREAT" in args or "O_TRUNC" in args)
        if str(folder) in args and not reads:
            points.append(Point(call, counts[call], _touched(args, folder)))
    return points


def _touched(args: str, folder: Path) -> str:
    """The first path in the arguments of a call, below the folder."""
    path = _CURRENT_FOLDER.sub("", args).partition(str(folder))[2]
    return path.partition('"')[0].partition(">")[0].lstrip("/")


def kill_at(case: Case, point: Point, strace: str) -> bool:
    """Run the case and SIGKILL its coordinator at the point; False when it ended before that."""
    ended = _inject(case, point, "signal=KILL", strace)
    if ended.returncode == 0:
        return False
    assert ended.returncode == -9, f"{point}: exit {ended.returncode}: {ended.stderr}"
    return True


def fail_at(case: Case, point: Point, fault: str, strace: str) -> tuple[Ended, Point | None]:
    """Run the case with one call failing; also return the call, None if it was not reached.

    Calls come in another order from run to run: it may have touched another file than counted.
    """
    ended = _inject(case, point, fault, strace)
    lines = _log_of(case).read_text(errors="replace").splitlines()
    hit = next((line for line in lines if line.endswith("(INJECTED)")), None)
    return ended, None if hit is None else replace(point, touched=_touched(hit, case.folder))


def _inject(case: Case, point: Point, fault: str, strace: str) -> Ended:
    log = _log_of(case)
    log.unlink(missing_ok=True)
    what = ["-e", f"trace={point.call}", "-e", f"inject={point.call}:{fault}:when={point.number}"]
    return case.run([strace, "-y", "-o", str(log), *what])


def _log_of(case: Case) -> Path:
    return case.folder.parent / f"{case.folder.name}.strace"


def sample(points: Sequence[Point], count: int, seed: int) -> list[Point]:
    """Points spread over the run, one drawn from each of `count` equal stretches of it."""
    draw = random.Random(seed)
    edges = [len(points) * i // count for i in range(count + 1)]
    pairs = itertools.pairwise(edges)
    return [points[draw.randrange(low, high)] for low, high in pairs if high > low]

"""State-changing system calls of a coordinator, and faults at the n-th of them, with strace.

strace runs without -f: only the coordinator is traced (it has one thread), never its workers.
It counts each kind of call separately, so a point is a kind and a number; a counting pass tells
which numbers change the run. The number of calls depends on a run's timing, but the files it
touches and the kinds of calls on them do not, so a point can also be reached by its path.
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
KILL = "signal=KILL"
SQLITE = "runs/run/manifest.sqlite"
FIRST_WORKER = "runs/run/logs/worker-"
_NAMES = tuple((re.compile(pattern), name) for pattern, name in (
    (r"(?<=objects/)[0-9a-f]{2}(?=/|$)", "DIGEST"), (r"(?<=DIGEST/)[0-9a-f]{20,}", "DIGEST"),
    (r"(?<=staging/).+", "NAME"), (r"(?<=heads/)[^/]+(?=\.jsonl)", "ID"),
    (r"(?<=tmp_obj_)\w+", "NAME"), (r"(?<=worker-)\d+-\d+", "NUMBER"),
    (r"(?<=\.md\.)\w+", "NAME"),
))  # fmt: skip
_NEW_NAME = re.compile(r"staging/\d+-|logs/worker-|heads/\w{8,}|tmp_obj_|\.md\.\w")


@dataclass(frozen=True)
class Point:
    """The `number`-th call of its kind, and what it touched in the counting pass."""

    call: str
    number: int
    touched: str = ""
    number_on_path: int = 0
    """The call's number among those of its kind on this path."""

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
    counts_on_paths: Counter[tuple[str, str]] = Counter()
    points = []
    for line in log.splitlines():
        if not (match := _CALL.match(line)):
            continue
        call, args = match[1], _CURRENT_FOLDER.sub("", match[2])
        touched = _touched(args, folder)
        counts[call] += 1
        counts_on_paths[call, touched] += 1
        reads = call == "openat" and not ("O_CREAT" in args or "O_TRUNC" in args)
        if str(folder) in args and not reads:
            on_path = counts_on_paths[call, touched]
            points.append(Point(call, counts[call], touched, on_path))
    return points


def _touched(args: str, folder: Path) -> str:
    """The first path below the folder in the arguments of a call."""
    path = _CURRENT_FOLDER.sub("", args).partition(str(folder))[2]
    return path.partition('"')[0].partition(">")[0].lstrip("/")


def distinct(points: Sequence[Point]) -> list[Point]:
    """The first and last of each series of SQLite's writes to one file, and all other points.

    A series belongs to one transaction or one checkpoint of the write-ahead log, because SQLite
    syncs after each. On opening, frames of a transaction without its commit frame do not count, and
    an interrupted checkpoint is repeated (https://www.sqlite.org/fileformat2.html, 4.2 and 4.3), so
    a crash anywhere inside a series leaves one database, and a failed write one error.
    """
    neighbours = zip([None, *points], points, [*points[1:], None], strict=False)
    return [point for before, point, after in neighbours
            if not (_continues(before, point) and _continues(point, after))]  # fmt: skip


def _continues(point: Point | None, following: Point | None) -> bool:
    if point is None or following is None or not point.touched.startswith(SQLITE):
        return False
    return point.call == "pwrite64" and (point.call, point.touched) == (
        following.call, following.touched)  # fmt: skip


def without_repeats(points: Sequence[Point]) -> list[Point]:
    """The first, middle and last of each group of repeated calls, in the order of the points.

    Two calls are repetitions if they, and the calls before them, are of one kind and touch files of
    one kind: the same lines of code, round after round or object after object.
    """
    places: dict[tuple[tuple[str, str], ...], list[int]] = {}
    kinds = [(point.call, file_kind(point.touched)) for point in points]
    for at, kind in enumerate(kinds):
        places.setdefault((*kinds[max(at - 1, 0) : at], kind), []).append(at)
    chosen = {at for same in places.values() for at in (same[0], same[len(same) // 2], same[-1])}
    return [points[at] for at in sorted(chosen)]


def file_kind(touched: str) -> str:
    """The path without the parts that differ between files of one kind: digests, numbers, ids."""
    for pattern, name in _NAMES:
        touched = pattern.sub(name, touched)
    return touched


def of_recovery(points: Sequence[Point]) -> list[Point]:
    """The calls of a resumed run before it starts a worker; after that it is like any run."""
    started = (at for at, p in enumerate(points) if p.touched.startswith(FIRST_WORKER))
    return list(points[: next(started, len(points))])


def kill_at(case: Case, point: Point, strace: str) -> bool:
    """Run the case and SIGKILL its coordinator at the point; return False if it ended before."""
    return _was_killed(point, _inject(case, point, KILL, strace, when=point.number))


def kill_on_path(case: Case, point: Point, strace: str) -> bool:
    """The same at the call with the point's number on its path, whatever calls precede it."""
    only = ["-P", str(case.folder / point.touched)]
    ended = _inject(case, point, KILL, strace, *only, when=point.number_on_path)
    return _was_killed(point, ended)


def _was_killed(point: Point, ended: Ended) -> bool:
    if ended.returncode == 0:
        return False
    assert ended.returncode == -9, f"{point}: exit {ended.returncode}: {ended.stderr}"
    return True


def fail_at(case: Case, point: Point, fault: str, strace: str) -> tuple[Ended, Point | None]:
    """Run the case with one call failing; also return the call, or None if it was not reached.

    The order of calls varies between runs: the call may touch another file than the counted one.
    """
    ended = _inject(case, point, fault, strace, when=point.number)
    return ended, _hit(case, point)


def fail_on_path(case: Case, point: Point, fault: str, strace: str) -> tuple[Ended, Point | None]:
    """The same for the call with the point's number on its path, whatever calls precede it."""
    only = ["-P", str(case.folder / point.touched)]
    ended = _inject(case, point, fault, strace, *only, when=point.number_on_path)
    return ended, _hit(case, point)


def fail_nearest(case: Case, point: Point, fault: str, strace: str) -> tuple[Ended, Point | None]:
    """Fail by path, which is more reliable, or by number if the file's name is new in each run."""
    return (fail_at if has_new_name(point) else fail_on_path)(case, point, fault, strace)


def has_new_name(point: Point) -> bool:
    """Whether the file has a different name in each run."""
    return bool(_NEW_NAME.search(point.touched))


def _hit(case: Case, point: Point) -> Point | None:
    lines = _log_of(case).read_text(errors="replace").splitlines()
    hit = next((line for line in lines if line.endswith("(INJECTED)")), None)
    call = hit and _CALL.match(hit)
    return replace(point, touched=_touched(call[2], case.folder)) if call else None


def _inject(case: Case, point: Point, fault: str, strace: str, *only: str, when: int) -> Ended:
    log = _log_of(case)
    log.unlink(missing_ok=True)
    what = ["-e", f"trace={point.call}", "-e", f"inject={point.call}:{fault}:when={when}"]
    return case.run([strace, "-y", "-o", str(log), *only, *what])


def _log_of(case: Case) -> Path:
    return case.folder.parent / f"{case.folder.name}.strace"


def sample(points: Sequence[Point], count: int, seed: int) -> list[Point]:
    """Points spread over the run, one drawn from each of `count` equal intervals of it."""
    draw = random.Random(seed)
    edges = [len(points) * i // count for i in range(count + 1)]
    pairs = itertools.pairwise(edges)
    return [points[draw.randrange(low, high)] for low, high in pairs if high > low]


def drawn_by_path(points: Sequence[Point], seed: int) -> list[Point]:
    """One call per kind and path, from the first half of those calls: every run gets that far.

    Files with a new name in each run are left out. The seed alone determines the selection and its
    order.
    """
    calls: dict[tuple[str, str], list[Point]] = {}
    for point in points:
        if not has_new_name(point):
            calls.setdefault((point.call, point.touched), []).append(point)
    draw = random.Random(seed)
    drawn = []
    for _, group in sorted(calls.items()):
        drawn.append(group[int(draw.random() * ((len(group) + 1) // 2))])
    draw.shuffle(drawn)
    return drawn

"""Measure how `weft arc` uses many cores: on a few hard puzzles, then on a larger set.

Times are those of the whole command. The average number of busy workers comes from the manifest:
the sum of the tasks' run times over the time from the first start to the last end.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks import arcchains
from benchmarks.arcruns import TRAINING, call, every_nth
from weft.inspect.report.view import ViewedTask, view_of
from weft.searches.arc.data import load
from weft.searches.arc.records import SEARCH
from weft.searches.arc.task import ArcTask

HARD = ("5034a0b5", "6350f1f4", "73251a56", "bd283c4a", "5a719d11")
"""The five of the 633 training puzzles that took the most CPU time with version 14."""
SET = 160
Figures = dict[str, Any]


def measure(place: Path, workers: int, every: int) -> Iterator[Figures]:  # noqa: ARG001 - a set
    """Compile kernels, run hard puzzles with all workers, 2 and 1, then a set with all.

    Yields the figures after each step, so that an aborted run loses only one step.
    """
    known: Figures = _compile()
    yield known
    for seconds in _compared(place / "hard", HARD, sorted({1, 2, workers}, reverse=True)):
        known["hard"] = {"puzzles": list(HARD), "seconds": seconds}
        yield known
    known["chains"] = _chains(place / "hard" / "1")
    known["busy"] = _busy(place / "set", workers)
    print(f"{known['busy']['busy']:.1f} of {workers} busy", flush=True)
    yield known


def _compared(
    place: Path, puzzles: Sequence[str], counts: Sequence[int]
) -> Iterator[dict[str, float]]:
    """Solve the puzzles with each number of workers; the ledgers must be equal."""
    seconds: dict[str, float] = {}
    heads: set[str] = set()
    for count in counts:
        seconds[str(count)], head = _timed(place / str(count), puzzles, count)
        heads.add(head)
        print(f"{count} workers: {seconds[str(count)]:.2f} s", flush=True)
        assert len(heads) == 1, "the ledgers of the hard puzzles differ"
        yield seconds


def rows(hard: Mapping[str, Any]) -> Iterator[tuple[str, float, str]]:
    """Yield the rows of the table: workers, seconds, speed-up over one worker."""
    seconds = hard["seconds"]
    for workers in sorted(seconds, key=int):
        times = f"{seconds['1'] / seconds[workers]:.2f} ×" if "1" in seconds else "not measured"
        yield workers, seconds[workers], times


def _compile() -> Figures:
    """Compile the kernels into an empty cache, which the following runs use."""
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="weft-kernels-")
    start_s, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "weft.searches.arc.compile"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "compile_s": time.perf_counter() - start_s,
        "compile_cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
    }


def _timed(out: Path, puzzles: Sequence[str], workers: int) -> tuple[float, str]:
    """Solve puzzles of both training splits; return the seconds and the ledger's checkpoint."""
    data = out.parent / "puzzles"
    data.mkdir(parents=True, exist_ok=True)
    for name in puzzles:
        (data / f"{name}.json").write_bytes(_task(name).canonical())
    start_s = time.perf_counter()
    call("solve", "--data", str(data), "--workers", str(workers), "--out", str(out), "-q")
    return time.perf_counter() - start_s, (out / "checkpoint").read_text()


def _task(name: str) -> ArcTask:
    """Return a training puzzle of ARC-AGI-1, or else of ARC-AGI-2."""
    splits = [load(data, "training").tasks for data in ("arc-agi-1", "arc-agi-2")]
    return next(task for tasks in splits for task in tasks if task.name == name)


def _chains(out: Path) -> Figures:
    return arcchains.figures(view_of(out, SEARCH, "weft arc solve").tasks())


def _busy(out: Path, workers: int) -> Figures:
    names = every_nth(2)[:SET]
    call("bench", *names, *TRAINING, "--workers", str(workers), "--out", str(out), "--json", "-q")
    tasks = view_of(out, SEARCH, "weft arc bench").tasks()
    return {"workers": workers, "puzzles": len(names), **utilisation(tasks)}


def utilisation(tasks: Iterable[ViewedTask]) -> Figures:
    """Return how many workers were busy on average, and what puzzles cost."""
    by_lane: dict[str, float] = defaultdict(float)
    starts, ends = [], []
    for task in tasks:
        if task.started_at is not None and task.finished_at is not None:
            starts.append(task.started_at)
            ends.append(task.finished_at)
            by_lane[task.lane] += task.run_s or 0.0
    wall_s, costs = max(ends) - min(starts), sorted(by_lane.values())
    slowest = costs[-max(1, len(costs) // 20) :]
    return {
        "wall_s": wall_s,
        "busy": sum(costs) / wall_s,
        "cpu_s_per_task": sum(costs) / len(costs),
        "slowest_s": sum(slowest) / len(slowest),
    }

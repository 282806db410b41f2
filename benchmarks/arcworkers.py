"""How `weft arc` uses many cores: a few hard puzzles with 1, 2 and more workers, then a larger set.

Times are of the whole command. How busy the workers were comes from the manifest: the time that
tasks ran, over the time from the first start to the last end times the number of workers.
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

from benchmarks.arcruns import TRAINING, call, every_nth
from weft.inspect.report.view import ViewedTask, view_of
from weft.searches.arc.records import SEARCH

HARD = ("6cf79266", "264363fd", "a64e4611", "39e1d7f9", "890034e9")
"""Training puzzles that cost most; no program of the budget solves them."""
ALONE = 2
"""So many of them are measured alone with one worker, too."""
SET = 160
Figures = dict[str, Any]


def measure(place: Path, workers: int, every: int) -> Iterator[Figures]:  # noqa: ARG001 - a set
    """Compile, run the hard puzzles with 1, 2 and all workers, then a set with all of them."""
    compiled = _compile()
    counts = sorted({1, 2, workers})
    hard: Figures = {"puzzles": list(HARD), "alone": list(HARD[:ALONE])}
    hard["seconds"] = _compared(place / "hard", HARD, counts)
    hard["seconds_alone"] = {
        name: _compared(place / name, [name], [1, workers]) for name in HARD[:ALONE]
    }
    yield {**compiled, "hard": hard, "busy": _busy(place / "set", workers)}


def rows(hard: Mapping[str, Any]) -> Iterator[tuple[str, str, float, str]]:
    """Return the lines of the table: puzzles, workers, seconds, times as fast as one worker."""
    sets = {f"all {len(hard['puzzles'])}": hard["seconds"], **hard["seconds_alone"]}
    for names, seconds in sets.items():
        for workers in sorted(seconds, key=int):
            yield names, workers, seconds[workers], f"{seconds['1'] / seconds[workers]:.2f} ×"


def _compile() -> Figures:
    """Compile the kernels into an empty cache; what later runs use is compiled there."""
    os.environ["XDG_CACHE_HOME"] = tempfile.mkdtemp(prefix="weft-kernels-")
    start_s, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-m", "weft.searches.arc.compile"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "compile_s": time.perf_counter() - start_s,
        "compile_cpu_s": after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
    }


def _compared(place: Path, names: Sequence[str], counts: Sequence[int]) -> dict[str, float]:
    """Solve some puzzles with each number of workers; the ledgers must be equal."""
    seconds, heads = {}, set()
    for workers in counts:
        out = place / str(workers)
        start_s = time.perf_counter()
        call("solve", *names, *TRAINING, "--workers", str(workers), "--out", str(out), "-q")
        seconds[str(workers)] = time.perf_counter() - start_s
        heads.add((out / "checkpoint").read_text())
    assert len(heads) == 1, f"{', '.join(names)}: the ledgers differ"
    return seconds


def _busy(out: Path, workers: int) -> Figures:
    names = every_nth(2)[:SET]
    call("bench", *names, *TRAINING, "--workers", str(workers), "--out", str(out), "--json", "-q")
    tasks = view_of(out, SEARCH, "weft arc bench").tasks()
    return {"workers": workers, "puzzles": len(names), **utilisation(tasks)}


def utilisation(tasks: Iterable[ViewedTask]) -> Figures:
    """How many workers were busy on average, and what puzzles cost."""
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

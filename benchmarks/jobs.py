"""Measure the cost of a trivial job in `weft jobs run`, compared with a bare process.

    python -m benchmarks jobs

Each job prints its own line of JSON. `weft jobs run` gives it a supervisor, folders, limits and an
environment, stores its result, commits it and adds it to the ledger; the bare process only writes
its output to a file. Both alternate; the start-up of a run and its workers, measured with one job
per worker, is subtracted. CPU time is that of all processes of a run, including supervisors and
commands.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

from weft.worker.processtree import become_subreaper

PAGES = Path(__file__).parents[1] / "docs" / "benchmarks"
JOBS = 200
WORKERS = (1, 2, 8)
TURNS = 3
TARGET_MS = 15


class Cost(NamedTuple):
    """A cost in milliseconds, of a whole run or of one job."""

    wall_ms: float
    cpu_ms: float


def main() -> None:
    become_subreaper()  # processes that outlive their worker then count too
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        costs = measure(Path(folder))
    body = {
        "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}",
        "load": os.getloadavg()[0],
        "jobs": JOBS,
        "costs": {name: [cost._asdict() for cost in turns] for name, turns in costs.items()},
    }
    page = render(body)
    (PAGES / "jobs.json").write_text(json.dumps(body, indent=2) + "\n")
    (PAGES / "jobs.md").write_text(page)
    print(page)


def measure(folder: Path) -> dict[str, list[Cost]]:
    """Measure every variant once per turn."""
    costs: dict[str, list[Cost]] = {}
    for turn in range(TURNS):
        bare = timed(partial(run_bare, folder))
        costs.setdefault("bare process", []).append(per_job(bare, Cost(0.0, 0.0), JOBS))
        for workers in WORKERS:
            start, whole = (
                timed(partial(run_jobs, folder / f"{turn}-{workers}-{count}", count, workers))
                for count in (workers, JOBS)
            )
            name = f"`weft jobs run --workers {workers}`"
            costs.setdefault(name, []).append(per_job(whole, start, JOBS - workers))
    return costs


def argv_of(number: int) -> list[str]:
    return ["echo", json.dumps({"job": number})]


def run_bare(folder: Path) -> None:
    for number in range(JOBS):
        with (folder / "output").open("wb") as file:
            subprocess.run(argv_of(number), stdout=file, check=True)


def run_jobs(out: Path, count: int, workers: int) -> None:
    """Run the first `count` jobs."""
    file = out.with_suffix(".json")
    jobs = [{"job_id": f"j{i}", "argv": argv_of(i), "gpu": 0} for i in range(count)]
    file.write_text(json.dumps(jobs))
    argv = [sys.executable, "-m", "weft.main", "jobs", "run", str(file), "--out", str(out)]
    argv += ["--workers", str(workers), "--json", "-q"]
    result = subprocess.run(argv, check=True, capture_output=True)
    assert json.loads(result.stdout)["tasks"] == {"completed": count, "failed": 0}


def timed(work: Callable[[], None]) -> Cost:
    """Return the total cost of a call, including processes that outlive the one that it runs."""
    before, start_s = usage_s(), time.perf_counter()
    work()
    wall_s = time.perf_counter() - start_s
    while True:
        try:
            os.wait()
        except ChildProcessError:
            return Cost(1000 * wall_s, 1000 * (usage_s() - before))


def usage_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def per_job(whole: Cost, start: Cost, count: int) -> Cost:
    return Cost((whole.wall_ms - start.wall_ms) / count, (whole.cpu_ms - start.cpu_ms) / count)


def render(body: dict[str, object]) -> str:
    costs: dict[str, list[dict[str, float]]] = body["costs"]  # type: ignore[assignment]
    bare_ms = statistics.median(turn["wall_ms"] for turn in costs["bare process"])
    lines = [
        "# Trivial jobs",
        "",
        f"`python -m benchmarks jobs` on {body['machine']}, load {body['load']:.1f} at the end;",
        f"{JOBS} jobs of `echo`, {TURNS} interleaved repeats. Milliseconds per job; the target is",
        f"≤ {TARGET_MS} on an otherwise idle machine. Every result of Weft is durable and in the",
        "ledger, and nothing that a job starts outlives it.",
        "",
        "| | median | min | max | CPU, median | × a bare process |",
        "|---|---|---|---|---|---|",
    ]
    for name, turns in costs.items():
        walls = sorted(turn["wall_ms"] for turn in turns)
        wall_ms, cpu_ms = (
            statistics.median(turn[unit] for turn in turns) for unit in ("wall_ms", "cpu_ms")
        )
        lines.append(
            f"| {name} | {wall_ms:.1f} | {walls[0]:.1f} | {walls[-1]:.1f} | {cpu_ms:.1f} "
            f"| {wall_ms / bare_ms:.1f} |"
        )
    return "\n".join(lines) + "\n"

"""Run `weft arc` through its real command line, in a separate process, and return its totals.

Of evaluation tasks, only totals are ever read. The training split is halved by the parity of each
task's digest, so the halves are the same everywhere.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from weft.searches.arc.data import load
from weft.searches.arc.heldout import fingerprint, held_out
from weft.searches.arc.recorded import read_run
from weft.searches.arc.score import score
from weft.searches.arc.task import ArcTask

WEFT = (sys.executable, "-m", "weft.main", "arc")
TRAINING = ("--split", "training")
COUNTS = ("answered", "right", "wrong", "unknown", "top1", "top2", "precision")
SPENT = (
    "cpu_s_per_task",
    "cpu_s_of_slowest",
    "states_per_s",
    "programs_per_s",
    "pruned_share",
    "repeated_share",
    "cache_hit_share",
    "slice_balance",
)
FINISHED = (0, 1)
"""Exit codes of a search that finished, with an answer or without one."""


def bench(out: Path, workers: int, *options: str) -> dict[str, Any]:
    """Run one `weft arc bench`; return its totals, its costs and its peak process memory."""
    words = ("--workers", str(workers), "--out", str(out), "--json", "-q")
    output, memory_mb = call("bench", *options, *words)
    body = json.loads(output)
    scores = body["score"]
    return {
        "data": body["data"],
        **{name: scores[name] for name in ("tasks", "outputs", "outputs_top2")},
        **{name: scores[name] for name in COUNTS},
        "confidences": scores["confidences"],
        "reliability": scores["reliability"],
        "failures": scores["failures"],
        **{name: body["telemetry"][name] for name in SPENT},
        "memory_mb": round(memory_mb),
    }


def call(command: str, *words: str) -> tuple[str, float]:
    """Run a command; return its output and the memory of its largest process in MB."""
    argv = [*WEFT, command, *words]
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode not in FINISHED:
        raise SystemExit(f"{' '.join(argv)} ended with exit code {process.returncode}")
    return output, usage.ru_maxrss / 1024


def half_of(task: ArcTask) -> int:
    """Return 0 or 1: the half of its split that a task belongs to."""
    return int(task.digest, 16) % 2


def halves(out: Path, split: str) -> list[dict[str, Any]]:
    """Score the two halves of a finished run separately."""
    run, tasks = read_run(out), load("arc-agi-1", split).tasks
    truth = {task.digest: task for task in tasks}
    parts = [tuple(item for item in run.items if half_of(item.task) == half) for half in (0, 1)]
    scores = [score(replace(run, items=items), truth).to_dict() for items in parts]
    return [{"tasks": s["tasks"], **{name: s[name] for name in COUNTS}} for s in scores]


def every_nth(n: int, split: str = "training") -> Sequence[str]:
    """Return the names of every nth task in the order of digests, which is arbitrary."""
    tasks = sorted(load("arc-agi-1", split).tasks, key=lambda task: task.digest)
    return [task.name for task in tasks[::n]]


def names_beyond() -> Sequence[str]:
    """Return the names of ARC-AGI-2's training tasks that are in no split of ARC-AGI-1."""
    first = load("arc-agi-1", "training").tasks
    names, contents = {task.name for task in first}, {fingerprint(task) for task in first}
    return [
        task.name
        for task in load("arc-agi-2", "training").tasks
        if task.name not in names and fingerprint(task) not in contents and not held_out([task])
    ]


def names_of(half: int, split: str = "training") -> Sequence[str]:
    """Return the names of the tasks in one half."""
    return [task.name for task in load("arc-agi-1", split).tasks if half_of(task) == half]

"""What a large run costs, and coming back to it: verify, resume, report, the page's verdict.

    python -m benchmarks big [--tasks N,…] [--workers W] [--commands run,verify]
    python -m benchmarks big --tasks 10000000 --commands run,verify --json FILE     elsewhere
    python -m benchmarks big --merge FILE                     put its figures on the page

One lazy round of tiny tasks. Each command is a process of its own, measured from outside:
seconds, CPU seconds of it and its children, and its largest memory; of a run also its bytes on
disk. The machine's load is noted too: CPU seconds hardly depend on it, seconds do.
Sizes that are not measured keep the figures of their last run.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TypedDict

from weft.inspect.serve.rundirectory import RunDirectory
from weft.inspect.serve.views import Views
from weft.runs.run import real_place

TASKS = (100_000, 1_000_000)
STOP_SHARE = 0.9
TARGETS_S = {"verify": 20, "same command again": 15, "resume at 90 %": 15, "report": 20,
             "verdict": 10}  # fmt: skip
"""Seconds allowed for a million tasks."""
PAGES = Path(__file__).parents[1] / "docs" / "benchmarks"


class Cost(TypedDict):
    """What one command took."""

    seconds: float
    cpu_s: float
    peak_mib: float
    load: float


def main(argv: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks big")
    parser.add_argument("--tasks", default=",".join(map(str, TASKS)))
    sizes = [int(word) for word in parser.parse_args(argv).tasks.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = str(Path(folder) / "state")
        costs = {str(n): measure(Path(folder), n) for n in sizes}
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}"
    page = render(machine, costs)
    figures = {"machine": machine, "targets_s": TARGETS_S, "costs": costs}
    (PAGES / "big.json").write_text(json.dumps(figures, indent=2) + "\n")
    (PAGES / "big.md").write_text(page)
    print(page)


def measure(folder: Path, n: int) -> dict[str, Cost]:
    """Make a run and come back to it in every way."""
    run, stopped = str(folder / f"run-{n}"), str(folder / f"stopped-{n}")
    tiny = (sys.executable, "-m", "benchmarks.tiny")
    weft = (sys.executable, "-m", "weft.main")
    costs = {"run": cost(*tiny, run, str(n))}
    cost(*tiny, stopped, str(n), "--stop-at", str(int(STOP_SHARE * n)))
    costs["verify"] = cost(*weft, "verify", run)
    costs["same command again"] = cost(*tiny, run, str(n))
    costs["resume at 90 %"] = cost(*tiny, stopped, str(n))
    costs["report"] = cost(*weft, "report", run)
    costs["verdict"] = cost(sys.executable, "-m", "benchmarks.big", run)
    if checkpoint(run) != checkpoint(stopped):
        raise AssertionError("the resumed run has another head")
    return costs


def checkpoint(run: str) -> bytes:
    return Path(run, "checkpoint").read_bytes()


def cost(*command: str) -> Cost:
    """Run a command to its end and return what it took."""
    load, start_s = os.getloadavg()[0], time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    assert process.stderr is not None
    errors = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"{' '.join(command)}: {errors.decode()[-500:]}")
    return {
        "seconds": round(time.perf_counter() - start_s, 2),
        "cpu_s": round(usage.ru_utime + usage.ru_stime, 2),
        "peak_mib": round(usage.ru_maxrss / 1024, 1),
        "load": round(load, 1),
    }


def judge(run: Path) -> None:
    """Ask the live page for its verdict, as its first visitor does."""
    [served] = RunDirectory(run).runs()
    verdict = Views(real_place().heads).verdict(served)
    if verdict["word"] != "finished, verified":
        raise AssertionError(verdict)


def render(machine: str, costs: dict[str, dict[str, Cost]]) -> str:
    """Return the page."""
    lines = [
        "# Coming back to a large run", "",
        "`python -m benchmarks big`: one lazy round of tiny tasks, 2 workers; then each command in"
        " a process of its own.", "",
        f"Machine: {machine}. CPU seconds are those of the process and its children; the load is"
        " that of the machine before the command began.", "",
        "| tasks | command | seconds | CPU s | peak MiB | load | allowed s, for a million |",
        "|---:|---|---:|---:|---:|---:|---:|",
    ]  # fmt: skip
    for tasks, commands in costs.items():
        for name, c in commands.items():
            figures = f"{c['seconds']} | {c['cpu_s']} | {c['peak_mib']} | {c['load']}"
            lines.append(f"| {int(tasks):,} | {name} | {figures} | {TARGETS_S.get(name, '')} |")
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    judge(Path(sys.argv[1]))

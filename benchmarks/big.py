"""Measure the cost of a large run and of returning to it: verify, resume, report, live verdict.

    python -m benchmarks big [--tasks N,…] [--workers W] [--commands run,verify]
    python -m benchmarks big --tasks 10000000 --commands run,verify --json FILE     elsewhere
    python -m benchmarks big --merge FILE                     add its figures to the page

The run is one lazy round of tiny tasks. Each command runs in its own process and is measured from
outside: seconds, CPU seconds including children, and peak memory; for a run also its bytes on disk.
The machine's load is recorded too: CPU seconds hardly depend on it, seconds do. Sizes that are not
measured keep the figures of their last run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypedDict

from benchmarks import machine

TASKS = (100_000, 1_000_000)
WORKERS = 2
STOP_SHARE = 0.9
COMMANDS = ("run", "verify", "again", "resume", "report", "verdict")
NAMES = {"again": "same command again", "resume": f"resume at {STOP_SHARE:.0%}"}
TARGETS_S = {"verify": 20, "again": 15, "resume": 15, "report": 20, "verdict": 10}
"""Seconds allowed for a million tasks."""
TARGET_MIB = 300
"""Memory allowed for the coordinator, at any size."""
ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "benchmarks"


class Cost(TypedDict):
    """Resources that one command used."""

    seconds: float
    cpu_s: float
    peak_mib: float
    load: float


class Size(TypedDict):
    """Figures of a run of one size."""

    machine: str
    workers: int
    size_bytes: int
    commands: dict[str, Cost]


def main(argv: Sequence[str] = ()) -> None:
    options = parsed(argv)
    if options.merge:
        write_page({**load_page(), **json.loads(Path(options.merge).read_text("utf-8"))})
        return
    sizes: dict[str, Size] = {}
    for n in options.tasks:
        with tempfile.TemporaryDirectory() as folder:
            for size in measure(Path(folder), n, options.workers, options.commands):
                sizes[str(n)] = size
                if options.json:  # now: a later command may be aborted
                    Path(options.json).write_text(json.dumps(sizes, indent=1) + "\n", "utf-8")
    if not options.json:
        write_page({**load_page(), **sizes})


def parsed(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the options."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks big")
    parser.add_argument("--tasks", type=_counts, default=TASKS, help="sizes, with commas")
    parser.add_argument("--workers", type=int, default=WORKERS)
    parser.add_argument("--commands", type=_commands, default=COMMANDS, help=",".join(COMMANDS))
    parser.add_argument("--json", metavar="FILE", help="write the figures there, and no page")
    parser.add_argument("--merge", metavar="FILE", help="measure nothing; take figures from there")
    return parser.parse_args(argv)


def _counts(text: str) -> tuple[int, ...]:
    return tuple(int(word) for word in text.split(","))


def _commands(text: str) -> tuple[str, ...]:
    for word in text.split(","):
        if word not in COMMANDS:
            raise argparse.ArgumentTypeError(f"there is no command {word!r}")
    return tuple(text.split(","))


# -- measuring ---------------------------------------------------------------------------------


def measure(folder: Path, n: int, workers: int, commands: Sequence[str]) -> Iterator[Size]:
    """Execute a run, then the requested commands on it, in the order of `COMMANDS`.

    Yields the figures so far after each command.
    """
    run, stopped = str(folder / "run"), str(folder / "stopped")
    tiny = (sys.executable, "-m", "benchmarks.tiny", "--workers", str(workers))
    weft = (sys.executable, "-m", "weft.main")
    place = machine.describe()
    first = cost(*tiny, run, str(n), folder=folder)
    steps: dict[str, Callable[[], Cost]] = {
        "run": lambda: first,
        "verify": lambda: cost(*weft, "verify", run, folder=folder),
        "again": lambda: cost(*tiny, run, str(n), folder=folder),
        "resume": lambda: resumed(tiny, run, stopped, n, folder),
        "report": lambda: cost(*weft, "report", run, folder=folder),
        "verdict": lambda: cost(sys.executable, "-m", "benchmarks.bigverdict", run, folder=folder),
    }
    size_bytes, costs = size_of(Path(run)), dict[str, Cost]()
    for name in COMMANDS:
        if name in commands:
            costs[name] = steps[name]()
            print(f"{n:,} tasks: {name}: {costs[name]}", flush=True)
            yield {"machine": place, "workers": workers, "size_bytes": size_bytes,
                   "commands": costs}  # fmt: skip


def resumed(tiny: Sequence[str], run: str, stopped: str, n: int, folder: Path) -> Cost:
    """Stop a second run near its end; measure the session that completes it, to the same head."""
    cost(*tiny, stopped, str(n), "--stop-at", str(int(STOP_SHARE * n)), folder=folder)
    session = cost(*tiny, stopped, str(n), folder=folder)
    if checkpoint(run) != checkpoint(stopped):
        raise AssertionError("the resumed run has another head")
    return session


def checkpoint(run: str) -> bytes:
    return Path(run, "checkpoint").read_bytes()


def size_of(folder: Path) -> int:
    """Return the total size of all files below a folder, in bytes."""
    return sum(path.stat().st_size for path in sorted(folder.rglob("*")) if path.is_file())


def cost(*command: str, folder: Path) -> Cost:
    """Run a command to completion and return its cost; its state is kept in `folder`."""
    load, start_s = os.getloadavg()[0], time.perf_counter()
    environment = {**os.environ, "XDG_STATE_HOME": str(folder / "state")}
    process = subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment, cwd=ROOT
    )
    assert process.stderr is not None
    with process.stderr as pipe:
        errors = pipe.read()
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


# -- the page ----------------------------------------------------------------------------------


def load_page() -> dict[str, Size]:
    """Return the stored figures by size; empty if there are none."""
    path = PAGES / "big.json"
    stored: dict[str, Size] = json.loads(path.read_text("utf-8")) if path.exists() else {}
    return {size: body for size, body in stored.items() if size.isdigit()}


def write_page(sizes: Mapping[str, Size]) -> None:
    ordered = {size: sizes[size] for size in sorted(sizes, key=int)}
    page = render(ordered)
    (PAGES / "big.json").write_text(json.dumps(ordered, indent=1) + "\n", "utf-8")
    (PAGES / "big.md").write_text(page, "utf-8")
    print(page)


def render(sizes: Mapping[str, Size]) -> str:
    """Return the page."""
    return f"""\
# A large run, and coming back to it

`python -m benchmarks big`: one lazy round of tiny tasks, then each command in its own process.
CPU seconds are those of the process and its children; the load is that of the machine before the
command began. Memory is that of the largest process, the coordinator; at most {TARGET_MIB} MiB are
allowed for a run of any size.

| tasks | workers | µs per task | CPU µs per task | peak MiB | disk, MB | bytes per task | machine |
|---:|---:|---:|---:|---:|---:|---:|---|
{_lines(_run_row(int(n), size) for n, size in sizes.items())}

The allowed seconds apply to a million tasks:

| tasks | command | seconds | allowed | CPU s | peak MiB | load |
|---:|---|---:|---:|---:|---:|---:|
{
        _lines(
            _command_row(int(n), name, c)
            for n, size in sizes.items()
            for name, c in size["commands"].items()
        )
    }
"""


def _lines(rows: Iterable[str]) -> str:
    return "\n".join(rows)


def _run_row(n: int, size: Size) -> str:
    run = size["commands"].get("run")
    costs = [1e6 * run["seconds"] / n, 1e6 * run["cpu_s"] / n, run["peak_mib"]] if run else []
    cells = " | ".join(f"{value:.1f}" for value in costs) or " | |"
    disk = f"{size['size_bytes'] / 1e6:,.0f} | {size['size_bytes'] / n:,.0f}"
    return f"| {n:,} | {size['workers']} | {cells} | {disk} | {size['machine']} |"


def _command_row(n: int, name: str, c: Cost) -> str:
    allowed = TARGETS_S.get(name, "") if n == 1_000_000 else ""
    figures = f"{c['seconds']} | {allowed} | {c['cpu_s']} | {c['peak_mib']} | {c['load']}"
    return f"| {n:,} | {NAMES.get(name, name)} | {figures} |"

"""The engine beside others: cost of tiny tasks, efficiency with 1 ms tasks, flatness.

    python -m benchmarks engine

Every measurement is a process of its own (benchmarks/rivals.py); engines take turns, so that a
busy machine disturbs all of them alike. Ratios are taken within a turn.
Targets: tiny tasks ≤ 1.0 × ProcessPoolExecutor (forkserver) and ≤ 0.1 × Ray tasks; ≥ 90 %
efficiency with 1 ms tasks, on Ray ≤ 1.1 × a bare pool of its actors; cost per task flat from
1,000 to 1,000,000 tasks.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import loads
from benchmarks.rivals import ENGINES, WORKERS, is_installed

PAGES = Path(__file__).parents[1] / "docs" / "benchmarks"
REFERENCE = "ProcessPoolExecutor"
OURS = "weft, lazy round"
BARE, ON_RAY = "Ray actor pool", "weft, ray backend"
STARTS = ("cold", "warm")
TINY, TINY_TURNS = 20_000, 5
MILLISECOND, MILLISECOND_TURNS = 2_000, 5
SIZES = {1_000: 5, 10_000: 5, 100_000: 3, 1_000_000: 1}
"""Tasks of a run, and how often it is measured."""


@dataclass(frozen=True, slots=True)
class Figure:
    """Seconds of every turn of one engine."""

    engine: str
    load: str
    n: int
    start: str
    seconds: tuple[float, ...]


def main() -> None:
    with tempfile.TemporaryDirectory() as state:
        os.environ["XDG_STATE_HOME"] = state
        tiny = compare("tiny", TINY, TINY_TURNS)
        millisecond = compare("millisecond", MILLISECOND, MILLISECOND_TURNS)
        flat = [measure(OURS, "tiny", n, "cold", turns) for n, turns in SIZES.items()]
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}"
    page = render(machine, tiny, millisecond, flat)
    figures = [asdict(figure) for figure in (*tiny, *millisecond, *flat)]
    body = {"machine": machine, "workers": WORKERS, "figures": figures}
    (PAGES / "engine.json").write_text(json.dumps(body, indent=2) + "\n")
    (PAGES / "engine.md").write_text(page)
    print(page)


def compare(load: str, n: int, turns: int) -> list[Figure]:
    """Measure every engine that is installed, in turns."""
    asked = [(engine, start) for engine in ENGINES if is_installed(engine) for start in STARTS]
    seconds: dict[tuple[str, str], list[float]] = {pair: [] for pair in asked}
    for turn in range(turns):
        for pair in asked if turn % 2 == 0 else reversed(asked):
            seconds[pair].append(once(pair[0], load, n, pair[1]))
    return [Figure(e, load, n, s, tuple(found)) for (e, s), found in seconds.items()]


def measure(engine: str, load: str, n: int, start: str, turns: int) -> Figure:
    return Figure(engine, load, n, start, tuple(once(engine, load, n, start) for _ in range(turns)))


def once(engine: str, load: str, n: int, start: str) -> float:
    """Run one measurement in a process of its own."""
    argv = [sys.executable, "-m", "benchmarks.rivals", engine, load, str(n), start]
    done = subprocess.run(argv, check=False, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        sys.exit(f"{engine}, {load}, {start}: exit {done.returncode}")
    return float(json.loads(done.stdout.splitlines()[-1])["seconds"])


# -- the page -----------------------------------------------------------------------------


def render(machine: str, tiny: list[Figure], millisecond: list[Figure], flat: list[Figure]) -> str:
    return f"""\
# The engine beside others

`python -m benchmarks engine` on {machine}, {WORKERS} workers, all in one run and in turns.
Medians, with the smallest and the largest of all turns behind them; ratios are taken within a turn.
Weft is the only one here that makes every result durable, in order, in a ledger; each of its runs
was verified afterwards, and every engine's sum was checked.

*Warm* counts from when both workers have answered a first task, *cold* includes starting them.
Every time ends when the last result is in hand; sealing Weft's ledger takes some 10 ms more. Its
warm time begins with the end of the last greeting as the manifest has it, so making and queueing
the tasks is in it.

## {TINY:,} tiny tasks ({TINY_TURNS} turns)

Target: at most 1.0 × {REFERENCE} (forkserver), and at most 0.1 × Ray tasks.

| engine | warm, µs per task | × {REFERENCE} | cold, µs per task | × {REFERENCE} |
|---|---|---|---|---|
{rows(tiny, tiny_cells)}

## {MILLISECOND:,} tasks of 1 ms ({MILLISECOND_TURNS} turns)

Each task spins for 1 ms of the monotonic clock; efficiency is {MILLISECOND:,} × 1 ms / {WORKERS}
over the time taken. Target: at least 90 %, and on Ray at most 1.1 × the time of a bare pool of
actors, to which every call is sent at once.

| engine | warm, efficiency | × {REFERENCE}'s time | cold, efficiency | × {REFERENCE}'s time |
|---|---|---|---|---|
{rows(millisecond, efficiency_cells)}

{beside_ray(millisecond)}

## Weft's cost per task, by size of the run

One lazy round of tiny tasks, cold, every result durable and in the ledger. Target: flat; small
runs carry the start of the workers.

| tasks | turns | µs per task | spread |
|---|---|---|---|
{flat_rows(flat)}
"""


def rows(figures: list[Figure], cells: object) -> str:
    lines = []
    for engine in ENGINES:
        if is_installed(engine):
            lines.append(f"| {engine} | {' | '.join(cells(figures, engine))} |")  # type: ignore[operator]
        else:
            lines.append(f"| {engine} | not installed | | | |")
    return "\n".join(lines)


def tiny_cells(figures: list[Figure], engine: str) -> list[str]:
    found = []
    for start in reversed(STARTS):
        mine = pick(figures, engine, start)
        costs = [1e6 * s / mine.n for s in mine.seconds]
        found += [spread(costs, "{:.1f}" if min(costs) < 10 else "{:.0f}"), ratio(figures, mine)]
    return found


def efficiency_cells(figures: list[Figure], engine: str) -> list[str]:
    found = []
    for start in reversed(STARTS):
        mine = pick(figures, engine, start)
        found.append(spread([loads.TASK_S * mine.n / WORKERS / s for s in mine.seconds], "{:.0%}"))
        found.append(ratio(figures, mine))
    return found


def beside_ray(figures: list[Figure]) -> str:
    """Our Ray backend in times of the bare pool, turn by turn."""
    if not is_installed(ON_RAY):
        return "Ray is not installed."
    warm, cold = (ratio(figures, pick(figures, ON_RAY, start), BARE) for start in reversed(STARTS))
    return f"{ON_RAY}: {warm} × the time of the {BARE} warm, {cold} × cold."


def ratio(figures: list[Figure], mine: Figure, reference: str = REFERENCE) -> str:
    other = pick(figures, reference, mine.start)
    ratios = [a / b for a, b in zip(mine.seconds, other.seconds, strict=True)]
    return spread(ratios, "{:.2f}")


def pick(figures: list[Figure], engine: str, start: str) -> Figure:
    return next(f for f in figures if (f.engine, f.start) == (engine, start))


def spread(values: list[float], form: str) -> str:
    """Median, and the range in brackets."""
    middle, low, high = statistics.median(values), min(values), max(values)
    return f"{form.format(middle)} ({form.format(low)}–{form.format(high)})"


def flat_rows(flat: list[Figure]) -> str:
    lines = []
    for figure in flat:
        costs = [1e6 * s / figure.n for s in figure.seconds]
        across = "" if len(costs) == 1 else f"{min(costs):.0f}–{max(costs):.0f}"
        lines.append(f"| {figure.n:,} | {len(costs)} | {statistics.median(costs):.0f} | {across} |")
    return "\n".join(lines)

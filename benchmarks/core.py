"""Measure the engine's core: verify, resume, memory, cost per task, start-up.

python -m benchmarks core

Targets are those of the design: ledger verify ≥ 50,000 records/s, verify with manifest and
objects ≥ 17,000, resume of 100,000 tasks ≤ 10 s, coordinator ≤ 300 MiB and flat up to a
million lazy tasks, `weft --help` ≤ 300 ms.
"""

from __future__ import annotations

import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from weft.inspect.ledgercheck import check_ledger_file
from weft.inspect.verify import verify
from weft.storage.disk import Disk
from weft.storage.heads import HeadsList
from weft.storage.ledgerfile import read_checkpoint

SIZES = (1_000, 10_000, 100_000, 1_000_000)
VERIFIED = 100_000
REPEATS = 3
PAGES = Path(__file__).parents[1] / "docs" / "benchmarks"


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        figures = measure(Path(folder))
    page = render(figures)
    (PAGES / "core.json").write_text(json.dumps(figures, indent=2) + "\n")
    (PAGES / "core.md").write_text(page)
    print(page)


def measure(folder: Path) -> dict[str, object]:
    os.environ["XDG_STATE_HOME"] = str(folder / "state")
    runs = {n: tiny(folder / f"run-{n}", n) for n in SIZES}
    verified = folder / f"run-{VERIFIED}"
    return {
        "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}",
        "runs": {str(n): run for n, run in runs.items()},
        "verify_ledger_per_s": best_rate(VERIFIED, lambda: check_alone(verified)),
        "verify_all_per_s": best_rate(VERIFIED, lambda: verify(verified, heads(folder))),
        "resume_s": resume(folder / "resumed"),
        "help_ms": command_ms("-m", "weft.main", "--help"),
        "import_ms": command_ms("-c", "import weft"),
        "bare_python_ms": command_ms("-c", "pass"),
    }


def tiny(run: Path, n: int, *more: str) -> dict[str, float]:
    """Run the tiny search in a separate process."""
    argv = [sys.executable, "-m", "benchmarks.tiny", str(run), str(n), *more]
    completed = subprocess.run(argv, check=True, capture_output=True, text=True)
    result: dict[str, float] = json.loads(completed.stdout)
    assert more or result["answer"] == n + 1
    return result


def heads(folder: Path) -> HeadsList:
    return HeadsList(folder / "state" / "weft" / "heads", Disk())


def check_alone(run: Path) -> None:
    check_ledger_file(
        run / "ledger.jsonl", read_checkpoint(run / "checkpoint"), sealed=True, sizes=frozenset()
    )


def best_rate(count: int, work: Callable[[], object]) -> float:
    """Return units per second, the best of REPEATS: noise only ever slows things down."""
    seconds = []
    for _ in range(REPEATS):
        start_s = time.perf_counter()
        work()
        seconds.append(time.perf_counter() - start_s)
    return count / min(seconds)


def resume(run: Path) -> float:
    """Stop a run 1,000 tasks before its end; return the seconds that completing it takes."""
    stopped = tiny(run, VERIFIED, "--stop-at", str(VERIFIED - 1000))
    assert stopped["answer"] is None, "the run was not interrupted"
    return tiny(run, VERIFIED)["seconds"]


def command_ms(*argv: str) -> float:
    """Return the median over ten warm starts."""
    times = []
    for _ in range(11):
        start_s = time.perf_counter()
        subprocess.run([sys.executable, *argv], check=True, capture_output=True)
        times.append(1000 * (time.perf_counter() - start_s))
    return statistics.median(times[1:])


def render(figures: dict[str, object]) -> str:
    runs: dict[str, dict[str, float]] = figures["runs"]  # type: ignore[assignment]
    rows = [
        ("ledger alone, records/s", f"{figures['verify_ledger_per_s']:,.0f}", "≥ 50,000"),
        ("verify with manifest, records/s", f"{figures['verify_all_per_s']:,.0f}", "≥ 17,000"),
        ("resume of 100,000 tasks, s", f"{figures['resume_s']:.1f}", "≤ 10"),
        ("`weft --help`, ms", f"{figures['help_ms']:.0f}", "≤ 300"),
        ("`import weft`, ms", f"{figures['import_ms']:.0f}", "≤ 300"),
        ("(python that does nothing, ms)", f"{figures['bare_python_ms']:.0f}", ""),
    ]
    lines = [
        "# The engine's core",
        "",
        f"`python -m benchmarks core` on {figures['machine']}; best of {REPEATS} repeats.",
        "",
        "| figure | measured | target |",
        "|---|---|---|",
        *(f"| {name} | {value} | {target} |" for name, value, target in rows),
        "",
        "Tiny tasks in one lazy round on 2 workers, every result durable and in the ledger:",
        "",
        "| tasks | µs per task | peak memory of the coordinator, MiB (target ≤ 300) |",
        "|---|---|---|",
    ]
    for n, run in runs.items():
        cost_us = 1e6 * run["seconds"] / int(n)
        lines.append(f"| {int(n):,} | {cost_us:.0f} | {run['peak_mib']:.0f} |")
    return "\n".join(lines) + "\n"

"""Measure `weft tree`: engine time per eval, two evals at a time over one, many evals.

    python -m benchmarks tree
    python -m benchmarks tree --bare   only an eval compared with one by hand; keeps the rest

All figures come from the real command line in separate processes, most on the compressor demo. Runs
with one and with two evals at a time alternate, and must have the same ledger.
"""

from __future__ import annotations

import json
import os
import platform
import resource
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.treebare import bare_twin, rows

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "benchmarks"
COMPRESSOR = ROOT / "examples" / "tree" / "compressor" / "tree.toml"
WEFT = [sys.executable, "-m", "weft.main", "tree", "run"]
TURNS = 3
DRY_SIZES = (1_000, 2_500, 5_000, 10_000)
DRY_CONFIG = """
files = "start"
direction = "max"
beam_width = 11
max_depth = 2
[score]
argv = ["true"]
[[parameters]]
file = "params.json"
key = "a"
"""


def main(options: Sequence[str] = ()) -> None:
    """Measure everything, or with `--bare` one part, and write the page."""
    if options:
        assert list(options) == ["--bare"], "the only option is --bare"
        measure_bare()
        return
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        place = Path(folder)
        body = {
            "machine": machine(),
            "bare_machine": f"Medians of three repeats of 40 evals on {machine()}",
            "bare": bare_twin(place),
            "demo": (demo := compare(place)),
            "at_a_time": at_a_time(place / "demo-0-2"),
            "overhead": overhead(place / "demo-0-1", demo["cpu_seconds"][1][0]),
            "dry": [dry(place, size) for size in DRY_SIZES],
        }
    write(body)


def measure_bare() -> None:
    """Compare an eval with one by hand, and write the page with its other figures kept."""
    body = json.loads((PAGES / "tree.json").read_text("utf-8"))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        write(
            {
                **body,
                "bare_machine": f"Medians of three repeats of 40 evals on {machine()}",
                "bare": bare_twin(Path(folder)),
            }
        )


def machine() -> str:
    """Return a description of this machine."""
    cores = len(os.sched_getaffinity(0))
    return f"{cores} cores, Python {platform.python_version()}, load {os.getloadavg()[0]:.0f}"


def write(body: dict[str, Any]) -> None:
    """Write the figures and the page."""
    (PAGES / "tree.json").write_text(json.dumps(body, indent=2, sort_keys=True) + "\n")
    page = render(body)
    (PAGES / "tree.md").write_text(page)
    print(page)


def compare(place: Path) -> dict[str, Any]:
    """Run the demo alternately with one and two evals at a time; the ledgers must be equal."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    cpu: dict[int, list[float]] = {1: [], 2: []}
    heads = set()
    for turn in range(TURNS):
        for count in (1, 2) if turn % 2 == 0 else (2, 1):
            out = place / f"demo-{turn}-{count}"
            words = ["--beam-width", "3", "--max-depth", "6", "--max-parallel-evals", str(count)]
            start_s, before_s = time.perf_counter(), cpu_s()
            run(COMPRESSOR, out, *words)
            seconds[count].append(time.perf_counter() - start_s)
            cpu[count].append(cpu_s() - before_s)
            heads.add((out / "checkpoint").read_text())
    assert len(heads) == 1, "the ledgers differ"
    ratios = [a / b for a, b in zip(seconds[1], seconds[2], strict=True)]
    return {
        "seconds": seconds,
        "cpu_seconds": cpu,
        "ratios": ratios,
        "speed_up": statistics.median(ratios),
    }


def at_a_time(out: Path) -> float:
    """Return how many stages ran at a time on average, from the first start to the last end."""
    with sqlite3.connect(out / "manifest.sqlite") as base:
        [(busy_s, span_s)] = base.execute(
            "SELECT sum(run_s), max(finished_at) - min(started_at) FROM tasks"
        )
    return float(busy_s / span_s)


def cpu_s() -> float:
    """Return the CPU seconds of all child processes that have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def overhead(out: Path, whole_cpu_s: float) -> dict[str, float]:
    """Return the time per eval outside the user's command, from a serial run's manifest."""
    with sqlite3.connect(out / "manifest.sqlite") as base:
        rows = base.execute(
            "SELECT started_at, finished_at, run_s, coalesce(notes, '{}'), args FROM tasks"
        ).fetchall()
    evals = {asked(json.loads(args)) for *_, args in rows} - {None}
    notes = [json.loads(row[3]) for row in rows]
    commands_s = sum(note.get("wall_s", 0.0) for note in notes)
    commands_cpu_s = sum(note.get("cpu_s", 0.0) for note in notes)
    span_s = max(row[1] for row in rows) - min(row[0] for row in rows)
    slots_s = sum(row[2] for row in rows)
    return {
        "evals": len(evals),
        "ms_per_eval": 1000 * (span_s - commands_s) / len(evals),
        "on_the_slot_ms": 1000 * (slots_s - commands_s) / len(evals),
        "in_the_coordinator_ms": 1000 * (span_s - slots_s) / len(evals),
        "cpu_ms_per_eval": 1000 * (whole_cpu_s - commands_cpu_s) / len(evals),
    }


def asked(args: dict[str, Any]) -> int | None:
    inner = args.get("asked") or args["args"]
    return inner["eval_id"]


def dry(place: Path, size: int) -> dict[str, float]:
    """Run `size` evals with made-up outcomes, two at a time."""
    folder = place / f"dry-{size}"
    (folder / "start").mkdir(parents=True)
    (folder / "start" / "params.json").write_text('{"a": 1}\n')
    values = ", ".join(str(number) for number in range(2, size // 10 + 2))
    limit = f"max_total_evals = {size}\n"
    (folder / "tree.toml").write_text(f"{limit}{DRY_CONFIG}values = [{values}]\n")
    start_s, before_s = time.perf_counter(), cpu_s()
    words = ("--dry-run", "--max-parallel-evals", "2", "--json")
    answer = json.loads(run(folder / "tree.toml", folder / "run", *words))["answer"]
    seconds = time.perf_counter() - start_s
    assert answer["evals"] == size
    return {
        "evals": size,
        "seconds": seconds,
        "ms_per_eval": 1000 * seconds / size,
        "cpu_ms_per_eval": 1000 * (cpu_s() - before_s) / size,
        "peak_mb": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024,
    }


def run(config: Path, out: Path, *words: str) -> str:
    argv = [*WEFT, str(config), "--out", str(out), "-q", *words]
    return subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True).stdout


def render(body: dict[str, Any]) -> str:
    demo, cost = body["demo"], body["overhead"]
    times = "; ".join(
        f"{a:.1f} s and {b:.1f} s" for a, b in zip(*demo["seconds"].values(), strict=True)
    )
    cpu_ms = f"{cost['cpu_ms_per_eval']:.0f}"
    ratios = ", ".join(f"{ratio:.2f}" for ratio in demo["ratios"])
    dry_rows = [
        f"| {d['evals']:,} | {d['seconds']:.1f} | {d['ms_per_eval']:.2f}"
        f" | {d['cpu_ms_per_eval']:.2f} | {d['peak_mb']:.0f} |"
        for d in body["dry"]
    ]
    return f"""\
# weft tree: cost of an eval

`python -m benchmarks tree` on {body["machine"]}.

The compressor demo, beam 3, depth 6, {cost["evals"]} evals, one of which exceeds its time limit
of 3 s. Times of whole commands, including start-up and shutdown, alternating between one eval at a
time and two: {times}.

| figure | measured | target |
|---|---|---|
| 2 at a time over 1, median ({ratios}) | {demo["speed_up"]:.2f} × | 1.8 × |
| average number of stages running in parallel, with two slots | {body["at_a_time"]:.2f} | |
| engine time per eval: files, commit, records, clean-up | {cost["ms_per_eval"]:.0f} ms | 150 ms |
| of which on the slot | {cost["on_the_slot_ms"]:.0f} ms | |
| of which in the coordinator | {cost["in_the_coordinator_ms"]:.0f} ms | |
| CPU time per eval without the scorer, but with start-up and shutdown | {cpu_ms} ms | |

Engine time is the part of the serial run, from the first start to the last end, in which the scorer
is not running.

One eval by hand (`git worktree add`, apply, commit, a Python that prints a score, `git worktree
remove`) compared with `weft tree`, alternating; the start-up of `weft` is subtracted. Milliseconds
per eval; the targets are 2 × in CPU time and 1.5 × in wall time. {body["bare_machine"]}.

| files | by hand, CPU ms | weft, CPU ms | ratio | by hand, wall ms | weft, wall ms | ratio |
|---|---|---|---|---|---|---|
{rows(body["bare"])}

`--dry-run` with increasing numbers of evals, two at a time; the largest process is the coordinator.

| evals | seconds | ms per eval | CPU ms per eval | largest process, MB (target: 300) |
|---|---|---|---|---|
{chr(10).join(dry_rows)}
"""


if __name__ == "__main__":
    main(sys.argv[1:])

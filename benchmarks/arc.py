"""`weft arc` in figures: what it solves, how precisely, what it costs, how it scales.

    python -m benchmarks arc

Every figure comes from the real command line in processes of their own. Of evaluation tasks only
totals are looked at. Scaling compares runs of one session, taken in turns.
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
from pathlib import Path
from typing import Any

PAGES = Path(__file__).parents[1] / "docs" / "benchmarks"
WEFT = [sys.executable, "-m", "weft.cli.main", "arc"]
TURNS = 3
HARD = "4c5c2cf0"
"""A training task that no program of the budget solves, so that every slice runs to its end."""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        place = Path(folder)
        start_s = warm_start_s()
        training = bench(place / "training", "--split", "training")
        evaluation = bench(place / "evaluation", "--split", "evaluation")
        memory_mb = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
        fifty = compare(place, "fifty", "--split", "training", "--limit", "50")
        hard = compare(place, "hard", HARD, "--max-programs", "2000000", "--max-states", "600000")
    machine = f"{os.cpu_count()} cores, Python {platform.python_version()}"
    body = {
        "machine": machine, "training": training, "evaluation": evaluation,
        "fifty": fifty, "hard": hard, "peak_memory_mb": memory_mb, "warm_start_s": start_s,
    }  # fmt: skip
    (PAGES / "arc.json").write_text(json.dumps(body, indent=2, sort_keys=True) + "\n")
    page = render(body)
    (PAGES / "arc.md").write_text(page)
    print(page)


def bench(out: Path, *options: str) -> dict[str, Any]:
    """Run one `weft arc bench` and keep its totals."""
    argv = [*WEFT, "bench", *options, "--workers", "2", "--out", str(out), "--json", "-q"]
    done = subprocess.run(argv, check=True, stdout=subprocess.PIPE, text=True)
    body = json.loads(done.stdout)
    spent = {name: value for name, value in body["telemetry"].items() if name != "workers"}
    return {"data": body["data"], "score": body["score"], "telemetry": spent}


def compare(place: Path, name: str, *options: str) -> dict[str, Any]:
    """Run a search with one and with two workers, in turns; the ledgers must be equal."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    heads = set()
    for turn in range(TURNS):
        for workers in (1, 2) if turn % 2 == 0 else (2, 1):
            out = place / f"{name}-{turn}-{workers}"
            argv = [*WEFT, "solve", *options, "--workers", str(workers), "--out", str(out)]
            start_s = time.perf_counter()
            subprocess.run([*argv, "-q"], check=False, stdout=subprocess.DEVNULL)
            seconds[workers].append(time.perf_counter() - start_s)
            heads.add((out / "checkpoint").read_text())
    assert len(heads) == 1, f"{name}: the ledgers differ"
    ratios = [a / b for a, b in zip(seconds[1], seconds[2], strict=True)]
    return {"seconds": seconds, "speed_up": statistics.median(ratios)}


def warm_start_s() -> float:
    """Seconds from nothing to the first search done, with kernels on disk."""
    code = "from weft.arc.warm import run_all; run_all()"
    subprocess.run([sys.executable, "-m", "weft.wiring.kernels"], check=True)
    found = []
    for _ in range(TURNS):
        start_s = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        found.append(time.perf_counter() - start_s)
    return min(found)


def render(body: dict[str, Any]) -> str:
    rows = [score_row("training", body["training"]), score_row("evaluation", body["evaluation"])]
    failures = body["training"]["score"]["failures"]
    spent = body["training"]["telemetry"]
    classes = ", ".join(f"{name} {n}" for name, n in failures.items())
    return f"""\
# weft arc in figures

`python -m benchmarks arc` on {body["machine"]}, 2 workers, default budget.
Data: {body["training"]["data"]}; {body["evaluation"]["data"]}.
Operators were designed and tuned on the training split; of the evaluation split only these totals
were ever looked at. `answered` are tasks with exactly one explanation; `top-1` and `top-2` also
count guesses where the answer was UNKNOWN.

| split | answered | right | wrong | unknown | precision | top-1 | top-2 | CPU s per task |
|---|---|---|---|---|---|---|---|---|
{chr(10).join(rows)}

With `--margin-bits` (an answer despite competitors that need so many bits more), right / wrong:
{margins("training", body)}; {margins("evaluation", body)}.

Why training tasks are UNKNOWN: {classes}.

| figure | measured | aim |
|---|---|---|
| single-grid states per second and core (training) | {spent["states_per_s"]:,} | 250,000 |
| programs per second and core | {spent["programs_per_s"]:,} | |
| pruned of all that could be applied | {spent["pruned_share"]:.0%} | |
| results reached before | {spent["repeated_share"]:.0%} | |
| expansions found in the cache | {spent["cache_hit_share"]:.1%} | |
| balance of slices (mean / longest) | {spent["slice_balance"]:.0%} | |
| largest process at the default budget | {body["peak_memory_mb"]:.0f} MB | 600 MB |
| warm start to the first search done | {body["warm_start_s"]:.2f} s | 1 s |
| 50 tasks, 2 workers over 1, with start and end | {body["fifty"]["speed_up"]:.2f} × | 1.85 × |
| one hard task alone, 2 workers over 1 | {body["hard"]["speed_up"]:.2f} × | 1.6 × |

The runs compared had one ledger each, whatever the number of workers.
"""


def margins(split: str, body: dict[str, Any]) -> str:
    found = body[split]["score"]["margins"]
    return f"{split} " + ", ".join(
        f"{bits} bits {m['right']} / {m['wrong']}" for bits, m in found.items()
    )


def score_row(name: str, bench: dict[str, Any]) -> str:
    s = bench["score"]
    precision = "" if s["precision"] is None else f"{s['precision']:.1%}"
    return (
        f"| {name} | {s['answered']} | {s['right']} | {s['wrong']} | {s['unknown']} | {precision}"
        f" | {s['top1']} | {s['top2']} | {bench['telemetry']['cpu_s_per_task']:.2f} |"
    )

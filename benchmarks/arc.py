"""Measure `weft arc`: what it solves, with what precision, at what cost, and how it scales.

    python -m benchmarks arc                                    everything
    python -m benchmarks arc --workers 16 --parts splits,ablation
    python -m benchmarks arc --parts ablation,budgets --every 4  on every fourth training task
    python -m benchmarks arc --parts ''                          only the page

Parts that are not run keep the figures of their last run; each part records its machine. All
figures come from weft's command line. Of evaluation tasks, only totals are read.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import (
    arcchart,
    arcconcepts,
    arcpage,
    arcreliability,
    arcsymmetries,
    arcworkers,
)
from benchmarks.arcruns import TRAINING, bench, call, every_nth, halves, names_beyond, names_of
from weft.searches.arc.search import solve
from weft.searches.arc.synthesis.ablation import BANK, PARTS

ROOT = Path(__file__).parents[1]
PAGES = ROOT / "docs" / "benchmarks"
CHART = ROOT / "docs" / "images" / "arc-budget.svg"
DIAGRAM = ROOT / "docs" / "images" / "arc-reliability.svg"
REPEATS = 3
HARD = "4c5c2cf0"
"""A training task that no program within the budget solves, so every slice runs to its end."""
BUDGETS = (1_000, 3_000, 10_000, 30_000, 60_000, 120_000)
Figures = dict[str, Any]


def main(words: Sequence[str] = ()) -> None:
    """Run the requested parts; write the figures after each, then the charts and the page."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks arc")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--parts", default=",".join(MEASURED), help="of " + ",".join(MEASURED))
    parser.add_argument("--every", type=int, default=1, help="for ablation, budgets and symmetries")
    args = parser.parse_args(list(words))
    parts = [part for part in args.parts.split(",") if part]
    unknown = [part for part in parts if part not in MEASURED]
    if unknown:
        parser.error(f"there is no part {unknown[0]!r}; there are: {', '.join(MEASURED)}")
    file = PAGES / "arc.json"
    body: Figures = json.loads(file.read_text()) if file.exists() else {}
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_STATE_HOME"] = folder
        for part in parts:
            print(f"-- {part}", flush=True)
            for measured in MEASURED[part](Path(folder) / part, args.workers, args.every):
                where = {"machine": machine(args.workers), "version": solve.declaration.version}
                body[part] = {**where, **measured}
                file.write_text(json.dumps(body, indent=2, sort_keys=True) + "\n")
    if "budgets" in body:
        CHART.write_text(arcchart.draw(body["budgets"]["runs"]))
    if "confidence" in body:
        DIAGRAM.write_text(arcreliability.draw(body["confidence"]["reliability"]))
    page = arcpage.render(body)
    (PAGES / "arc.md").write_text(page)
    print(page)


def machine(workers: int) -> str:
    """Return a description of the machine and the number of workers."""
    return f"{os.cpu_count()} cores, Python {platform.python_version()}, {workers} workers"


# -- parts ------------------------------------------------------------------------------------


def splits(place: Path, workers: int, every: int) -> Iterator[Figures]:  # noqa: ARG001 - all
    """Measure both splits of ARC-AGI-1; of ARC-AGI-2, new training tasks and evaluation."""
    runs: Figures = {}
    by_half: list[Figures] = []
    for name, words in (
        ("evaluation", ("--split", "evaluation")),
        ("ARC-AGI-2 evaluation", ("--data", "arc-agi-2", "--split", "evaluation")),
        ("training", TRAINING),
        ("ARC-AGI-2 training, new", (*names_beyond(), "--data", "arc-agi-2", *TRAINING)),
    ):
        runs[name] = bench(place / name.replace(" ", "-"), workers, *words)
        if name == "training":
            by_half = halves(place / name, name)
        yield {"runs": runs, "halves": by_half}


def confidence(*_: object) -> Iterator[Figures]:
    """Load confidence against truth, as measured by `tools/fit_arc_confidence.py`."""
    yield json.loads((PAGES / "arc-confidence.json").read_text())


def ranking(*_: object) -> Iterator[Figures]:
    """Load the order of guesses, as measured by `tools/fit_arc_ranking.py`."""
    yield json.loads((PAGES / "arc-ranking.json").read_text())


def mechanisms(*_: object) -> Iterator[Figures]:
    """Load what each mechanism is worth, as counted by `tools/count_arc_mechanisms.py`."""
    yield json.loads((PAGES / "arc-mechanisms.json").read_text())


def ablation(place: Path, workers: int, every: int) -> Iterator[Figures]:
    """Measure the training split with one part of the method left out at a time."""
    tasks = training(every_nth(every))
    runs = {"nothing": bench(place / "whole", workers, *tasks)}
    for part in PARTS:
        if part != BANK:  # no bank ships: `transfer` measures what one is worth
            runs[part] = bench(place / part, workers, *tasks, "--without", part)
            yield {"runs": runs, "every": every}


def budgets(place: Path, workers: int, every: int) -> Iterator[Figures]:
    """Measure the training split with increasing numbers of programs per task."""
    runs, tasks = {}, training(every_nth(every))
    for programs in BUDGETS:
        states = str(max(40_000, programs * 2 // 3))
        limits = ("--max-programs", str(programs), "--max-states", states)
        runs[str(programs)] = bench(place / str(programs), workers, *tasks, *limits)
        yield {"runs": runs, "every": every}


def training(names: Sequence[str]) -> Sequence[str]:
    """Return the command-line words that select some training tasks."""
    return (*names, *TRAINING)


def transfer(place: Path, workers: int, every: int) -> Iterator[Figures]:  # noqa: ARG001 - all
    """Learn concepts on each half of training; measure them on the other, at equal budget."""
    plain, compared = {}, []
    for half in (0, 1):
        plain[half] = bench(place / f"half{half}", workers, *training(names_of(half)))
    for half, other in ((0, 1), (1, 0)):
        bank = place / f"bank{half}.json"
        output, _ = call("learn", str(place / f"half{half}"), "--bank", str(bank), "--json")
        words = training(names_of(other))
        banked = bench(place / f"with{half}", workers, *words, "--bank", str(bank))
        learnt = json.loads(output)
        compared.append(
            {"concepts": len(learnt["concepts"]), "without": plain[other], "with": banked}
        )
        yield {"halves": compared}


def scaling(place: Path, *_: object) -> Iterator[Figures]:
    """Compare two workers with one, on 50 tasks and on one hard task."""
    hard = (HARD, "--max-programs", "2000000", "--max-states", "600000")
    yield {
        "fifty": compare(place, "fifty", *TRAINING, "--limit", "50"),
        "hard": compare(place, "hard", *hard),
    }


def start(*_: object) -> Iterator[Figures]:
    """Measure the seconds from process start to the end of a first search, kernels compiled."""
    code = "from weft.searches.arc.warm import run_all; run_all()"
    subprocess.run([sys.executable, "-m", "weft.searches.arc.compile"], check=True)
    seconds = []
    for _ in range(REPEATS):
        start_s = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        seconds.append(time.perf_counter() - start_s)
    yield {"warm_start_s": min(seconds)}


def compare(place: Path, name: str, *options: str) -> Figures:
    """Run a search alternately with one and two workers; the ledgers must be equal."""
    seconds: dict[int, list[float]] = {1: [], 2: []}
    heads = set()
    for turn in range(REPEATS):
        for workers in (1, 2) if turn % 2 == 0 else (2, 1):
            out = place / f"{name}-{turn}-{workers}"
            start_s = time.perf_counter()
            call("solve", *options, "--workers", str(workers), "--out", str(out), "-q")
            seconds[workers].append(time.perf_counter() - start_s)
            heads.add((out / "checkpoint").read_text())
    assert len(heads) == 1, f"{name}: the ledgers differ"
    ratios = [a / b for a, b in zip(seconds[1], seconds[2], strict=True)]
    return {"seconds": seconds, "speed_up": statistics.median(ratios)}


MEASURED: dict[str, Callable[[Path, int, int], Iterator[Figures]]] = {
    "start": start,
    "splits": splits,
    "confidence": confidence,
    "ranking": ranking,
    "mechanisms": mechanisms,
    "concepts": arcconcepts.measure,
    "ablation": ablation,
    "budgets": budgets,
    "symmetries": arcsymmetries.measure,
    "transfer": transfer,
    "scaling": scaling,
    "workers": arcworkers.measure,
}

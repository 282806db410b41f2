"""Measure breadth on concept puzzles from `tools/make_concept_puzzles.py`: a table by group."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.arcruns import COUNTS, bench
from weft.searches.arc.attempts import solved_within
from weft.searches.arc.data import load
from weft.searches.arc.recorded import ArcRun, read_run
from weft.searches.arc.score import ATTEMPTS, score
from weft.searches.arc.task import ArcTask

TOOL = Path(__file__).parents[1] / "tools" / "make_concept_puzzles.py"
Names = Mapping[str, Mapping[str, str]]
Truth = Mapping[str, ArcTask]
Figures = dict[str, Any]


def measure(place: Path, workers: int, every: int) -> Iterator[Figures]:  # noqa: ARG001 - all
    """Generate the puzzles, search them, and count by group."""
    place.mkdir(parents=True, exist_ok=True)
    puzzles = place / "puzzles"
    subprocess.run([sys.executable, str(TOOL), str(puzzles)], check=True)
    names = json.loads(puzzles.with_name("puzzles.names.json").read_text())
    totals = bench(place / "run", workers, "--data", str(puzzles))
    run, truth = read_run(place / "run"), truths(puzzles)
    yield {
        "totals": {**totals, "data": "concept puzzles"},
        "rules": len({entry["rule"] for entry in names.values()}),
        "groups": by_group(run, truth, names),
        "missed": missed(run, truth, names),
    }


def truths(puzzles: Path) -> Truth:
    """Return the puzzles with their true outputs, by digest."""
    return {task.digest: task for task in load(str(puzzles), None).tasks}


def by_group(run: ArcRun, truth: Truth, names: Names) -> dict[str, Figures]:
    """Score each group of rules separately."""
    groups = sorted({entry["group"] for entry in names.values()})
    scored = {}
    for group in groups:
        items = tuple(i for i in run.items if names[i.task.name]["group"] == group)
        counts = score(replace(run, items=items), truth).to_dict()
        scored[group] = {"tasks": counts["tasks"], **{name: counts[name] for name in COUNTS}}
    return scored


def missed(run: ArcRun, truth: Truth, names: Names) -> list[str]:
    """Return the rules without a puzzle that is right within two guesses."""
    reached: dict[str, bool] = {}
    for item in run.items:
        rule = names[item.task.name]["rule"]
        is_right = solved_within(item.answer, truth[item.task.digest].truth, ATTEMPTS)
        reached[rule] = reached.get(rule, False) or is_right
    return sorted(rule for rule, any_right in reached.items() if not any_right)


def section(part: Figures) -> str:
    """Return the section of the page."""
    totals, rows = part["totals"], "\n".join(_row(*entry) for entry in part["groups"].items())
    return f"""\
## Breadth on concept puzzles

`python -m benchmarks arc --parts concepts`, on {part["machine"]}. {totals["tasks"]} puzzles that
`tools/make_concept_puzzles.py` makes of {part["rules"]} rules of our own invention, each about one
simple, general concept: three training pairs and one test, rotated or mirrored at random, every
fourth on a coloured background. They are no measure of how many unseen puzzles are solved: we
wrote the rules, and the language was widened where they failed. They show which simple concepts it
lacks, in which orientation or on which background, and changes that break one.

| group | puzzles | answered | right | wrong | pass@1 | pass@2 |
|---|---|---|---|---|---|---|
{rows}
{_row("all", totals)}

{totals["cpu_s_per_task"]:.2f} CPU s per puzzle. No puzzle right within two guesses:
{", ".join(part["missed"]) or "none"}.
"""


def _row(name: str, counts: Figures) -> str:
    cells = [counts[key] for key in ("tasks", "answered", "right", "wrong", "top1", "top2")]
    return f"| {name} | {' | '.join(map(str, cells))} |"

"""Search a sample of training tasks, and count what different rules would answer.

    python tools/compare_arc_rules.py sample ROWS.jsonl 4     every 4th task; goes on where it ended
    python tools/compare_arc_rules.py compare ROWS.jsonl EARLIER.jsonl

`sample` runs on any version of the search from its own checkout. `compare` counts, on the tasks
that both files have, right and wrong answers by the confidence, by the models fitted without some
features, and by the earlier version's own rule; it writes docs/benchmarks/arc-rules.json.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weft.searches.arc.confidence import model
from weft.searches.arc.data import load
from weft.searches.arc.synthesis.budget import SearchBudget
from weft.searches.arc.synthesis.language import Language
from weft.searches.arc.synthesis.phases import Options
from weft.searches.arc.synthesis.planner import ParallelPlanner
from weft.searches.arc.task import ArcTask

REPORT = Path(__file__).parents[1] / "docs" / "benchmarks" / "arc-rules.json"
MODELS = ("whole", "behaviour", "support", "behaviour+support")
LEAST = (850, 900, 950, 980)
Row = Mapping[str, Any]


def sample(file: Path, every: int) -> None:
    """Search every n-th training task that the file does not have yet; one line for each."""
    planner, known = ParallelPlanner(Options(Language(), SearchBudget())), rows_of(file)
    for task in load("arc-agi-1", "training").tasks[1::every]:
        if task.name not in known:
            with file.open("a", encoding="ascii") as out:
                out.write(json.dumps(searched(planner, task)) + "\n")


def searched(planner: ParallelPlanner, task: ArcTask) -> dict[str, Any]:
    """Return the outcome of one task, the place of the true outputs, and the features."""
    start_s = time.process_time()
    verdict = planner.search(task.without_truth()).verdict
    confidence = getattr(verdict.weighing, "confidence", None)
    ranks = [n for n, group in enumerate(verdict.groups) if group.outputs == task.truth]
    return {
        "name": task.name,
        "cpu": round(time.process_time() - start_s, 3),
        "outcome": verdict.outcome.value,
        "place": ranks[0] if ranks else None,
        "features": None if confidence is None else dict(confidence.features),
    }


def rows_of(file: Path) -> dict[str, Row]:
    """Read a file of rows, by the name of the task."""
    lines = file.read_text("ascii").splitlines() if file.exists() else []
    return {row["name"]: row for row in map(json.loads, lines)}


def compared(now: Mapping[str, Row], earlier: Mapping[str, Row]) -> dict[str, Any]:
    """Count on the tasks of both."""
    both = sorted(now.keys() & earlier.keys())
    rows, before = [now[name] for name in both], [earlier[name] for name in both]
    return {
        "tasks": len(both),
        "versions": {"this": _found(rows), "earlier": _found(before)},
        "moved": sum(a["place"] != b["place"] for a, b in zip(rows, before, strict=True)),
        "models": {name: {str(n): _answers(rows, name, n) for n in LEAST} for name in MODELS},
        "earlier_rule": _counts([row for row in before if row["outcome"] == "SOLVED"]),
    }


def _found(rows: Sequence[Row]) -> dict[str, float]:
    return {
        "pass1": sum(row["place"] == 0 for row in rows),
        "pass2": sum(row["place"] in (0, 1) for row in rows),
        "cpu_s": round(sum(row["cpu"] for row in rows), 1),
    }


def _answers(rows: Sequence[Row], name: str, permille: int) -> dict[str, int]:
    own = model(name)
    explained = [row for row in rows if row["features"] is not None]
    return _counts([r for r in explained if own.confidence_permille(r["features"]) >= permille])


def _counts(answered: Sequence[Row]) -> dict[str, int]:
    right = sum(row["place"] == 0 for row in answered)
    return {"right": right, "wrong": len(answered) - right}


def main(words: Sequence[str]) -> None:
    """Sample, or compare."""
    if words[0] == "sample":
        sample(Path(words[1]), int(words[2]))
        return
    report = compared(*(rows_of(Path(word)) for word in words[1:]))
    REPORT.write_text(json.dumps(report, indent=2, sort_keys=True) + "\n", encoding="ascii")


if __name__ == "__main__":
    main(sys.argv[1:])

"""What finished searches over puzzles with known outputs found, one JSON line per puzzle.

    python tools/collect_arc_candidates.py FILE.jsonl.gz RUN PUZZLES.json [RUN PUZZLES.json ...]

Each line has the puzzle itself with its true outputs, every program that is right on its training
pairs, and the recorded answer. `tools/fit_arc_confidence.py` computes features from it, so that
features can change without searching again. Puzzles whose search has not ended are left out.
"""

from __future__ import annotations

import gzip
import json
import sys
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from weft.inspect.report.view import ViewedTask, view_of
from weft.searches.arc.data import load
from weft.searches.arc.recorded import of_view
from weft.searches.arc.records import SEARCH


def collected(run: Path, data: Path) -> Iterator[dict[str, Any]]:
    """Yield one line for each puzzle of a run that has an answer."""
    truth = {task.digest: task for task in load(data).tasks}
    view = view_of(run, SEARCH, "weft arc solve")
    phases: dict[str, list[ViewedTask]] = defaultdict(list)
    for task in view.tasks():
        if isinstance(task.value, dict) and "candidates" in task.value:
            phases[task.lane.strip("/")].append(task)
    for item in of_view(view).items:
        puzzle, answer = truth[item.task.digest], item.answer
        if answer is None:
            continue
        parts = sorted(phases[puzzle.digest], key=lambda task: (task.round, task.index))
        yield {
            "name": puzzle.name,
            "puzzle": json.loads(puzzle.canonical()),
            "truth": [grid.rows() for grid in puzzle.truth],
            "phases": [
                {"function": p.function, "candidates": p.value["candidates"],
                 "guesses": p.value["guesses"], "programs": p.value.get("programs", 0),
                 "exhausted": p.value.get("exhausted", False)}
                for p in parts
            ],
            "answer": {key: value for key, value in answer.items() if key != "log"},
            "cpu_ms": sum(int(1000 * (p.run_s or 0)) for p in parts),
        }  # fmt: skip


def main(words: Sequence[str]) -> None:
    """Read every run with the file of its puzzles."""
    out, *rest = map(Path, words)
    count = 0
    with gzip.open(out, "wt", encoding="ascii", compresslevel=6) as file:
        for run, data in zip(rest[::2], rest[1::2], strict=True):
            for line in collected(run, data):
                file.write(json.dumps(line, separators=(",", ":")) + "\n")
                count += 1
    print(f"{count} puzzles in {out}, {out.stat().st_size} bytes")


if __name__ == "__main__":
    main(sys.argv[1:])

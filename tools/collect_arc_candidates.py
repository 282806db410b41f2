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

from weft.inspect.report.view import RunView, ViewedTask, view_of
from weft.searches.arc.data import load
from weft.searches.arc.recorded import of_view
from weft.searches.arc.records import CHOICES, LISTS, SEARCH
from weft.searches.arc.synthesis import learnchoices, learnlists
from weft.searches.arc.synthesis.log import SearchLog
from weft.searches.arc.synthesis.phases import with_learned
from weft.searches.arc.tasks import candidates_from, phase_from_wire, phase_to_wire


def collected(run: Path, data: Path) -> Iterator[dict[str, Any]]:
    """Yield one line for each puzzle of a run that has an answer."""
    truth = {task.digest: task for task in load(data).tasks}
    view = view_of(run, SEARCH, "weft arc solve")
    tasks: dict[str, list[ViewedTask]] = defaultdict(list)
    for task in view.tasks():
        tasks[task.lane.strip("/")].append(task)
    for item in of_view(view).items:
        puzzle, answer = truth[item.task.digest], item.answer
        if answer is None:
            continue
        parts = sorted(tasks[puzzle.digest], key=lambda task: (task.round, task.index))
        yield {
            "name": puzzle.name,
            "puzzle": json.loads(puzzle.canonical()),
            "truth": [grid.rows() for grid in puzzle.truth],
            "phases": _phases(view, parts),
            "answer": {key: value for key, value in answer.items() if key != "log"},
            "cpu_ms": sum(int(1000 * (p.run_s or 0)) for p in parts),
        }


def _phases(view: RunView, parts: Sequence[ViewedTask]) -> list[dict[str, Any]]:
    """What each phase found; what was learned from the shallow one belongs to it."""
    phases = [part for part in parts if _has(part, "guesses")]
    found = [(part.function, view.read(part.value["found"])) for part in parts
             if _has(part, "found") and part.value["found"] is not None]  # fmt: skip
    choices, lists = (
        [c for function, data in found if function == name for c in candidates_from(data)]
        for name in (CHOICES, LISTS)
    )
    bodies = [part.value for part in phases]
    if phases:
        first = phase_from_wire(phases[0].value, SearchLog())
        chosen, listed = learnchoices.cheapest(choices), learnlists.cheapest(lists)
        bodies[0] = {**bodies[0], **phase_to_wire(with_learned(first, chosen, listed))}
    return [
        {"function": part.function, "candidates": body["candidates"], "guesses": body["guesses"],
         "programs": body.get("programs", 0), "exhausted": body.get("exhausted", False)}
        for part, body in zip(phases, bodies, strict=True)
    ]  # fmt: skip


def _has(part: ViewedTask, key: str) -> bool:
    return isinstance(part.value, dict) and key in part.value


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

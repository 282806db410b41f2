"""Features of answers and whether they are right, from runs over puzzles with known outputs.

    weft arc solve --data PUZZLES.json --out RUN
    python tools/collect_arc_features.py FEATURES.jsonl RUN PUZZLES.json [RUN PUZZLES.json ...]

One JSON line per puzzle that a program explains: its name, the features of its best answer as the
ledger has them, and the place of the true outputs among its answers. Puzzles whose search has not
ended are left out, so that a run may be interrupted. `tools/fit_arc_confidence.py` fits on them.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from weft.model import codec
from weft.searches.arc.data import load
from weft.searches.arc.recorded import read_run
from weft.searches.arc.score import rank
from weft.searches.arc.verdict import Weighing


def collected(run: Path, data: Path) -> Iterator[dict[str, Any]]:
    """Yield one line for each puzzle of a run that has a confidence."""
    puzzles = {task.digest: task for task in load(data).tasks}
    for item in read_run(run).items:
        raw = None if item.answer is None else item.answer["weighing"]
        weighing = None if raw is None else codec.from_json(Weighing, raw)
        if weighing is not None and weighing.confidence is not None:
            puzzle = puzzles[item.task.digest]
            place, features = rank(item.answer, puzzle.truth), weighing.confidence.features
            yield {"name": puzzle.name, "draw": 0, "rank": place, "features": dict(features)}


def main(words: Sequence[str]) -> None:
    """Read every run with the file of its puzzles."""
    out, *rest = map(Path, words)
    with out.open("w", encoding="ascii") as file:
        for run, data in zip(rest[::2], rest[1::2], strict=True):
            for line in collected(run, data):
                file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])

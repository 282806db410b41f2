"""Full scoring of the pipeline: 395,211 survivors, 1,000 draws, 62 features, on the engine.

Survivors per second of one core are counted in CPU seconds of the workers, so that a busy
machine slows nothing but the clock; the speed-up of two workers is wall time in one run each.
"""

from __future__ import annotations

import json
import random
import resource
import shutil
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np

import weft
from weft.model.values import Object
from weft.prng.pipeline import artifact, table
from weft.prng.pipeline.plan import CHUNK_ROWS, Plan
from weft.prng.pipeline.reference import ScorerConfig
from weft.prng.pipeline.streams import split_history
from weft.prng.pipeline.tasks import score_chunk
from weft.prng.pipeline.window import WindowParams, with_skips

ROWS = 395_211
DRAWS = 1_250
TURNS = 3
RESULTS = Path(__file__).parent.parent / "docs" / "benchmarks"


@weft.search(version=1)
def score_all(plan: dict[str, Any], *, inputs: Any) -> Generator[Any, Any, int]:
    """Score every survivor in chunks, as step 3 does."""
    spans = [(low, min(low + CHUNK_ROWS, ROWS)) for low in range(0, ROWS, CHUNK_ROWS)]
    names = ("split", "window", "scorer", "survivors")
    ground: list[Object] = [inputs[name] for name in names]
    found = yield [score_chunk(plan, *ground, low, high) for low, high in spans]
    return sum(result.value["rows"] for result in found)


def inputs() -> dict[str, bytes]:
    """Make a random history and survivors that all speak of 1,000 draws."""
    chance = random.Random(8)
    split = split_history([chance.randrange(1000) for _ in range(DRAWS)], [""] * DRAWS, 1000)
    params = WindowParams(40, 0, "each", 0, 0, 3, 3)
    counts = [[ROWS, ROWS, ROWS, ROWS]] * len(split.each[0].cuts)
    zeros = np.zeros(ROWS, np.int64)
    rows = table.frame({
        "stream": zeros, "cut": zeros + split.each[0].holdout_at, "first": zeros,
        "seed": np.arange(ROWS), "skip": zeros, "base": zeros, "hits": zeros + 3,
    })  # fmt: skip
    return {
        "split": artifact.pack("split", split.to_dict()),
        "window": artifact.pack(
            "window", artifact.window_of(params, {"counts": counts, "tried": 1})
        ),
        "scorer": artifact.pack("scorer", {"config": ScorerConfig().to_dict()}),
        "survivors": table.to_parquet(with_skips(rows)),
    }


def measured(workers: int, given: dict[str, bytes]) -> dict[str, float]:
    """Score all with so many workers; return seconds, CPU seconds and the head."""
    folder = Path(tempfile.mkdtemp())
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = weft.run(score_all(Plan().to_dict()), out=folder / "run", inputs=given, workers=workers)
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert done.answer == ROWS
    shutil.rmtree(folder)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"workers": workers, "wall_s": wall, "cpu_s": cpu, "peak_mb": after.ru_maxrss / 1024}


def median(runs: list[dict[str, float]]) -> dict[str, float]:
    """Return the run of middle wall time."""
    return sorted(runs, key=lambda run: run["wall_s"])[len(runs) // 2]


def main() -> None:
    """Measure one and two workers, and write the table."""
    given = inputs()
    turns = [[measured(workers, given) for workers in (1, 2)] for _ in range(TURNS)]
    runs = [median([turn[at] for turn in turns]) for at in (0, 1)]
    rows = [
        f"| {run['workers']:.0f} | {run['wall_s']:.1f} | {run['cpu_s']:.1f} |"
        f" {ROWS / run['cpu_s']:,.0f} | {ROWS / run['wall_s']:,.0f} | {run['peak_mb']:.0f} |"
        for run in runs
    ]
    speedup = runs[0]["wall_s"] / runs[1]["wall_s"]
    spread = [round(turn[0]["wall_s"] / turn[1]["wall_s"], 2) for turn in turns]
    heads = "| workers | wall s | CPU s | survivors per CPU s | per wall s | peak MB of a worker |"
    text = "\n".join([
        "# Full scoring", "",
        f"{ROWS:,} survivors, 1,000 draws each, 62 features and the label, Parquet chunks of"
        f" {CHUNK_ROWS:,}; start and imports of the workers included.", "",
        heads, "|---|---|---|---|---|---|", *rows, "",
        f"Medians of {TURNS} turns. Two workers: {speedup:.2f} times as fast as one"
        f" ({min(spread):.2f} to {max(spread):.2f}).", "",
    ])  # fmt: skip
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "pipeline.md").write_text(text, encoding="utf-8")
    body = {"rows": ROWS, "draws": 1000, "turns": turns, "speedup": speedup}
    (RESULTS / "pipeline.json").write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    print(text)


if __name__ == "__main__":
    main()

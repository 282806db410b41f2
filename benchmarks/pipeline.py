"""Measure full scoring in the pipeline: 395,211 survivors, 1,000 draws, 62 features.

Survivors per second of one core are computed from the workers' CPU seconds, which hardly depend on
other load. Speed-ups compare wall times, alternating: of the step alone, on running workers as in
step 3 of a pipeline, and including the workers' start and imports.
"""

from __future__ import annotations

import json
import random
import resource
import shutil
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Generator
from pathlib import Path
from typing import Any

import numpy as np

import weft
from weft.model.codec import to_json
from weft.model.values import Object
from weft.searches.prng.pipeline import artifact, table
from weft.searches.prng.pipeline.reference import ScorerConfig
from weft.searches.prng.pipeline.request import CHUNK_ROWS, PipelineRequest
from weft.searches.prng.pipeline.streams import split_history
from weft.searches.prng.pipeline.tasks import score_chunk
from weft.searches.prng.pipeline.window import TrialJudgement, WindowParams, with_skips

ROWS = 395_211
DRAWS = 1_250
TURNS = 5
WARM = 16
"""Number of small chunks before the others, so that every worker has scored some."""
RESULTS = Path(__file__).parent.parent / "docs" / "benchmarks"


@weft.search(version=1)
def score_all(plan: dict[str, Any], *, inputs: Any) -> Generator[Any, Any, int]:
    """Score every survivor in chunks, as step 3 does."""
    names = ("split", "window", "scorer", "survivors")
    ground: list[Object] = [inputs[name] for name in names]
    yield [score_chunk(plan, *ground, low, low + 64) for low in range(0, WARM * 64, 64)]
    spans = [(low, min(low + CHUNK_ROWS, ROWS)) for low in range(0, ROWS, CHUNK_ROWS)]
    results = yield [score_chunk(plan, *ground, low, high) for low, high in spans]
    return sum(result.value["rows"] for result in results)


def inputs() -> dict[str, bytes]:
    """Generate a random history, and survivors that all cover 1,000 draws."""
    chance = random.Random(8)
    split = split_history([chance.randrange(1000) for _ in range(DRAWS)], [""] * DRAWS, 1000)
    params = WindowParams(40, 0, "each", 0, 0, 3, 3)
    counts = ((ROWS, ROWS, ROWS, ROWS),) * len(split.each[0].cuts)
    zeros = np.zeros(ROWS, np.int64)
    rows = table.frame({
        "stream": zeros, "cut": zeros + split.each[0].holdout_at, "first": zeros,
        "seed": np.arange(ROWS), "skip": zeros, "base": zeros, "hits": zeros + 3,
    })  # fmt: skip
    judgement = TrialJudgement(0, 0, 0, ROWS, 1, ())
    chosen = artifact.WindowArtifact(params, counts, 1, (), judgement)
    scorer = artifact.ScorerArtifact(ScorerConfig(), ())
    return {
        "split": artifact.pack(artifact.SPLIT, split),
        "window": artifact.pack(artifact.WINDOW, chosen),
        "scorer": artifact.pack(artifact.SCORER, scorer),
        "survivors": table.to_parquet(with_skips(rows)),
    }


def measured(workers: int, given: dict[str, bytes]) -> dict[str, float]:
    """Score all survivors with `workers` workers; return seconds, CPU seconds and peak memory."""
    folder = Path(tempfile.mkdtemp())
    before, start = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    run = weft.run(
        score_all(to_json(PipelineRequest())), out=folder / "run", inputs=given, workers=workers
    )
    wall = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert run.answer == ROWS
    step = step_s(folder / "run" / "manifest.sqlite")
    shutil.rmtree(folder)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    peak = after.ru_maxrss / 1024
    return {"workers": workers, "wall_s": wall, "step_s": step, "cpu_s": cpu, "peak_mb": peak}


def step_s(manifest: Path) -> float:
    """Return the seconds from the start of the first full chunk to the end of the last."""
    sql = "SELECT max(finished_at) - min(started_at) FROM task_view WHERE round = 1"
    with sqlite3.connect(manifest) as base:
        return float(base.execute(sql).fetchone()[0])


def main() -> None:
    """Measure one and two workers alternately, and write the page."""
    files = inputs()
    turns = [[measured(workers, files) for workers in (1, 2)] for _ in range(TURNS)]
    middle = [
        {name: statistics.median(turn[at][name] for turn in turns) for name in turns[0][at]}
        for at in (0, 1)
    ]
    body = {"rows": ROWS, "draws": 1000, "turns": turns, "middle": middle}
    text = render(turns, middle)
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / "pipeline.md").write_text(text, encoding="utf-8")
    (RESULTS / "pipeline.json").write_text(json.dumps(body, indent=1) + "\n", encoding="utf-8")
    print(text)


def render(turns: list[list[dict[str, float]]], middle: list[dict[str, float]]) -> str:
    """Return the page."""
    rows = [
        f"| {run['workers']:.0f} | {run['step_s']:.2f} | {run['wall_s']:.2f} | {run['cpu_s']:.2f}"
        f" | {ROWS / run['cpu_s']:,.0f} | {run['peak_mb']:.0f} |"
        for run in middle
    ]
    return "\n".join(
        [
            "# Full scoring",
            "",
            f"{ROWS:,} survivors, 1,000 draws each, 62 features and the label, Parquet chunks of"
            f" {CHUNK_ROWS:,}. CPU seconds are those of the workers, including start-up and"
            " imports.",
            "",
            "| workers | step, s | with start-up and shutdown, s | CPU s | survivors per CPU s |"
            " peak MB of a worker |",
            "|---|---|---|---|---|---|",
            *rows,
            "",
            f"Medians of {TURNS} interleaved repeats. Two workers compared with one: the step is"
            f" {gain(turns, 'step_s')}, with start-up and shutdown {gain(turns, 'wall_s')}.",
            "",
        ]
    )


def gain(turns: list[list[dict[str, float]]], name: str) -> str:
    """State how much faster two workers were: the median over the turns, and the range."""
    ratios = sorted(turn[0][name] / turn[1][name] for turn in turns)
    middle = statistics.median(ratios)
    return f"{middle:.2f} times as fast ({ratios[0]:.2f} to {ratios[-1]:.2f})"


if __name__ == "__main__":
    main()

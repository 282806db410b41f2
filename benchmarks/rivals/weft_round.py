"""Weft itself: all tasks in one round, plain or lazy, or lazy on Ray.

The time ends when `weft.run` returns: every result has been passed to the search and summed, is
durable and in a sealed ledger, and the workers have stopped. Warm, it begins at the end of the last
greeting in the manifest, so that creating, hashing and queueing the tasks counts. The run is
verified afterwards, which does not count.
"""

from __future__ import annotations

import sqlite3
import tempfile
import time
from contextlib import closing
from pathlib import Path

import weft
from benchmarks.loadsearches import one_round
from benchmarks.rivals.ask import Ask, Outcome, Stopwatch
from weft.inspect.verify import verify
from weft.runs.run import real_place


def plain(ask: Ask, watch: Stopwatch) -> Outcome:
    return _run(ask, watch, lazy=False)


def lazy(ask: Ask, watch: Stopwatch) -> Outcome:
    return _run(ask, watch, lazy=True)


def on_ray(ask: Ask, watch: Stopwatch) -> Outcome:
    from benchmarks.rivals.ray_pool import cluster  # noqa: PLC0415 - only where it is installed

    with cluster(ask.workers):
        return _run(ask, watch, lazy=True, backend="ray")


def _run(ask: Ask, watch: Stopwatch, *, lazy: bool, backend: str = "local") -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "run"
        greetings = ask.workers if ask.warm else 0
        search = one_round(ask.load, ask.n, lazy, greetings)
        run = weft.run(search, out=out, workers=ask.workers, backend=backend)
        seconds, now_s = watch.seconds(), time.time()
        if ask.warm:
            seconds = now_s - _last_greeting(out)
        verdict = verify(out, real_place().heads)
        assert (verdict.root, verdict.completed) == (run.head, ask.n + greetings)
    return seconds, run.answer


def _last_greeting(out: Path) -> float:
    with closing(sqlite3.connect(f"file:{out}/manifest.sqlite?mode=ro", uri=True)) as db:
        query = "SELECT max(finished_at) FROM tasks WHERE function LIKE '%:greet'"
        return float(db.execute(query).fetchone()[0])

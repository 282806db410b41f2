"""A search announces its plan: shown in the run and from outside, but never in the ledger."""

from __future__ import annotations

import json

import pytest

import weft
from tests.support.sessions import Sessions, double
from weft.errors import SearchInvalid
from weft.inspect.status import status
from weft.runs.progress import Gauge, Progress
from weft.storage.disk import Disk
from weft.storage.manifest import Manifest

SOURCE = """
import pathlib, time

PLANNED = True

@weft.task
def score(x):
    weft.note(asked=x)  # so that its result is not part of a block
    return {"score": -(x - 7) ** 2 / 4, "x": x}

@weft.task
def count(x):
    return 1000 + x

@weft.search(version=1)
def climb(rounds=3):
    if PLANNED:
        yield weft.Plan(total=4 * rounds + 1, best="max", key="score", of=score, unit="evals")
    yield [count(1)]
    for number in range(rounds):
        yield [score(4 * number + i) for i in range(4)]
        if PLANNED:
            yield weft.Plan(total=4 * rounds + 1, best="max", key="score", of=score,
                            unit="evals", note=f"round {number} over")
    return rounds

@weft.search(version=1)
def first_good():
    yield weft.Plan(best="max")
    results = yield weft.round([count(x) for x in range(50)], until=lambda r: r.index == 3)
    return len(results)

@weft.task
def count_after(gate, x):
    while not pathlib.Path(gate).exists():
        time.sleep(0.01)
    return 1000 + x

@weft.search(version=1)
def many(gate):
    yield weft.Plan(best="min")
    yield weft.lazy(3000, lambda i: count(i + 1) if i < 2000 else count_after(gate, i + 1))

@weft.search(version=1)
def puzzle(n):
    [result] = yield [count(n)]
    return {"outcome": "SOLVED" if n % 3 else "UNKNOWN"}

@weft.search(version=1)
def half():
    yield weft.Plan(total=100, unit="ignored in a lane")
    yield [count(1)]
    yield weft.Milestone("stop")
    return 1

@weft.search(version=1)
def halves():
    yield [count(2)]
    return (yield weft.lanes({"a": half(), "b": half()}))

@weft.search(version=1)
def puzzles():
    yield weft.Plan(lanes="puzzles", tally="outcome")
    return (yield weft.lanes({f"p{n}": puzzle(n) for n in range(12)}))
"""


@pytest.fixture
def lab(modules):
    return modules.write(SOURCE)


class Watched:
    """Records the progress that is reported."""

    def __init__(self) -> None:
        self.gauge: Gauge | None = None
        self.progress: list[Progress] = []
        self.outlook = None

    def update(self, counts):
        self.gauge = self.gauge or Gauge(counts, 0.0)
        self.outlook = counts.outlook
        self.progress.append(self.gauge.read(counts, float(len(self.progress))))


def test_plan_leaves_no_trace_in_the_ledger(lab, tmp_path):
    with_plan = weft.run(lab.climb(), out=tmp_path / "with", workers=2)
    lab.PLANNED = False
    without = weft.run(lab.climb(), out=tmp_path / "without", workers=1)
    assert with_plan.head == without.head
    ledgers = [(tmp_path / name / "ledger.jsonl").read_bytes() for name in ("with", "without")]
    assert ledgers[0] == ledgers[1]


def test_run_and_status_show_the_same_numbers(lab, tmp_path):
    watched = Watched()
    weft.run(lab.climb(), out=tmp_path / "run", workers=2, watcher=watched)
    assert {now.total for now in watched.progress} == {13}
    assert all(now.is_whole for now in watched.progress)
    progress = status(tmp_path / "run").progress
    assert progress is not None
    assert (progress.finished, progress.total, progress.best) == (13, 13, 0.0)
    assert (progress.best, progress.plan) == (watched.outlook.best, watched.outlook.plan)
    assert progress.words() == "13/13 evals, best 0, round 2 over"
    assert json.loads(json.dumps(status(tmp_path / "run").to_dict()))["progress"]["best"] == 0.0


def test_lanes_are_shown_in_the_words_of_the_search(lab, tmp_path):
    watched = Watched()
    weft.run(lab.puzzles(), out=tmp_path / "run", workers=2, watcher=watched)
    outside = status(tmp_path / "run").progress
    assert outside is not None
    assert outside.lane_count() == "12/12 puzzles, 8 solved, 4 unknown"
    assert outside.outcomes == watched.outlook.outcomes
    assert (outside.lanes, outside.lanes_ended) == (12, 12)


def test_best_leaves_dropped_results_out(lab, tmp_path):
    """More results may arrive than count; the best is among those that count."""
    watched = Watched()
    weft.run(lab.first_good(), out=tmp_path / "run", workers=2, watcher=watched)
    assert watched.outlook.best == 1003
    assert status(tmp_path / "run").progress.best == 1003


def test_best_of_a_lazy_round_counts_what_an_earlier_session_found(lab, tmp_path):
    gate = tmp_path / "gate"
    call = lab.many(str(gate))

    class Interrupting(Watched):
        def update(self, counts):
            super().update(counts)
            if counts.finished > 1000:
                raise KeyboardInterrupt

    with pytest.raises(weft.Interrupted, match=f"weft resume {tmp_path}/run"):
        weft.run(call, out=tmp_path / "run", workers=2, watcher=Interrupting())
    gate.touch()
    watched = Watched()
    weft.run(call, out=tmp_path / "run", workers=2, watcher=watched)
    assert watched.outlook.best == status(tmp_path / "run").progress.best == 1001


def test_interrupted_run_shows_its_plan(lab, tmp_path):
    with pytest.raises(weft.Interrupted):
        weft.run(lab.climb(rounds=500), out=tmp_path / "run", wall_limit_s=0.3, workers=1)
    progress = status(tmp_path / "run").progress
    assert progress is not None
    assert (progress.total, progress.left, progress.rate_per_s) == (2001, None, None)
    assert progress.is_whole


def test_totals_of_lanes_are_added_up(lab, tmp_path):
    with pytest.raises(weft.Interrupted, match="paused"):
        weft.run(lab.halves(), out=tmp_path / "run", pause_at="stop", workers=1)
    progress = status(tmp_path / "run").progress
    assert progress is not None
    assert (progress.total, progress.is_whole, progress.plan.unit) == (201, False, "tasks")
    assert progress.count().endswith("/201+ tasks")
    assert weft.run(lab.halves(), out=tmp_path / "run").completed == 3
    assert status(tmp_path / "run").progress.total == 3


def test_what_is_no_plan_is_refused_with_its_reason(modules, tmp_path):
    lab = modules.write("""
        @weft.search(version=1)
        def wrong():
            yield weft.Plan(total="many")
    """)
    with pytest.raises(SearchInvalid, match="total of 0 or more, not 'many'"):
        weft.run(lab.wrong(), out=tmp_path / "run")


def test_nobody_watches_then_no_best_is_looked_for(tmp_path):
    """The values of results are not even read."""
    sessions = Sessions(tmp_path)

    def body():
        yield weft.Plan(best="max")
        results = yield [double(x) for x in range(4)]
        return len(results)

    sessions.go(body)
    assert sessions.machine is not None
    assert sessions.machine.outlook.best is None
    manifest = Manifest.open(sessions.folder.manifest, Disk(), read_only=True)
    assert list(manifest.plans()) == [""]
    assert sorted(manifest.completed()) == [(double.name, value) for value in ("0", "2", "4", "6")]
    manifest.close()

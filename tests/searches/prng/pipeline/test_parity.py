"""One ledger for any number of workers, on nodes, and after a kill in any step."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import time
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from tests.searches.prng.pipeline.conftest import PLAN, SMALL, finished_rows, ledger_sha, write
from tests.searches.prng.pipeline.planted import planted
from tests.support.commands import COMMAND
from tests.workers.lab import print_figures
from weft.searches.prng.history import History
from weft.searches.prng.pipeline.steps import STEPS

pytestmark = pytest.mark.xdist_group("pipeline-runs")
NODES = """
[[nodes]]
hostname = "one"
cpu_count = 1
[[nodes]]
hostname = "two"
cpu_count = 1
"""


@dataclass(frozen=True, slots=True)
class Plan:
    """A folder with draws and their serial run `one`, with that run's options and exit code."""

    place: Path
    options: tuple[str, ...] = PLAN
    code: int = 0

    @property
    def sha(self) -> str:
        """The hash of the serial run's ledger."""
        return ledger_sha(self.place / "one")

    def words(self, name: str, *more: str) -> list[str]:
        """Return the command that runs the plan into a folder with this name."""
        own = ["prng", "pipeline", self.place / "draws.csv", "--out", self.place / name]
        return [*COMMAND, *map(str, own), *self.options, *more]

    def carried_out(self, name: str, *more: str, code: int | None = None) -> tuple[Path, str]:
        """Run to the end; return the folder and what was printed on stderr."""
        result = subprocess.run(self.words(name, *more), capture_output=True, text=True)
        assert result.returncode == (self.code if code is None else code), result.stderr
        return self.place / name, result.stderr


@pytest.fixture
def plan(place: Path) -> Plan:
    return Plan(place)


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["4", "8"])
def test_more_workers_give_the_same_ledger(plan: Plan, workers: str) -> None:
    """One worker, two and nodes are tested below, before and after a kill."""
    assert ledger_sha(plan.carried_out(workers, "--workers", workers)[0]) == plan.sha


def steps_done(run: Path) -> int:
    """The number of finished steps of a run."""
    try:
        with sqlite3.connect(f"file:{run / 'manifest.sqlite'}?mode=ro", uri=True) as base:
            sql = "SELECT count(*) FROM tasks WHERE state = 'completed' AND function = ?"
            return int(base.execute(sql, ["prng.pipeline.finish_step"]).fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def killed(plan: Plan, name: str, steps: int, tasks: int) -> bool:
    """Kill the coordinator after `steps` steps and `tasks` more tasks; False if it ended first."""
    out = plan.place / name
    with subprocess.Popen(
        plan.words(name, "--workers", "2"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        base: int | None = None
        while process.poll() is None:
            rows = len(finished_rows(out))
            if base is None and steps_done(out) >= steps:
                base = rows
            if base is not None and rows >= base + tasks:
                os.kill(process.pid, signal.SIGKILL)
                return True
            time.sleep(0.05)
    return False


def check_killed(plan: Plan, name: str, steps: int, tasks: int, *resumed: str) -> tuple[bool, str]:
    """Kill a run and resume it; return whether it was killed, and the resumed run's stderr."""
    out = plan.place / name
    was_killed = killed(plan, name, steps, tasks)
    before = finished_rows(out)
    _, output = plan.carried_out(name, *(resumed or ("--workers", "2")))
    after = finished_rows(out)
    assert all(after[key] == row for key, row in before.items()), "a completed task ran again"
    return was_killed, output


def test_pauses_nodes_and_a_kill_among_the_nulls_repeat_nothing_and_give_the_same_ledger(
    noise: Path,
) -> None:
    """One run goes from one worker to two, is killed, and ends on nodes."""
    plan = Plan(noise, SMALL, code=1)
    (noise / "nodes.toml").write_text(NODES)
    nodes = ("--nodes", str(noise / "nodes.toml"), "--simulate-nodes", "--placement", "static")
    out, output = plan.carried_out("torn", "--to", "4", "--workers", "1", code=0)
    assert steps_done(out) == STEPS.index("4") + 1
    lines = output.splitlines()
    assert [line for line in lines if line.startswith("step ")][-1].startswith("step 4 ")
    was_killed, output = check_killed(plan, "torn", 4, 20, *nodes)
    assert was_killed
    assert ledger_sha(out) == plan.sha
    lines += output.splitlines()
    heads = [at for at, line in enumerate(lines) if line.startswith("step ")]
    assert list(dict.fromkeys(lines[at].split()[1] for at in heads)) == list(STEPS)
    [fifth] = [at for at in heads if lines[at].startswith("step 5 ")]
    assert lines[fifth + 1].startswith("  PARALLEL: one | 1 CPU worker | ")
    assert lines[fifth + 2].startswith("  PARALLEL: two | 1 CPU worker | ")


@pytest.mark.slow
def test_many_planted_and_random_histories_are_told_apart(tmp_path: Path) -> None:
    plan, chance = Plan(tmp_path), random.Random(20261115)
    for key in range(8):
        truth = planted(seeds=1200, key=100 + key)
        write(truth, tmp_path / "draws.csv")
        out, _ = plan.carried_out(f"planted{key}", "--workers", "2")
        answer = json.loads((out / "predictions.json").read_text())
        coming = {stream["stream"]: stream["next"] for stream in answer["streams"]}
        assert coming == {name: numbers[:10] for name, numbers in truth.coming.items()}, key
        rows = tuple(chance.randrange(1000) for _ in truth.history.draws)
        noise = replace(truth, history=History(rows, truth.history.sessions))
        write(noise, tmp_path / "draws.csv")
        plan.carried_out(f"noise{key}", code=1)
    print_figures("pipeline verdicts", planted_found=8, random_refused=8)


@pytest.mark.slow
def test_kill_in_every_step_gives_the_same_ledger(plan: Plan) -> None:
    chance = random.Random(20261115)
    kills = 0
    for step, most in enumerate((4, 4, 1, 1, 100, 1)):
        for repeat in range(3):
            tasks = chance.randrange(most)
            was_killed, _ = check_killed(plan, f"step{step}-{repeat}", step, tasks)
            assert ledger_sha(plan.place / f"step{step}-{repeat}") == plan.sha
            kills += was_killed
    assert kills >= 12
    print_figures("pipeline kills", kills=kills, runs=18)

"""SIGKILL at any moment, then the same command: nothing repeated, nothing left over, one head."""

from __future__ import annotations

import os
import random
import signal
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from tests.searches.tree.conftest import CONFIG, Wood
from tests.searches.tree.test_parity import PARAMETERS
from tests.workers.lab import print_figures

pytestmark = pytest.mark.xdist_group("tree-kills")
Moment = Callable[[Path], bool]


def words(out: Path) -> list[str]:
    own = ["tree", "run", "tree.toml", "--out", str(out), "--max-depth", "2", "-q"]
    return [*own, "--beam-width", "3", "--max-parallel-evals", "2"]


def done_rows(run: Path) -> dict[str, tuple[int, float]]:
    """The attempt and end time of every task that completed or finally failed."""
    file = run / "manifest.sqlite"
    if not file.is_file():
        return {}
    with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as base:
        try:
            sql = (
                "SELECT key, attempt, finished_at FROM tasks WHERE state IN ('completed','failed')"
            )
            return {key: (attempt, end) for key, attempt, end in base.execute(sql)}
        except sqlite3.OperationalError:
            return {}
    return {}


def task_rows(run: Path) -> int:
    file = run / "manifest.sqlite"
    try:
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as base:
            return int(base.execute("SELECT count(*) FROM tasks").fetchone()[0])
    except sqlite3.OperationalError:
        return 0


def kill_at(wood: Wood, out: Path, moment: Moment) -> bool:
    """Start the command and kill its coordinator at a moment; return False if it ended first."""
    with wood.begin(*words(out)) as process:
        while process.poll() is None:
            if moment(out):
                os.kill(process.pid, signal.SIGKILL)
                return True
            time.sleep(0.005)
    return False


def left_over(out: Path) -> list[str]:
    """Processes that name a run in their command line, working folder or environment."""
    commands = []
    for process in psutil.process_iter(["cmdline", "cwd", "environ"]):
        about = [*(process.info["cmdline"] or []), process.info["cwd"] or ""]
        about += (process.info["environ"] or {}).values()
        if any(str(out) in text for text in about):
            commands.append(" ".join(process.info["cmdline"] or []))
    return commands


def check_killed(wood: Wood, out: Path, moment: Moment, head: str) -> bool:
    killed = kill_at(wood, out, moment)
    before = done_rows(out)
    result = wood.weft(*words(out))
    assert result.code == 0, result
    after = done_rows(out)
    assert {key: after[key] for key in before} == before, "a completed task ran again"
    assert wood.ledger(out.name) == head
    assert left_over(out) == []
    assert not (out / "attempts").exists()
    assert wood.weft("verify", out).code == 0
    return killed


def after_progress(results: int, delay_s: float) -> Moment:
    """The moment `delay_s` after a number of results, which every run reaches under any load."""
    reached: list[float] = []

    def come(out: Path) -> bool:
        if not reached and (out / "run.toml").is_file() and len(done_rows(out)) >= results:
            reached.append(time.monotonic())
        return bool(reached) and time.monotonic() - reached[0] >= delay_s

    return come


def reference(wood: Wood) -> tuple[str, int]:
    """The ledger that every run must have, and its number of results."""
    wood.plant(CONFIG.replace('ideas = "ideas"\n', "") + PARAMETERS)
    assert wood.weft(*words(wood.folder / "ref")).code == 0
    return wood.ledger("ref"), len(done_rows(wood.folder / "ref"))


def test_killed_right_after_planning_and_in_between_and_resumed_by_the_same_command(
    wood: Wood, chaos: bool
) -> None:
    head, results = reference(wood)
    moments: list[Callable[[], Moment]] = [
        lambda: lambda out: task_rows(out) > 0,  # the root is planned
        lambda: lambda out: task_rows(out) > 9,  # the first depth is promoted, the second planned
        lambda: after_progress(results * 2 // 3, 0.02),
    ]
    for number, moment in enumerate(moments if chaos else moments[1:2]):
        tries = (
            check_killed(wood, wood.folder / f"k{number}-{repeat}", moment(), head)
            for repeat in range(5)
        )
        assert any(tries), "it always ended before it could be killed"


@pytest.mark.slow
def test_killed_at_50_random_moments(wood: Wood) -> None:
    head, results = reference(wood)
    chance, killed = random.Random(6), 0
    number = 0
    while killed < 50 and number < 300:
        number += 1
        moment = after_progress(chance.randrange(results), chance.uniform(0.0, 0.1))
        killed += check_killed(wood, wood.folder / f"k{number}", moment, head)
    with wood.capture.disabled():
        print_figures("tree kills", seed=6, runs=number, killed=killed, repeated=0, orphans=0)
    assert killed == 50

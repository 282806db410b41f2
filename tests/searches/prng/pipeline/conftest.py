"""The command line of the pipeline, and histories as files."""

from __future__ import annotations

import hashlib
import os
import sqlite3
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from filelock import FileLock

from tests.searches.prng.pipeline.planted import Planted, planted
from tests.support.commands import COMMAND, Told, run_here

SMALL = (
    "--seeds", "300", "--skips", "0:1", "--starts", "0:60", "--window-trials", "1",
    "--scorer-trials", "1", "--model-trials", "1", "--model", "lightgbm",
)  # fmt: skip
"""The smallest run that still has survivors, a model and reruns."""
PLAN = (
    "--seeds", "1200", "--skips", "0:2", "--starts", "0:100", "--window-trials", "2",
    "--scorer-trials", "3", "--model-trials", "1", "--seed", "1",
)  # fmt: skip
"""A run with all kinds of models. The last test has 14 rows, two of them true; with seed 0 the
model misplaces one of the two."""
HERE = ("--backend", "serial")
"""For tests of results, not of execution: no worker loads all the libraries again."""


Weft = Callable[..., Told]


@pytest.fixture
def weft_says(capsys: pytest.CaptureFixture[str]) -> Weft:
    """Run a command in this process."""

    def run(*words: object) -> Told:
        return run_here(capsys, *words)

    return run


def made_once(factory: pytest.TempPathFactory, name: str, make: Callable[[Path], None]) -> Path:
    """Return a folder that one of the test processes creates and all of them read."""
    base = factory.getbasetemp()
    root = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    folder = root / name
    with FileLock(root / f"{name}.lock"):
        if not (folder / "made").exists():
            folder.mkdir()
            make(folder)
            (folder / "made").touch()
    return folder


@pytest.fixture(scope="session")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with planted draws, the finished serial run `one` on them, and what it printed."""
    return made_once(tmp_path_factory, "pipeline-run", _make_run)


def _make_run(place: Path) -> None:
    draws = write(planted(seeds=1200), place / "draws.csv")
    words = [*COMMAND, "prng", "pipeline", draws, "--out", place / "one", *PLAN, *HERE]
    result = subprocess.run(
        [*map(str, words), "--json-export"], capture_output=True, text=True, encoding="utf-8"
    )
    (place / "said.txt").write_text(result.stdout)
    assert result.returncode == 0, result.stderr


@pytest.fixture(scope="session")
def noise(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with draws of the system's random source and the smallest serial run on them."""
    return made_once(tmp_path_factory, "pipeline-noise", _make_noise_run)


def _make_noise_run(place: Path) -> None:
    raw = os.urandom(4 * 400)
    rows = [int.from_bytes(raw[at : at + 4], "big") % 1000 for at in range(0, len(raw), 4)]
    (place / "draws.csv").write_text("\n".join(map(str, rows)))
    words = [*COMMAND, "prng", "pipeline", place / "draws.csv", "--out", place / "one", *SMALL]
    result = subprocess.run([*map(str, words), *HERE, "-q"], capture_output=True, text=True)
    (place / "said.txt").write_text(result.stdout)
    assert result.returncode == 1, result.stderr


def write(truth: Planted, path: Path) -> Path:
    """Write a history as a file of rows with sessions."""
    rows = zip(truth.history.draws, truth.history.sessions, strict=True)
    path.write_text("draw,session\n" + "".join(f"{draw},{session}\n" for draw, session in rows))
    return path


def ledger_sha(run: Path) -> str:
    return hashlib.sha256((run / "ledger.jsonl").read_bytes()).hexdigest()


def finished_rows(run: Path) -> dict[str, tuple[int, float]]:
    """The attempt and end time of every completed task."""
    file = run / "manifest.sqlite"
    if not file.is_file():
        return {}
    try:
        with sqlite3.connect(f"file:{file}?mode=ro", uri=True) as base:
            sql = "SELECT key, attempt, finished_at FROM tasks WHERE state = 'completed'"
            return {key: (attempt, end) for key, attempt, end in base.execute(sql)}
    except sqlite3.OperationalError:
        return {}

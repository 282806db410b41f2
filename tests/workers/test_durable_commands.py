"""Results of commands are durable before the search decides, so a kill then repeats none."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import weft


@weft.search(version=1)
def looks_back(run: str):
    """After each round, record what a reader of the run's manifest sees of it."""
    states = []
    for number in range(3):
        yield [weft.command(["true"], timeout_s=60, args={"number": number})] * 2
        with closing(sqlite3.connect(f"file:{run}/manifest.sqlite?mode=ro", uri=True)) as db:
            states.append([state for (state,) in db.execute("SELECT state FROM tasks ORDER BY id")])
    return states


def test_results_of_commands_are_committed_before_the_search_decides(tmp_path: Path) -> None:
    run = weft.run(looks_back(str(tmp_path / "run")), out=tmp_path / "run", workers=2)
    assert run.answer == [["completed"] * 2, ["completed"] * 4, ["completed"] * 6]

"""The speed that `weft status` shows matches the recorded times."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

import weft
from tests.support.modules import ModuleFolder
from weft.inspect.status import RATE_WINDOW_S, status

TASKS = 4
NAP_S = 0.25


@pytest.fixture
def modules(tmp_path):
    folder = ModuleFolder(tmp_path / "code")
    yield folder
    folder.close()


@pytest.fixture
def run(modules, tmp_path):
    """A run of four tasks that begin together, so that they end together too."""
    module = modules.write(f"""
        import time
        from pathlib import Path

        @weft.task
        def nap(place, number):
            (Path(place) / str(number)).touch()
            while len(list(Path(place).iterdir())) < {TASKS}:
                time.sleep(0.001)
            time.sleep({NAP_S})

        @weft.search(version=1)
        def s(place):
            yield [nap(place, number) for number in range({TASKS})]
    """)
    place = tmp_path / "place"
    place.mkdir()
    weft.run(module.s(str(place)), out=tmp_path / "run", workers=TASKS)
    return tmp_path / "run"


def set_times(run: Path, times: list[tuple[float, float]]) -> None:
    with sqlite3.connect(run / "manifest.sqlite") as manifest:
        ids = [row[0] for row in manifest.execute("SELECT id FROM tasks ORDER BY id")]
        for (started_at, finished_at), id_ in zip(times, ids, strict=True):
            manifest.execute(
                "UPDATE tasks SET started_at = ?, finished_at = ? WHERE id = ?",
                (started_at, finished_at, id_),
            )
    manifest.close()


def test_rate_of_tasks_that_end_together_counts_the_time_they_took(run):
    with sqlite3.connect(run / "manifest.sqlite") as manifest:
        sql = "SELECT min(started_at), max(finished_at) FROM tasks"
        [(first, last)] = manifest.execute(sql).fetchall()
    manifest.close()
    assert status(run).rate_per_s == pytest.approx(TASKS / (last - first))
    assert status(run).rate_per_s <= TASKS / NAP_S


@pytest.mark.parametrize(
    ("times", "rate"),
    [
        ([(100.0, 101.0)] * TASKS, 4.0),
        ([(100.0 + i, 101.0 + i) for i in range(TASKS)], 1.0),
        ([(0.0, 600.0)] * TASKS, TASKS / 600.0),  # long tasks: not all four in the last minute
        ([(0.0, 10.0), (500.0, 560.0), (500.0, 560.0), (500.0, 560.0)], 3 / RATE_WINDOW_S),
        ([(100.0, 100.0)] * TASKS, None),  # no time passed at all
    ],
)
def test_rate_is_that_of_the_last_minute(run, times, rate):
    (run / "manifest.sqlite").chmod(0o644)
    set_times(run, times)
    assert status(run).rate_per_s == (None if rate is None else pytest.approx(rate))

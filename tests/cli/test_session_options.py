"""`weft run` and `weft resume` have the group caps, milestones and tags of the Python API."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Weft

SEARCH = """\
import time
from pathlib import Path
import weft

@weft.task(group="licence")
def use(place, number):
    running = Path(place) / f"{number}"
    running.touch()
    together = len(list(Path(place).iterdir()))
    time.sleep(0.02)
    running.unlink()
    return together

@weft.search(version=1)
def s(place):
    first = yield [use(place, number) for number in range(4)]
    yield weft.Milestone("second half")
    second = yield [use(place, number) for number in range(4)]
    return max(r.value for r in (*first, *second))
"""


@pytest.fixture
def words(tmp_path: Path) -> list[str]:
    (tmp_path / "licences.py").write_text(SEARCH)
    (tmp_path / "place").mkdir()
    place = str(tmp_path / "place").replace("\\", "/")
    return [
        "run",
        "licences:s",
        "--args",
        f'{{"place": "{place}"}}',
        "--out",
        "r",
        "--workers",
        "2",
    ]


def test_run_pauses_at_a_milestone_under_a_cap_with_tags(weft: Weft, words: list[str]) -> None:
    more = ["--group-cap", "1", "--pause-at", "second half", "--tag", "nightly", "--tag", "v2"]
    paused = weft(*words, *more)
    assert paused.code == 130, paused
    assert "paused before 'second half', after 4 tasks" in paused.err
    assert weft("status", "r", "--json").json["tags"] == ["nightly", "v2"]
    assert "tags    nightly, v2" in weft("status", "r").out
    resumed = weft("resume", "r", "--json")
    assert (resumed.code, resumed.json["answer"]) == (0, 1), resumed  # the cap is remembered


def test_resume_takes_a_milestone_and_a_cap_too(weft: Weft, words: list[str]) -> None:
    assert weft(*words, "--wall-limit", "0.0001").code == 130
    paused = weft("resume", "r", "--group-cap", "1", "--pause-at", "second half")
    assert (paused.code, "paused before" in paused.err) == (130, True), paused
    assert weft("resume", "r", "--group-cap", "1", "--json").json["answer"] == 1


@pytest.mark.parametrize("more", [["--group-cap", "0"], ["--tag", ""], ["--tag", "a\nb"]])
def test_options_that_make_no_sense_are_refused(
    weft: Weft, words: list[str], tmp_path: Path, more: list[str]
) -> None:
    result = weft(*words, *more)
    result.check_one_line(2)
    assert not (tmp_path / "r").exists()

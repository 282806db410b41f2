"""Milestones: a run pauses where requested and continues from there; its ledger is unaffected."""

from __future__ import annotations

import pytest

import weft
from weft.errors import Paused
from weft.runs import resume

SOURCE = """
import time
from pathlib import Path

@weft.task
def double(x):
    return 2 * x

@weft.search(version=1)
def staged(milestones=True):
    if milestones:
        yield weft.Milestone("first", (2,))
    [a, b] = yield [double(1), double(2)]
    if milestones:
        yield weft.Milestone("empty")
        yield weft.Milestone("second", (1, 1))
    [c] = yield [double(a.value + b.value)]
    return c.value

@weft.task
def opened(gate: str) -> bool:
    while not Path(gate).exists():
        time.sleep(0.01)
    return True

@weft.search(version=1)
def gated(gate: str):
    yield weft.Milestone("first", (1,))
    yield [opened(gate)]
    yield weft.Milestone("second", (1, 1))
    [c] = yield [double(1)]
    return c.value

@weft.search(version=1)
def inside():
    answers = yield weft.lanes({"a": staged(), "b": staged()})
    return answers
"""


@pytest.fixture
def lab(modules):
    return modules.write(SOURCE)


class Seen:
    """Records the reported milestones, and opens a gate at the first: updates may skip some."""

    def __init__(self, gate):
        self.milestones = []
        self.gate = gate

    def update(self, counts):
        if counts.milestone and counts.milestone not in self.milestones:
            self.milestones.append(counts.milestone)
            self.gate.touch()


def rows(out):
    lines = (out / "ledger.jsonl").read_bytes().splitlines()
    return len(lines)


def test_mark_that_is_asked_for_pauses_the_run(lab, tmp_path):
    out = tmp_path / "out"
    with pytest.raises(Paused, match="paused before 'second', after 2 tasks"):
        weft.run(lab.staged(), out=out, pause_at="second")
    with pytest.raises(Paused):  # again: no more work is done
        weft.run(lab.staged(), out=out, pause_at="second")
    assert weft.run(lab.staged(), out=out).answer == 12


def test_paused_run_goes_on_by_resume_with_the_same_ledger(lab, tmp_path):
    whole = weft.run(lab.staged(), out=tmp_path / "whole")
    with pytest.raises(Paused):
        weft.run(lab.staged(), out=tmp_path / "paused", pause_at="second")
    assert rows(tmp_path / "paused") < rows(tmp_path / "whole")
    resumed = resume.resume(tmp_path / "paused")
    assert (resumed.answer, resumed.head) == (12, whole.head)


def test_pause_before_anything_runs_leaves_an_empty_run(lab, tmp_path):
    with pytest.raises(Paused, match="after 0 tasks"):
        weft.run(lab.staged(), out=tmp_path / "out", pause_at="first")
    assert weft.run(lab.staged(), out=tmp_path / "out").answer == 12


def test_mark_that_never_comes_pauses_nothing(lab, tmp_path):
    assert weft.run(lab.staged(), out=tmp_path / "out", pause_at="third").answer == 12


def test_marks_are_told_to_who_watches(lab, tmp_path):
    watcher = Seen(tmp_path / "gate")
    weft.run(lab.gated(str(watcher.gate)), out=tmp_path / "out", watcher=watcher)
    assert [(milestone.name, milestone.tasks) for milestone in watcher.milestones] == [
        ("first", 1),
        ("second", 2),
    ]


def test_marks_inside_lanes_pause_all_lanes(lab, tmp_path):
    with pytest.raises(Paused):
        weft.run(lab.inside(), out=tmp_path / "out", pause_at="second")
    assert weft.run(lab.inside(), out=tmp_path / "out").answer == [12, 12]

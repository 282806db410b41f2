"""Coordinators killed just after a command has ended: resume adopts it instead of rerunning it."""

from __future__ import annotations

import json
import os
import signal
import sqlite3
import time
import traceback
from collections import Counter
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

import weft
from tests.workers.lab import Lab, print_figures, rows, trials
from weft.worker import outcomes
from weft.worker.adoption import AttemptOutcomes
from weft.worker.context import CommandFacilities, TaskContext, WorkerPlace

pytestmark = pytest.mark.xdist_group("paid-commands")
MANY = 5
"""Commands per kill: under load, several end before a coordinator is killed."""


def paid(lab: Lab, name: str, pause_s: float = 0.02) -> dict[str, Any]:
    """A command that records its start, as a provider would record a call, and leaves a result."""
    begin = f"echo {name} >> {lab.folder}/calls; sleep {pause_s}"
    text = f"{begin}; echo {name} > answer; echo said {name}"
    return lab.step("sh", "-c", text, args={"name": name})


def calls(lab: Lab) -> Counter[str]:
    path = lab.folder / "calls"
    return Counter(path.read_text().split()) if path.exists() else Counter()


def started(lab: Lab, search: Any) -> int:
    """Start a coordinator in a separate process; return its pid."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        weft.run(search, out=lab.folder / "run", workers=2, quiet=True, progress=False)
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def noted(lab: Lab) -> set[str]:
    folder = lab.folder / "run" / "outcomes"
    return {p.name for p in folder.iterdir() if p.suffix != ".part"} if folder.is_dir() else set()


def kill_at_next_outcome(lab: Lab, search: Any, known: set[str]) -> bool:
    """Kill a coordinator once another command has ended; return False if the run ended before."""
    pid = started(lab, search)
    while True:
        fresh = noted(lab) - known
        ended, status = os.waitpid(pid, os.WNOHANG)
        if ended:
            assert status == 0, "the coordinator failed"
            return False
        if fresh:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            return True
        time.sleep(0.001)


def kill_before_the_result(lab: Lab, search: Any) -> None:
    """Stop a coordinator when its command begins, and kill it when that command has ended."""
    pid = started(lab, search)
    while not calls(lab):
        time.sleep(0.001)
    os.kill(pid, signal.SIGSTOP)
    while not noted(lab):
        time.sleep(0.001)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)


def names_of(lab: Lab, files: set[str]) -> set[str]:
    """The commands whose end is recorded in these files."""
    keys = {name.rpartition("-")[0] for name in files}
    with closing(sqlite3.connect(f"file:{lab.folder}/run/manifest.sqlite?mode=ro", uri=True)) as db:
        tasks = db.execute("SELECT key, args FROM tasks").fetchall()
    return {json.loads(args)["args"]["name"] for key, args in tasks if key in keys}


def settled(lab: Lab) -> None:
    """Wait until all processes of a killed session are gone, supervisors last."""
    while lab.alive():
        time.sleep(0.005)


def test_finished_commands_are_not_run_again_however_often_the_coordinator_is_killed(
    lab: Lab, chaos: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    count = 50 if chaos else 20
    steps = [paid(lab, f"c{number}") for number in range(MANY * count)]
    search = trials.commands(steps)
    killed, known = 0, set[str]()
    finished: dict[str, int] = {}
    while killed < count and kill_at_next_outcome(lab, search, known):
        killed += 1
        settled(lab)
        known = noted(lab)
        now = calls(lab)
        for name in names_of(lab, known):
            assert finished.setdefault(name, now[name]) == now[name], f"{name} was paid twice"
    run = lab.run(search, workers=2)
    after = calls(lab)
    assert {name: after[name] for name in finished} == finished, "a finished command ran again"
    assert [outcome["stdout"] for outcome in run.answer] == [
        f"said c{number}\n" for number in range(MANY * count)
    ]
    notes = [json.loads(text) for (text,) in rows(run.out, "SELECT notes FROM tasks")]
    adopted = sum("adopted_attempt" in note for note in notes)
    with capfd.disabled():
        print_figures("paid commands", kills=killed, finished=len(finished), adopted=adopted,
                      repeated=0)  # fmt: skip
    assert killed == count
    assert adopted >= count // 2, "kills came too late, the test shows little"
    assert not (run.out / "outcomes").exists()
    assert not (run.out / "attempts").exists()
    undisturbed = lab.run(search, "undisturbed", workers=2)
    assert run.head == undisturbed.head


def test_an_outcome_whose_folder_was_changed_is_not_adopted(lab: Lab) -> None:
    search, stored = trials.commands([paid(lab, "only", pause_s=2)]), "SELECT state FROM tasks"
    kill_before_the_result(lab, search)
    settled(lab)
    assert rows(lab.folder / "run", stored) != [("completed",)]
    [answer] = (lab.folder / "run" / "attempts").glob("*/out/answer")
    answer.write_text("forged")
    run = lab.run(search)
    assert calls(lab)["only"] == 2
    assert run.answer[0]["stdout"] == "said only\n"


def test_an_attempt_that_is_to_be_repeated_is_not_adopted(lab: Lab) -> None:
    text = f"echo x >> {lab.folder}/calls; exit 75"
    step = lab.step("sh", "-c", text, retries=2)
    run = lab.run(trials.commands([step]))
    assert run.answer[0]["type"] == "temporary"
    assert calls(lab)["x"] == 3


@pytest.mark.parametrize(
    ("status", "words", "is_adopted"),
    [(1, "head: No space left on device", False), (1, "no such key", True),
     (0, "a copy failed: No space left on device", True)],
)  # fmt: skip
def test_a_command_that_failed_for_want_of_space_runs_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, status: int, words: str, is_adopted: bool
) -> None:
    """Its worker died before it could report the loss; by now there may be space."""
    place = WorkerPlace(
        tmp_path / "objects", tmp_path / "staging", tmp_path / "logs", tmp_path / "attempts",
        facilities=CommandFacilities(outcome_token="t"),
    )  # fmt: skip
    assignment = SimpleNamespace(key="k" * 64, attempt=1)
    around = SimpleNamespace(place=place, notes={}, assignment=assignment)
    attempt_outcomes = AttemptOutcomes(cast("TaskContext", around))
    path, log = attempt_outcomes.path(1), Path(attempt_outcomes.logs(1)[1])
    for file, text in ((path, "{}"), (log, words)):
        file.parent.mkdir(parents=True)
        file.write_text(text)
    stored = outcomes.StoredOutcome(path, 1, {"status": status}, {})
    monkeypatch.setattr(outcomes, "read", lambda *_: stored)
    assert (attempt_outcomes.adopt() is stored) == path.exists() == is_adopted

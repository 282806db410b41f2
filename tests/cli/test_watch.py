"""`weft watch` on real runs (running, finished, killed, deserted): it ends and disturbs no run."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import Weft, held_run, hold, tree
from tests.support.commands import COMMAND

LIMIT_S = 120.0
Look = dict[str, Any]


@contextmanager
def watching(folder: Path, *more: str) -> Iterator[subprocess.Popen[str]]:
    """A process that watches `r` with a pipe as its stdout."""
    argv = [*COMMAND, "watch", "r", "--interval", "0.05", *more]
    with subprocess.Popen(
        argv, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as watcher:
        try:
            yield watcher
        finally:
            watcher.kill()


def looks_until(watcher: subprocess.Popen[str], true: Callable[[Look], bool]) -> list[Look]:
    """Read looks up to the first one that satisfies the condition."""
    assert watcher.stdout is not None
    looks = [json.loads(watcher.stdout.readline())]
    while not true(looks[-1]):
        looks.append(json.loads(watcher.stdout.readline()))
    return looks


def rest_of(watcher: subprocess.Popen[str]) -> list[Look]:
    """Read the remaining looks, after which the watcher exits successfully."""
    assert watcher.stdout is not None
    looks = lines_of(watcher.stdout.read())
    assert watcher.wait(LIMIT_S) == 0
    return looks


def lines_of(text: str) -> list[Look]:
    return [json.loads(line) for line in text.splitlines()]


def kill_in_the_middle(folder: Path) -> None:
    """Leave in `r` the state that a SIGKILL of the coordinator leaves."""
    with held_run(folder) as process:
        process.kill()
        process.wait()


def test_watch_follows_a_run_to_its_end(weft: Weft, tmp_path: Path) -> None:
    with held_run(tmp_path, 0) as process, watching(tmp_path) as watcher:
        looks = []
        for last in range(4):
            due = 4 * last + 4
            looks += looks_until(watcher, lambda look, done=due: look["finished"] == done)
            hold(tmp_path, last + 1)
        hold(tmp_path, None)
        looks += rest_of(watcher)
        assert process.wait(LIMIT_S) == 0
    assert [look["state"] for look in looks[:-1]] == ["running"] * (len(looks) - 1)
    assert looks[-1]["state"] == "finished"
    assert looks[-1]["answer"]["status"] == "answered"
    finished = [look["finished"] for look in looks]
    assert finished == sorted(finished)
    assert finished[-1] == 48
    assert weft("verify", "r").code == 0


def test_watch_shows_who_runs_what(tmp_path: Path) -> None:
    with held_run(tmp_path, 0), watching(tmp_path, "--json") as watcher:
        looks = looks_until(watcher, lambda look: len(look["slots"]) == 2)
        hold(tmp_path, None)
        looks += rest_of(watcher)
    slots = [slot for look in looks for slot in look["slots"]]
    assert {slot["function"] for slot in slots} == {"slow:wait"}
    assert all(len(slot["key"]) == 64 and slot["since"] and slot["node"] for slot in slots)
    pids = {slot["worker_pid"] for slot in slots}
    assert pids <= {worker["worker_pid"] for worker in looks[-1]["workers"]}
    assert max(len(look["slots"]) for look in looks) <= 2
    assert looks[-1]["slots"] == []
    assert sum(worker["tasks"] for worker in looks[-1]["workers"]) == 48
    assert all(0 < worker["busy_share"] <= 1 for worker in looks[-1]["workers"])


def test_watch_finished_run_looks_once_and_changes_nothing(weft: Weft, tmp_path: Path) -> None:
    assert weft("run", "small:squares", "--out", "r").code == 0
    before = tree(tmp_path / "r")
    result = weft("watch", "r")
    assert result.code == 0, result
    assert [look["state"] for look in lines_of(result.out)] == ["finished"]
    assert tree(tmp_path / "r") == before
    assert lines_of(result.out)[0] == weft("status", "r", "--json").json


def test_watch_killed_run_waits_a_while_and_says_how_to_go_on(weft: Weft, tmp_path: Path) -> None:
    kill_in_the_middle(tmp_path)
    result = weft("watch", "r", "--interval", "0.1", "--patience", "0.3")
    assert result.code == 130, result
    assert "weft resume r" in result.err
    looks = lines_of(result.out)
    assert {look["state"] for look in looks} == {"interrupted"}
    assert len(looks) > 1, "it waited"
    assert all(look["slots"] == [] for look in looks), "nobody runs anything"
    assert weft("watch", "r", "--once").code == 0
    assert weft("resume", "r").code == 0
    assert weft("watch", "r").code == 0


def test_watch_goes_on_when_a_run_is_resumed(tmp_path: Path) -> None:
    kill_in_the_middle(tmp_path)
    with watching(tmp_path, "--patience", str(LIMIT_S)) as watcher:
        looks_until(watcher, lambda look: look["state"] == "interrupted")
        hold(tmp_path, 4)
        argv = [*COMMAND, "resume", "r"]
        with subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.DEVNULL) as resumed:
            looks_until(watcher, lambda look: look["state"] == "running")
            hold(tmp_path, None)
            assert rest_of(watcher)[-1]["state"] == "finished"
            assert resumed.wait(LIMIT_S) == 0


def test_watch_ctrl_c_leaves_the_run_alone(weft: Weft, tmp_path: Path) -> None:
    with held_run(tmp_path, 0) as process:
        with watching(tmp_path) as watcher:
            looks_until(watcher, lambda look: look["state"] == "running")
            watcher.send_signal(signal.SIGINT)
            assert watcher.wait(LIMIT_S) == 0
        hold(tmp_path, None)
        assert process.wait(LIMIT_S) == 0
    assert weft("status", "r", "--json").json["state"] == "finished"


def test_watch_reader_that_leaves_ends_it_quietly(tmp_path: Path) -> None:
    with held_run(tmp_path, 0), watching(tmp_path) as watcher:
        looks_until(watcher, lambda look: look["state"] == "running")
        assert watcher.stdout is not None
        assert watcher.stderr is not None
        watcher.stdout.close()
        assert watcher.wait(LIMIT_S) == 1
        assert watcher.stderr.read() == ""


def on_terminal(
    folder: Path, *words: str, columns: int = 100, letting_go_at: str = ""
) -> tuple[int, str]:
    """Run a command on a new terminal; return its exit code and everything it drew.

    The run that it watches is released when `letting_go_at` is drawn.
    """
    here, far_end = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k not in ("CI", "NO_COLOR")}
    env |= {"TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "30"}
    with subprocess.Popen(
        [*COMMAND, *words], cwd=folder, env=env, stdin=far_end, stdout=far_end, stderr=far_end
    ) as process:
        os.close(far_end)
        drawn = b""
        while select.select([here], [], [], LIMIT_S)[0]:
            try:
                drawn += os.read(here, 65536)
            except OSError:  # the last process on the terminal has exited
                break
            if letting_go_at and letting_go_at.encode() in drawn:
                hold(folder, None)
                letting_go_at = ""
        code = process.wait(LIMIT_S)
    os.close(here)
    return code, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn.decode())


def test_watch_on_a_terminal_draws_progress_slots_and_events(tmp_path: Path) -> None:
    with held_run(tmp_path, 0):
        words = ("watch", "r", "--interval", "0.05")
        code, drawn = on_terminal(tmp_path, *words, letting_go_at="slow:wait")
    assert code == 0, drawn
    expected = ("search  slow:slow", "running", "━", "of 8", "left", "slot    local", "slow:wait")
    for text in expected:
        assert text in drawn, text
    assert "48 of 48 (100%)" in drawn
    assert '{"' not in drawn


def test_watch_on_a_narrow_terminal_cuts_lines(weft: Weft, tmp_path: Path) -> None:
    assert weft("run", "small:squares", "--out", "r").code == 0
    code, drawn = on_terminal(tmp_path, "watch", "r", columns=40)
    assert code == 0
    assert max(len(line) for line in drawn.splitlines()) <= 40


def test_watch_shows_what_went_wrong(weft: Weft, tmp_path: Path) -> None:
    assert weft("run", "small:broken", "--out", "r").code == 4
    events = lines_of(weft("watch", "r").out)[0]["events"]
    assert [(e["kind"], e["detail"], e["index"]) for e in events] == [("failed", "exception", 0)]
    assert "failed" in on_terminal(tmp_path, "watch", "r")[1]


@pytest.mark.parametrize("option", ["--interval", "--patience"])
@pytest.mark.parametrize("value", ["0", "-1", "nan", "inf", "x"])
def test_watch_senseless_times_are_refused(weft: Weft, option: str, value: str) -> None:
    weft("watch", "r", option, value).check_one_line(2, option)


@pytest.mark.parametrize("folder", ["missing", ".", "small.py"])
def test_watch_no_run_is_refused(weft: Weft, folder: str) -> None:
    weft("watch", folder).check_one_line(3)

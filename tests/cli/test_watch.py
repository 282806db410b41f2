"""`weft watch` on real runs: under way, finished, killed, deserted; it ends and disturbs nobody."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.cli.conftest import COMMAND, Weft, tree, write_slow

LIMIT_S = 60.0


@contextmanager
def slow_run(folder: Path, *more: str) -> Iterator[subprocess.Popen[bytes]]:
    """A run of slow:slow into `r`, begun and writing."""
    argv = [*COMMAND, "run", "slow:slow", "--out", "r", "--workers", "2", *more]
    with subprocess.Popen(
        argv, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as process:
        try:
            wait_until((folder / "r" / "checkpoint").exists)
            yield process
        finally:
            process.kill()


def wait_until(true: Any) -> None:
    end_s = time.monotonic() + LIMIT_S
    while not true():
        assert time.monotonic() < end_s, "it never came true"
        time.sleep(0.01)


def lines_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def kill_in_the_middle(folder: Path) -> None:
    """Leave in `r` what a SIGKILL of the coordinator leaves."""
    write_slow(folder, 0.05)
    with slow_run(folder) as process:
        manifest = folder / "r" / "manifest.sqlite-wal"
        wait_until(lambda: manifest.exists() and manifest.stat().st_size > 100_000)
        process.kill()
        process.wait()


def test_watch_follows_a_run_to_its_end(weft: Weft, tmp_path: Path) -> None:
    write_slow(tmp_path, 0.1)
    with slow_run(tmp_path) as process:
        told = weft("watch", "r", "--interval", "0.1")  # stdout is a pipe
        assert process.wait(LIMIT_S) == 0
    assert told.code == 0, told
    looks = lines_of(told.out)
    assert [look["state"] for look in looks[:-1]] == ["running"] * (len(looks) - 1)
    assert looks[-1]["state"] == "finished"
    assert looks[-1]["answer"]["status"] == "answered"
    finished = [look["finished"] for look in looks]
    assert finished == sorted(finished)
    assert finished[-1] == 48
    assert len(set(finished)) > 3, "it saw the run move"
    assert weft("verify", "r").code == 0


def test_watch_shows_who_runs_what(weft: Weft, tmp_path: Path) -> None:
    write_slow(tmp_path, 0.2)
    with slow_run(tmp_path):
        looks = lines_of(weft("watch", "r", "--interval", "0.05", "--json").out)
    slots = [slot for look in looks for slot in look["slots"]]
    assert slots
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
    told = weft("watch", "r")
    assert told.code == 0, told
    assert [look["state"] for look in lines_of(told.out)] == ["finished"]
    assert tree(tmp_path / "r") == before
    assert lines_of(told.out)[0] == weft("status", "r", "--json").json


def test_watch_killed_run_waits_a_while_and_says_how_to_go_on(weft: Weft, tmp_path: Path) -> None:
    kill_in_the_middle(tmp_path)
    told = weft("watch", "r", "--interval", "0.1", "--patience", "0.3")
    assert told.code == 130, told
    assert "weft resume r" in told.err
    looks = lines_of(told.out)
    assert {look["state"] for look in looks} == {"interrupted"}
    assert len(looks) > 1, "it waited"
    assert all(look["slots"] == [] for look in looks), "nobody runs anything"
    assert weft("watch", "r", "--once").code == 0
    assert weft("resume", "r").code == 0
    assert weft("watch", "r").code == 0


def test_watch_goes_on_when_a_run_is_resumed(weft: Weft, tmp_path: Path) -> None:
    kill_in_the_middle(tmp_path)
    argv = [*COMMAND, "watch", "r", "--interval", "0.05", "--patience", "60"]
    with subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as watcher:
        assert watcher.stdout is not None
        first = json.loads(watcher.stdout.readline())
        assert weft("resume", "r").code == 0
        rest = lines_of(watcher.stdout.read())
        assert watcher.wait(LIMIT_S) == 0
    assert first["state"] == "interrupted"
    assert rest[-1]["state"] == "finished"
    assert "running" in {look["state"] for look in rest}


def test_watch_ctrl_c_leaves_the_run_alone(weft: Weft, tmp_path: Path) -> None:
    write_slow(tmp_path, 0.1)
    with slow_run(tmp_path) as process:
        argv = [*COMMAND, "watch", "r", "--interval", "0.1"]
        with subprocess.Popen(argv, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as watcher:
            assert watcher.stdout is not None
            assert json.loads(watcher.stdout.readline())["state"] == "running"
            watcher.send_signal(signal.SIGINT)
            assert watcher.wait(LIMIT_S) == 0
        assert process.wait(LIMIT_S) == 0
    assert weft("status", "r", "--json").json["state"] == "finished"


def test_watch_reader_that_leaves_ends_it_quietly(tmp_path: Path) -> None:
    write_slow(tmp_path, 0.1)
    with slow_run(tmp_path):
        argv = [*COMMAND, "watch", "r", "--interval", "0.05"]
        with subprocess.Popen(
            argv, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        ) as watcher:
            assert watcher.stdout is not None
            assert watcher.stderr is not None
            watcher.stdout.readline()
            watcher.stdout.close()
            assert watcher.wait(LIMIT_S) == 1
            assert watcher.stderr.read() == b""


def on_terminal(folder: Path, *words: str, columns: int = 100) -> tuple[int, str]:
    """Run a command on a terminal of its own; return its exit code and all it drew."""
    here, there = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k not in ("CI", "NO_COLOR")}
    env |= {"TERM": "xterm-256color", "COLUMNS": str(columns), "LINES": "30"}
    with subprocess.Popen(
        [*COMMAND, *words], cwd=folder, env=env, stdin=there, stdout=there, stderr=there
    ) as process:
        os.close(there)
        drawn = b""
        while select.select([here], [], [], LIMIT_S)[0]:
            try:
                data = os.read(here, 65536)
            except OSError:  # the last process on the terminal has gone
                break
            drawn += data
        code = process.wait(LIMIT_S)
    os.close(here)
    return code, re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", drawn.decode())


def test_watch_on_a_terminal_draws_progress_slots_and_events(tmp_path: Path) -> None:
    write_slow(tmp_path, 0.2)
    with slow_run(tmp_path):
        code, drawn = on_terminal(tmp_path, "watch", "r", "--interval", "0.05")
    assert code == 0, drawn
    for text in (
        "search  slow:slow",
        "running",
        "━",
        "of 48",
        "left",
        "slot    local",
        "slow:wait",
    ):
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

"""Ctrl-C in a script: one line, exit code 130, nothing lost; a script can still catch it."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

TASKS = 40
LIMIT_S = 60.0


def start(place: Path, environment: dict[str, str], *words: str) -> subprocess.Popen[str]:
    """Start the script; wait until its first tasks have ended and others are running."""
    process = subprocess.Popen(
        [sys.executable, "napping.py", str(TASKS), "run", *words],
        cwd=place, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    deadline_s = time.monotonic() + LIMIT_S
    while _states(place / "run").get("completed", 0) < 5:
        assert process.poll() is None
        assert time.monotonic() < deadline_s
        time.sleep(0.02)
    return process


def _states(run: Path) -> dict[str, int]:
    """The number of tasks per state, as far as committed."""
    try:
        manifest = sqlite3.connect(f"file:{run / 'manifest.sqlite'}?mode=ro", uri=True)
    except sqlite3.OperationalError:
        return {}
    try:
        return dict(manifest.execute("SELECT state, count(*) FROM tasks GROUP BY state"))
    except sqlite3.OperationalError:
        return {}
    finally:
        manifest.close()


def resume(place: Path, environment: dict[str, str]) -> str:
    """Finish the run with the command that the message names; return its head."""
    (place / "hold").unlink()
    words = [sys.executable, "-m", "weft", "resume", "run", "-q"]
    result = subprocess.run(words, cwd=place, env=environment, capture_output=True, text=True)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()[-1].split()[2]


@pytest.fixture
def whole_head(place: Path, environment: dict[str, str]) -> str:
    """The head of the same run without an interruption."""
    (place / "hold").unlink()
    words = [sys.executable, "napping.py", str(TASKS), "whole"]
    result = subprocess.run(words, cwd=place, env=environment, capture_output=True, text=True)
    (place / "hold").touch()
    return result.stdout.split()[1]


def test_interrupt_is_one_line_and_the_run_goes_on_by_resume(
    place: Path, environment: dict[str, str], whole_head: str
) -> None:
    process = start(place, environment)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LIMIT_S)
    assert err.splitlines() == [
        "weft: interrupted after 5 tasks; no completed task is lost; weft resume run"
    ]
    assert (out, process.returncode) == ("", 130)
    assert resume(place, environment) == whole_head


def test_two_interrupts_are_one_line_too(place: Path, environment: dict[str, str]) -> None:
    process = start(place, environment)
    process.send_signal(signal.SIGINT)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=LIMIT_S)
    [line] = err.splitlines()
    assert line.startswith("weft: interrupted")
    assert line.endswith("no completed task is lost; weft resume run")
    assert process.returncode == 130


def test_interrupt_that_the_script_catches_is_its_own(
    place: Path, environment: dict[str, str]
) -> None:
    process = start(place, environment, "--caught")
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=LIMIT_S)
    assert (out, err, process.returncode) == ("caught Interrupted\n", "", 0)


def test_other_errors_keep_their_traceback_and_hook(tmp_path: Path) -> None:
    code = """
import sys, weft
from pathlib import Path
from weft.runs.interruption import interruptible
sys.excepthook = lambda *error: print("own hook", error[0].__name__)
for number in range(2):
    try:
        with interruptible(Path("nowhere")):
            raise KeyboardInterrupt
    except weft.Interrupted as interrupted:
        print(interrupted)
1 / 0
"""
    words = [sys.executable, "-c", code]
    result = subprocess.run(words, cwd=tmp_path, env=os.environ, capture_output=True, text=True)
    line = "interrupted; no completed task is lost"  # there is no run to resume
    assert result.stdout.splitlines() == [line, line, "own hook ZeroDivisionError"]
    assert (result.stderr, result.returncode) == ("", 1)


def test_interrupt_on_the_way_out_is_the_same_line(tmp_path: Path) -> None:
    code = """
import weft
from pathlib import Path
from weft.runs.interruption import interruptible
try:
    with interruptible(Path("nowhere")):
        raise KeyboardInterrupt
finally:
    raise KeyboardInterrupt
"""
    words = [sys.executable, "-c", code]
    result = subprocess.run(words, cwd=tmp_path, env=os.environ, capture_output=True, text=True)
    assert result.stderr == "weft: interrupted; no completed task is lost\n"
    assert result.returncode == 130

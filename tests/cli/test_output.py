"""Output to a terminal, a pipe and a build server: bars and colour only where they belong."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import SMALL, Weft, write_slow
from tests.support.commands import COMMAND
from tests.support.waiting import HANG_S

COLOUR = re.compile(r"\x1b\[[0-9;]*3[0-9][0-9;]*m")
CONTROL = "\x1b["
RUN = ("run", "slow.py:slow", "--args", '{"rounds": 4}', "--out")


def on_terminal(folder: Path, *words: str, **env: str) -> str:
    """Run a command whose stdout and stderr are a terminal; return everything it displayed."""
    ours, theirs = pty.openpty()
    base = {k: v for k, v in os.environ.items() if k not in ("CI", "NO_COLOR", "FORCE_COLOR")}
    process = subprocess.Popen(
        [*COMMAND, *words], cwd=folder, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
        env={**base, "TERM": "xterm-256color", "COLUMNS": "100", **env},
    )  # fmt: skip
    os.close(theirs)
    output = b""
    while chunk := _read(ours):
        output += chunk
    os.close(ours)
    assert process.wait(timeout=HANG_S) == 0, output
    return output.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:  # how Linux reports that the other end is closed
        return b""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "small.py").write_text(SMALL)
    write_slow(tmp_path, 0.05)
    return tmp_path


def test_terminal_gets_a_bar_in_colour(folder: Path) -> None:
    output = on_terminal(folder, *RUN, "one")
    assert COLOUR.search(output)
    assert "answer" in output


def test_no_color_keeps_the_bar_without_colour(folder: Path) -> None:
    output = on_terminal(folder, *RUN, "one", NO_COLOR="1")
    assert CONTROL in output, "a bar moves the cursor"
    assert not COLOUR.search(output)


@pytest.mark.parametrize("ci", ["true", "1"])
def test_ci_gets_neither_bar_nor_colour(folder: Path, ci: str) -> None:
    assert CONTROL not in on_terminal(folder, *RUN, "one", CI=ci)


def test_quiet_prints_the_answer_alone(folder: Path) -> None:
    output = on_terminal(folder, *RUN, "one", "-q")
    assert CONTROL not in output
    lines = output.replace("\r", "").splitlines()
    assert [line.split()[0] for line in lines] == ["answer", "tasks", "head"]


def test_pipe_gets_data_on_stdout_and_nothing_on_stderr(weft: Weft) -> None:
    for words in (("-q",), (), ("--json",)):
        result = weft("run", "small.py:squares", "--out", "run", *words)
        assert (result.code, result.err) == (0, "")
        assert result.out
        assert CONTROL not in result.out


def test_errors_are_told_even_when_quiet(weft: Weft) -> None:
    weft("run", "small.py:nothing", "--out", "run", "-q").check_one_line(3, "nothing")


# -- completion ----------------------------------------------------------------------------------


def completed(*words: str) -> list[str]:
    """The words that bash offers as completions of the last word."""
    line = {"COMP_WORDS": " ".join(("weft", *words)), "COMP_CWORD": str(len(words))}
    result = subprocess.run(
        COMMAND, env={**os.environ, **line, "_WEFT_COMPLETE": "complete_bash"},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return result.stdout.split()


def test_shell_completes_commands_groups_and_options() -> None:
    assert completed("sta") == ["status"]
    assert completed("arc", "so") == ["solve"]
    assert completed("run", "--wor") == ["--workers"]
    assert {"serve", "pack", "report", "jobs"} <= set(completed(""))


def test_completion_script_names_the_program() -> None:
    env = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}
    result = subprocess.run(
        [*COMMAND, "--show-completion", "bash"], env=env, capture_output=True, text=True, check=True
    )
    assert "complete -o default -F _weft_completion weft" in result.stdout
    assert sys.executable not in result.stdout


@pytest.mark.parametrize("closed", ["0", "1", "2"])
def test_closed_stream_is_no_error(folder: Path, closed: str) -> None:
    """The number of a closed stream must not be reused for a file of the run."""
    words = " ".join(COMMAND)
    line = f"{words} run small.py:squares --out closed{closed} -q {closed}>&-"
    result = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True)
    assert (result.returncode, result.stderr) == (0, "")
    assert (result.stdout == "") == (closed == "1")
    assert subprocess.run([*COMMAND, "verify", f"closed{closed}"], cwd=folder).returncode == 0

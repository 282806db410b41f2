"""What `weft.run` displays: a line that is replaced in a real terminal, nothing elsewhere."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

CLEAR = "\r\x1b[2K"
TASKS = 8


class Terminal:
    """A script whose stderr is a terminal and whose stdout is a pipe."""

    def __init__(self, place: Path, environment: dict[str, str], *words: str) -> None:
        self._master, slave = pty.openpty()
        command = [sys.executable, "napping.py", str(TASKS), "run", *words]
        self.process = subprocess.Popen(
            command, cwd=place, env=environment, stdout=subprocess.PIPE, stderr=slave, text=True
        )
        os.close(slave)
        self.text = ""

    def read_until(self, words: str) -> None:
        """Wait until the terminal has shown the text."""
        while words not in self.text:
            assert self._read(), self.text

    def end(self) -> str:
        """Wait for the script to end; return its stdout."""
        while self._read():
            pass
        out, _ = self.process.communicate()
        os.close(self._master)
        return out

    def _read(self) -> bool:
        try:
            chunk = os.read(self._master, 4096)
        except OSError:  # on Linux: the other end is closed
            return False
        self.text += chunk.decode()
        return bool(chunk)


def test_terminal_shows_one_line_that_is_gone_at_the_end(
    place: Path, environment: dict[str, str]
) -> None:
    terminal = Terminal(place, environment)
    terminal.read_until("5/8 naps, best 4")
    (place / "hold").unlink()
    out = terminal.end()
    assert terminal.process.returncode == 0
    assert out.startswith("8 ")
    assert "\n" not in terminal.text
    assert terminal.text.startswith(CLEAR)
    assert terminal.text.endswith(CLEAR)
    assert all(len(line) < 80 for line in terminal.text.split(CLEAR))


def test_line_is_cut_to_the_width_of_the_terminal(place: Path, environment: dict[str, str]) -> None:
    terminal = Terminal(place, {**environment, "COLUMNS": "16"})
    terminal.read_until("5/8 naps, best ")
    (place / "hold").unlink()
    terminal.end()
    assert {len(line) < 16 for line in terminal.text.split(CLEAR)} == {True}


@pytest.mark.parametrize(
    ("words", "variables"),
    [(["--quiet"], {}), ([], {"CI": "true"}), ([], {"TERM": "dumb"})],
)
def test_terminal_shows_nothing_when_it_should_not(
    place: Path, environment: dict[str, str], words: list[str], variables: dict[str, str]
) -> None:
    (place / "hold").unlink()
    terminal = Terminal(place, {**environment, **variables}, *words)
    assert terminal.end().startswith("8 ")
    assert terminal.text == ""

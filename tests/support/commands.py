"""Commands of `weft` and their output: in this process, or in separate ones."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.support.forked import ForkServer
from weft import main

COMMAND = [sys.executable, "-m", "weft.main"]


@dataclass(frozen=True, slots=True)
class Told:
    """Output and exit code of a command."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """stdout, which must be a single JSON object."""
        return json.loads(self.out)

    def check_one_line(self, code: int, *words: str) -> None:
        """Check that the command failed with `code` and one line on stderr with all of `words`."""
        assert self.code == code, self
        assert self.out == "", self
        assert self.err.startswith("weft: "), self
        assert self.err.endswith("\n"), self
        assert self.err[:-1].isprintable(), self
        assert len(self.err) < 1000, self
        for word in words:
            assert word in self.err, self


def run_here(capture: Any, *words: object) -> Told:
    """Run a command in this process; `capture` is pytest's."""
    capture.readouterr()
    code = main._exit_code([str(word) for word in words])
    printed = capture.readouterr()
    return Told(code, printed.out, printed.err)


def run_apart(cwd: Path, *words: object, timeout_s: float = 280, **env: str) -> Told:
    """Run a command in a new process."""
    result = subprocess.run(
        [*COMMAND, *map(str, words)],
        cwd=cwd,
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=timeout_s,
        stdin=subprocess.DEVNULL,
    )
    return Told(result.returncode, result.stdout, result.stderr)


class ForkedCommands:
    """Commands in separate processes, forked from one that has loaded weft."""

    def __init__(self, *modules: str) -> None:
        self._server = ForkServer(*modules)

    def __call__(self, cwd: Path, *words: object) -> Told:
        """Run a command with the current environment."""
        return Told(*self._server.run([str(word) for word in words], cwd, os.environ))

    def close(self) -> None:
        """Stop the process from which they fork."""
        self._server.close()

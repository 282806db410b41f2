"""The supervisor's side of a sandbox: a failure of bubblewrap is not the command's failure.

    supervisor ── one byte in a pipe ──► bubblewrap reads it last, just before it executes

If the byte is still there when all processes have ended, the sandbox was never complete. Programs
are checked beforehand, since bubblewrap exits with code 1 for one that it cannot execute.
"""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

FAILED = 1
"""Exit code of bubblewrap when bubblewrap itself fails."""
NOT_FOUND = 127
UNEXECUTED = "bwrap: execvp "
"""How bubblewrap's message about a program that it could not execute begins."""
HEAD_BYTES = 256
TAIL_BYTES = 500


class Confinement:
    """The arguments that confine a command, and the pipe that shows whether they took effect."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self._reader = -1
        if words:
            self._reader, writer = os.pipe()
            os.write(writer, b".")
            os.close(writer)

    def hand_over(self, number: int) -> list[str]:
        """In the command's process: move the pipe to descriptor `number`; return the arguments."""
        if not self.words:
            return []
        os.dup2(self._reader, number)
        return [*self.words, "--block-fd", str(number), "--"]

    def started(self) -> None:
        """In the supervisor: prevent other commands from inheriting our end."""
        if self.words:
            os.set_inheritable(self._reader, False)

    def is_incomplete(self) -> bool:
        """Whether the sandbox was not set up; called once no process of the command is left."""
        if not self.words:
            return False
        os.set_blocking(self._reader, False)
        with contextlib.suppress(BlockingIOError):
            return bool(os.read(self._reader, 1))
        return False

    def close(self) -> None:
        """Close the pipe."""
        if self.words:
            os.close(self._reader)


def check_program(path: str, name: str) -> None:
    """Raise the error that executing a file would raise, as far as it can be predicted."""
    if "/" not in path:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    if Path(path).is_dir() or (os.path.exists(path) and not os.access(path, os.X_OK)):  # noqa: PTH110 - no object per command
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            head = file.read(HEAD_BYTES)
    except PermissionError:  # executable, but not readable
        return
    except FileNotFoundError as error:
        raise FileNotFoundError(errno.ENOENT, error.strerror, name) from None
    if head.startswith(b"#!"):
        words = head[2:].partition(b"\n")[0].split()
        if not words or not os.path.exists(words[0]):  # noqa: PTH110 - as above
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    elif not head.startswith(b"\x7fELF"):
        raise OSError(errno.ENOEXEC, os.strerror(errno.ENOEXEC), name)


def last_line(path: str) -> str:
    """Return the last line of a log, or its end if it is long; empty if there is none."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1] if lines else ""

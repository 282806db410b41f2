"""The supervisor's side of a sandbox: what bubblewrap could not do is not the command's failure.

    supervisor ── one byte in a pipe ──► bubblewrap reads it last, just before it executes

A byte that is still there when all has ended says that the sandbox was never complete. Programs
are checked before, since bubblewrap reports one that it cannot execute with exit code 1.
"""

from __future__ import annotations

import contextlib
import errno
import os
from pathlib import Path

FAILED = 1
"""Exit code of bubblewrap when it could not do what it was asked to."""
NOT_FOUND = 127
UNEXECUTED = "bwrap: execvp "
"""How bubblewrap begins its report on a program that it could not execute."""
HEAD_BYTES = 256
TAIL_BYTES = 500


class Confinement:
    """The words that confine a command, and the pipe that tells whether they were obeyed."""

    def __init__(self, words: list[str]) -> None:
        self.words = words
        self._reader = -1
        if words:
            self._reader, writer = os.pipe()
            os.write(writer, b".")
            os.close(writer)

    def hand_over(self, number: int) -> list[str]:
        """In the command's process: put the pipe at that descriptor; return what to execute."""
        if not self.words:
            return []
        os.dup2(self._reader, number)
        return [*self.words, "--block-fd", str(number), "--"]

    def started(self) -> None:
        """In the supervisor: other commands must not inherit our end."""
        if self.words:
            os.set_inheritable(self._reader, False)

    def is_incomplete(self) -> bool:
        """Whether the sandbox was not set up; asked once no process of the command is left."""
        if not self.words:
            return False
        os.set_blocking(self._reader, False)
        with contextlib.suppress(BlockingIOError):
            return bool(os.read(self._reader, 1))
        return False

    def close(self) -> None:
        """Forget the pipe."""
        if self.words:
            os.close(self._reader)


def check_program(path: str, name: str) -> None:
    """Raise what executing a file would raise, as far as that can be seen before."""
    if "/" not in path:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), name)
    if Path(path).is_dir() or (os.path.exists(path) and not os.access(path, os.X_OK)):  # noqa: PTH110 - no object per command
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), name)
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            head = file.read(HEAD_BYTES)
    except PermissionError:  # it may be executed, not read
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
    """Return the last line of a log, or what there is of it."""
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as above
            file.seek(max(0, file.seek(0, os.SEEK_END) - TAIL_BYTES))
            lines = file.read().decode("utf-8", "replace").strip().splitlines()
    except OSError:
        return ""
    return lines[-1] if lines else ""

"""Copies each task's output from the worker's log into a separate log.

Finding the end of the log is one cheap call; most tasks print nothing and get no file. Workers
run unbuffered (`python -u`), so all output of a task is in the log when the task ends.
"""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

MAX_LOG_BYTES = 1 << 24


class OwnOutput:
    """The worker's log, shared by its standard output and error; opened in append mode."""

    def __init__(self, logs: Path) -> None:
        self._logs = logs
        self.end = os.lseek(1, 0, os.SEEK_END)
        """End of the log when the last task ended."""

    def save(self, key: str, attempt: int) -> str:
        """Save new output as logs/<key>/<attempt>.log; return the path relative to logs.

        If the disk is full, the log is lost; the result is not.
        """
        name = f"{key}/{attempt}.log"
        with contextlib.suppress(OSError):
            start, self.end = self.end, os.lseek(1, 0, os.SEEK_CUR)
            (self._logs / key).mkdir(exist_ok=True)
            with Path("/dev/fd/1").open("rb") as log:
                log.seek(start)
                text = log.read(min(self.end - start, MAX_LOG_BYTES))
            (self._logs / name).write_bytes(text)
        return name

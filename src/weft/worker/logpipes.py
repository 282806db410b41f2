"""The logs of a command with secrets: they pass through the supervisor, which redacts the values.

    command ── pipe ──► supervisor ── redacted ──► logs/<task>/<attempt>.out and .log

A command without secrets writes to its logs directly.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping

from weft.worker.redaction import RedactedStream, Secrets

_MODE = os.O_WRONLY | os.O_CREAT | os.O_APPEND
_READ_BYTES = 1 << 16


class LogPipe:
    """One stream of a command: our end, its end, and the file."""

    def __init__(self, path: str, secrets: Secrets) -> None:
        self.reader, self.writer = os.pipe()
        os.set_blocking(self.reader, False)
        self._file = os.open(path, _MODE, 0o644)
        self._stream = RedactedStream(secrets)

    def receive(self) -> bool:
        """Store what has been written; return False once all writers have closed the pipe."""
        while True:
            try:
                data = os.read(self.reader, _READ_BYTES)
            except BlockingIOError:
                return True
            self._store(self._stream.feed(data) if data else self._stream.end())
            if not data:
                return False

    def close(self) -> None:
        """Store what is left and close the files."""
        self.receive()
        os.close(self.reader)
        os.close(self._file)

    def _store(self, data: bytes) -> None:
        with contextlib.suppress(OSError):  # a full disk, which is detected elsewhere
            while data:
                data = data[os.write(self._file, data) :]


class CommandLogs:
    """The destinations of a command's stdout and stderr."""

    def __init__(self, stdout: str, stderr: str, secrets: Mapping[str, str]) -> None:
        self._paths = (stdout, stderr)
        known = Secrets(secrets)
        self._pipes = [LogPipe(path, known) for path in self._paths] if known else []
        self._open = list(self._pipes)

    def hand_over(self) -> None:
        """In the command's process: install them as descriptors 1 and 2."""
        for number, path in enumerate(self._paths, start=1):
            target = self._pipes[number - 1].writer if self._pipes else os.open(path, _MODE, 0o644)
            os.dup2(target, number)

    def started(self) -> None:
        """Close the command's ends, which only the command holds from now on."""
        for pipe in self._pipes:
            os.close(pipe.writer)

    def readable(self) -> list[int]:
        """Return the descriptors to wait for."""
        return [pipe.reader for pipe in self._open]

    def receive(self) -> None:
        """Store everything written so far."""
        self._open = [pipe for pipe in self._open if pipe.receive()]

    def close(self) -> None:
        """Store the rest, once no process of the command is left."""
        for pipe in self._pipes:
            pipe.close()

"""Files of a search that outlive its runs, such as a bank of concepts or an index of ideas.

They survive a crash: a file is replaced atomically, and a line that was reported as written is
durable. Several processes may append to one log; a line torn by a crash remains a separate line.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from weft.storage.disk import Disk


def replace_file(path: Path, data: bytes) -> None:
    """Replace the file at `path` by `data`, atomically."""
    Disk().replace(path, data)


class LineLog:
    """An append-only file of lines."""

    def __init__(self, path: Path) -> None:
        self._path, self._disk = path, Disk()

    def lines(self) -> list[bytes]:
        """Return every line, torn ones too; none if there is no file."""
        return self._path.read_bytes().split(b"\n") if self._path.is_file() else []

    def append(self, choose: Callable[[], Sequence[str]]) -> int:
        """Append the lines that `choose` returns while the file is locked; return how many."""
        self._disk.make_folder(self._path.parent)
        with self._locked() as fd:
            lines = choose()
            size = os.fstat(fd).st_size
            is_torn = size > 0 and os.pread(fd, 1, size - 1) != b"\n"
            if lines:
                text = "".join(f"{line}\n" for line in lines)
                self._disk.append(fd, b"\n" * is_torn + text.encode())
                self._disk.sync(fd)
        self._disk.sync_folder(self._path.parent)
        return len(lines)

    @contextmanager
    def _locked(self) -> Iterator[int]:
        """Lock the file for appending; other writers wait."""
        fd = os.open(self._path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(fd, fcntl.LOCK_EX)
            yield fd
        finally:
            os.close(fd)

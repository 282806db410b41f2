"""Disk space reserved in a run's folder, so that a run can stop cleanly when the disk is full.

A file of `RESERVE_BYTES` without content. When space is short it is deleted, and the last commit,
the ledger and the checkpoint are written to the space it held.
"""

from __future__ import annotations

import errno
import os
import shlex
from pathlib import Path

from weft.errors import StorageFailed
from weft.worker.space import NO_ROOM, RESERVE_BYTES, shortage

NAME = ".reserve"


class Reserve:
    """The reserve of one run folder."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / NAME

    def take(self) -> None:
        """Reserve the space; raises `StorageFailed` if there is not enough."""
        fd = os.open(self._file, os.O_WRONLY | os.O_CREAT, 0o644)
        try:
            os.posix_fallocate(fd, 0, RESERVE_BYTES)
        except OSError as error:
            if error.errno == errno.EOPNOTSUPP:  # not every file system can reserve space
                return
            self.release()
            if error.errno not in NO_ROOM:
                raise
            raise StorageFailed(
                f"{self._folder}: short of space, not even {RESERVE_BYTES // 1024} KiB are free",
                hint=f"free some, then: weft resume {shlex.quote(str(self._folder))}",
            ) from error
        finally:
            os.close(fd)

    def shortage(self) -> str:
        """Return what the run's file system is short of; empty if nothing."""
        return shortage(self._folder)

    def release(self) -> None:
        """Return the space to the file system."""
        self._file.unlink(missing_ok=True)

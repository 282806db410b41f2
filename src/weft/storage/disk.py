"""The few durable operations that everything else is built on.

They are in one place, so that the simulator can crash between any two of them (`step`), and so
that no fsync is retried after a failure: an error here stops the run, and recovery checks again.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable
from pathlib import Path


class Disk:
    """Real files. A subclass may override `step` to crash before any durable operation."""

    def __init__(self) -> None:
        self._durable_folders: set[Path] = set()

    def step(self, name: str) -> None:
        """Mark that the durable operation `name` is about to happen."""

    def append(self, fd: int, data: bytes) -> None:
        """Write all of `data` at the end of an append-only file; short writes are continued."""
        self.step("append")
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]

    def sync(self, fd: int) -> None:
        """Flush a file's data to disk."""
        self.step("sync")
        os.fdatasync(fd)

    def truncate(self, fd: int, size_bytes: int) -> None:
        """Truncate a file to `size_bytes`, durably."""
        self.step("truncate")
        os.ftruncate(fd, size_bytes)
        os.fsync(fd)

    def commit(self, connection: sqlite3.Connection) -> None:
        """Commit the open transaction (synchronous=FULL: it is on disk when this returns)."""
        self.step("commit")
        connection.commit()

    def sync_folder(self, folder: Path) -> None:
        """Flush a folder's entries to disk."""
        self.step("sync-folder")
        fd = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(fd)
        finally:
            os.close(fd)

    def make_folder(self, folder: Path) -> None:
        """Create a folder and its missing parents, durably.

        An existing folder is synced as well: its creator may have died before it could do so.
        """
        if folder in self._durable_folders:
            return
        missing = [p for p in folder.parents if not p.exists()]
        for path in (*reversed(missing), folder):
            path.mkdir(exist_ok=True)
            self.sync_folder(path.parent)
        self._durable_folders.add(folder)

    def replace(self, path: Path, data: bytes, *, mode: int = 0o644) -> None:
        """Write `data` to `path` atomically and durably: temp, fsync, rename, fsync folder."""
        self.replace_with(path, (data,), mode=mode)

    def replace_with(self, path: Path, pieces: Iterable[bytes], *, mode: int) -> None:
        """Write pieces of data to `path`, as `replace` does."""
        temporary = path.with_name(path.name + ".tmp")
        self.step("write-temp")
        fd = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, mode)
        try:
            for data in pieces:
                view = memoryview(data)
                while view:
                    view = view[os.write(fd, view) :]
            os.fsync(fd)
        finally:
            os.close(fd)
        self.rename(temporary, path)

    def rename(self, source: Path, target: Path) -> None:
        """Move a synced file to its final name, durably."""
        self.step("rename")
        source.replace(target)
        self.sync_folder(target.parent)

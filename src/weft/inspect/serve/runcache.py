"""Caches what pages read of runs: a run is read again only when its files have changed.

A *stamp* is the file system's metadata of a run's files, with SQLite's own change counter: two
commits may fall into one tick of the file system's clock.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Generic, TypeVar

from weft.inspect.access import is_locked
from weft.storage.folder import RunFolder
from weft.storage.plainfile import open_plain

MAX_RUNS = 500
Stamp = tuple[object, ...]
T = TypeVar("T")


def stamp(run: Path) -> Stamp:
    """Return a value that identifies the state of a run's files; equal while nothing is written."""
    folder = RunFolder(run)
    wal = folder.manifest.with_name(f"{folder.manifest.name}-wal")
    files = (folder.run_toml, folder.ledger, folder.checkpoint, folder.manifest, wal)
    return (tuple(map(_file_stamp, files)), _changes(folder.manifest), is_locked(folder))


def _file_stamp(path: Path) -> tuple[int, ...]:
    try:
        status = path.stat()
    except OSError:
        return ()
    return (status.st_mtime_ns, status.st_size, status.st_mode, status.st_ino)


def _changes(manifest: Path) -> bytes:
    """Read the header of the wal-index, which holds a counter (sqlite.org/walformat.html §2.1)."""
    try:
        with open_plain(manifest.with_name(f"{manifest.name}-shm")) as file:
            return file.read(48)
    except OSError:
        return b""


@dataclass(slots=True)
class RunCache(Generic[T]):
    """The result of `read` for each run, valid until the run's stamp changes.

    Threads that ask for a run at the same time share one read.
    """

    read: Callable[[Path], T]
    most: int = MAX_RUNS
    """Maximum number of runs in the cache."""
    _entries: dict[Path, tuple[Stamp, T]] = field(default_factory=dict)
    _locks: dict[Path, threading.Lock] = field(default_factory=dict)

    def get(self, run: Path) -> T:
        """Return the result for a run as it is now; reads only if the run has changed."""
        if len(self._entries) >= self.most and run not in self._entries:
            self._entries.clear()
        with self._locks.setdefault(run, threading.Lock()):
            now = stamp(run)
            entry = self._entries.get(run)
            if entry is not None and entry[0] == now:
                return entry[1]
            result = self.read(run)
            # Reading a killed run rebuilds SQLite's wal-index, although nothing was written.
            after = stamp(run)
            self._entries[run] = (after if after[0] == now[0] else now, result)
            return result

    def peek(self, run: Path) -> T | None:
        """Return the last result if it is still valid; never reads."""
        entry = self._entries.get(run)
        return entry[1] if entry is not None and entry[0] == stamp(run) else None

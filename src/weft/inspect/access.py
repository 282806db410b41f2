"""Opens a run's files read-only and reports problems with them as Weft errors.

Does not judge their contents; `verify` does. A manifest with inconsistent rows raises
`ManifestDamaged` wherever a reader encounters them.
"""

from __future__ import annotations

import fcntl
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weft.errors import FileInvalid, ManifestDamaged, StorageFailed
from weft.ledger.records import Record, parse
from weft.storage.connection import WORLD_WORDS
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.ledgerfile import count_lines, parse_at, whole_lines
from weft.storage.manifest import Manifest
from weft.storage.plainfile import is_plain_file, open_plain, read_plain

MANIFEST_HINT = "move it away; weft resume rebuilds it as far as the ledger reaches"
_ROW_ERRORS = (
    AssertionError, AttributeError, KeyError, OverflowError, RecursionError, TypeError, ValueError,
)  # fmt: skip
"""Exceptions that our own code raises on rows that no coordinator wrote."""


@contextmanager
def run_named(path: Path) -> Iterator[None]:
    """Convert an `OSError` to a `FileInvalid` that names the file in one line."""
    try:
        yield
    except OSError as error:
        raise FileInvalid(f"{error.filename or path}: {error.strerror or error}") from error


@contextmanager
def open_manifest(folder: RunFolder) -> Iterator[Manifest]:
    """Open the manifest read-only, as one snapshot.

    Raises `ManifestDamaged` for a damaged file or damaged rows, also within the `with` block.
    """
    manifest: Manifest | None = None
    try:
        manifest = Manifest.open(folder.manifest, Disk(), read_only=True)
        yield manifest
    except sqlite3.Error as error:
        raise _sqlite_error(folder.manifest, error) from error
    except _ROW_ERRORS as error:
        reason = f"rows that contradict each other ({type(error).__name__}: {error!s:.80})"
        raise ManifestDamaged(f"{folder.manifest.name}: {reason}", hint=MANIFEST_HINT) from error
    finally:
        if manifest is not None:
            manifest.close()


def _sqlite_error(path: Path, error: sqlite3.Error) -> StorageFailed | ManifestDamaged:
    if isinstance(error, sqlite3.OperationalError) and any(w in str(error) for w in WORLD_WORDS):
        return StorageFailed(f"{path}: {error}", hint="try again in a moment")
    return ManifestDamaged(f"{path.name}: {error}", hint=MANIFEST_HINT)


def state_of(folder: RunFolder) -> str:
    """Return `finished`, `running` or `interrupted`.

    The lock is checked before the end of the ledger: a coordinator finishes, then releases its
    lock, so in the other order a run that finishes in between could appear interrupted.
    """
    at_work = is_locked(folder)
    if folder.is_finished():
        return "finished"
    return "running" if at_work else "interrupted"


def is_locked(folder: RunFolder) -> bool:
    """Whether a coordinator is working on the run; does not touch its lock if possible."""
    lock = folder.path / ".lock"
    if not is_plain_file(lock):
        return False
    inodes = _held_inodes()
    if inodes is not None and lock.stat().st_ino in inodes:
        return True
    if inodes is not None and _owner_is_gone(folder.path / ".owner"):
        return False
    return _probe(lock)  # the holder may be invisible from here, for example in another container


def _held_inodes() -> set[int] | None:
    """Return the inodes with a kernel file lock (proc_locks(5)); None if they are not listed."""
    try:
        lines = Path("/proc/locks").read_text("ascii").splitlines()
    except OSError:
        return None
    words = [line.split() for line in lines]
    places = [w[5].rpartition(":")[2] for w in words if len(w) == 8 and w[1] == "FLOCK"]
    return {int(inode) for inode in places if inode.isdigit()}


def _owner_is_gone(path: Path) -> bool:
    """Whether the last holder was a process on this machine that no longer exists."""
    try:
        owner = json.loads(read_plain(path))
        if owner["host"] != os.uname().nodename:
            return False
        os.kill(int(owner["pid"]), 0)
    except ProcessLookupError:
        return True
    except (OSError, ValueError, KeyError, TypeError, OverflowError):
        return False
    return False


def _probe(lock: Path) -> bool:
    """Whether a coordinator holds the lock, tested by briefly trying to share it."""
    with open_plain(lock) as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def records_named(path: Path, prefix: str) -> Iterator[Record]:
    """Yield every record whose key begins with `prefix`, without parsing the others."""
    mark = f'"key":"{prefix}'.encode()
    for seq, line in enumerate(whole_lines(path)):
        if mark not in line:
            continue
        record = parse_at(line, seq)
        if record.key.startswith(prefix):
            yield record


def count_records(run: Path) -> int:
    """Return the number of records in a run's ledger so far; 0 if there is no ledger."""
    return count_lines(RunFolder(run).ledger)


def last_record(path: Path) -> Record | None:
    """Return the last whole record, reading only the end of the file."""
    if not is_plain_file(path):
        return None
    with open_plain(path) as file:
        size, step, tail = file.seek(0, os.SEEK_END), 1 << 16, b""
        while tail.count(b"\n") < 2 and len(tail) < size:
            file.seek(max(0, size - step))
            tail, step = file.read(), step * 4
    whole = tail.rpartition(b"\n")[0]
    return parse(whole.rpartition(b"\n")[2]) if whole else None

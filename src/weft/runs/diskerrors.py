"""Turns file system errors of a run into one line that states whose they are and what to do."""

from __future__ import annotations

import errno
import shlex
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from weft.errors import SHORTAGES, ManifestDamaged, RunFolderInvalid, StorageFailed
from weft.storage.folder import RunFolder
from weft.worker.space import NO_ROOM

DISK_TROUBLE = (*NO_ROOM, errno.EIO)
"""Errors of the disk, not of the path that was given."""


@contextmanager
def path_named(folder: RunFolder) -> Iterator[None]:
    """Report in one line that a path cannot be a run folder: it is the caller's input."""
    try:
        yield
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        if getattr(error, "errno", None) in DISK_TROUBLE:
            raise StorageFailed(f"{folder.path}: {reason}", hint="free some space") from error
        raise RunFolderInvalid(
            f"{str(folder.path)[:200]!r} cannot be a run folder: {reason}",
            hint="choose another --out",
        ) from None


@contextmanager
def storage_named(path: Path) -> Iterator[None]:
    """Report a full or broken disk in one line; what was completed before is safe."""
    advice = f"then: weft resume {shlex.quote(str(path))}"
    disk = "free space or fix the disk"
    try:
        yield
    except OSError as error:
        short = "short of space: " if error.errno in NO_ROOM else ""
        hint = f"{SHORTAGES.get(error.errno or 0, disk)}, {advice}"
        raise StorageFailed(f"{path}: {short}{error.strerror or error}", hint=hint) from error
    except sqlite3.OperationalError as error:
        short = "short of space: " if "is full" in str(error) else ""
        hint = f"{disk}, {advice}"
        raise StorageFailed(f"{path}: {short}manifest.sqlite: {error}", hint=hint) from error
    except sqlite3.DatabaseError as error:
        hint = f"weft verify {shlex.quote(str(path))}"
        raise ManifestDamaged(f"{path}/manifest.sqlite: {error}", hint=hint) from error

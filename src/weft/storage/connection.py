"""Connections to a manifest, for its writer and for readers, and what SQLite's errors mean."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from weft.errors import ManifestDamaged
from weft.storage.schema import READABLE_VERSIONS, SCHEMA_VERSION, TABLE_NAMES

TIMEOUT_S = 1.0
"""How long to wait for a lock on the file; there is one writer, so only readers can hold it."""
WORLD_WORDS = ("locked", "disk", "unable to open")
"""Words of SQLite's messages that blame the environment; the file may be intact."""


@contextlib.contextmanager
def damage_named(path: Path) -> Iterator[None]:
    """Turn SQLite's errors about the file's content into `ManifestDamaged`."""
    try:
        yield
    except sqlite3.OperationalError as error:
        if any(word in str(error) for word in WORLD_WORDS):
            raise
        raise ManifestDamaged(f"{path.name}: {error}") from error
    except sqlite3.DatabaseError as error:
        raise ManifestDamaged(f"{path.name}: {error}") from error


def check_schema(db: sqlite3.Connection, path: Path) -> None:
    """Raise `ManifestDamaged` unless the file has a version and tables that can be read."""
    version = db.execute("SELECT value FROM meta WHERE name='schema_version'").fetchone()
    if version not in [(str(readable),) for readable in READABLE_VERSIONS]:
        raise ManifestDamaged(f"{path}: schema version {version} is not {SCHEMA_VERSION}")
    for table in TABLE_NAMES:
        db.execute(f"SELECT 1 FROM {table} LIMIT 0")  # noqa: S608 - raises where it is missing


def connect_writer(path: Path) -> sqlite3.Connection:
    """Open the manifest for its only writer; a commit returns once it is on disk."""
    return _connect(path, "mode=rw", "PRAGMA journal_mode=WAL", "PRAGMA synchronous=FULL")


def connect_reader(path: Path) -> sqlite3.Connection:
    """Open the manifest read-only; that of a finished run may be on a read-only disk."""
    live = path.with_name(path.name + "-wal").exists()
    mode = "mode=ro" if live else "mode=ro&immutable=1"
    return _connect(path, mode, "BEGIN")  # one snapshot for everything this reader queries


def _connect(path: Path, mode: str, *commands: str) -> sqlite3.Connection:
    db = sqlite3.connect(f"file:{_quoted(path)}?{mode}", uri=True, timeout=TIMEOUT_S)
    try:
        for command in commands:
            db.execute(command)
    except BaseException:
        db.close()
        raise
    return db


def _quoted(path: Path) -> str:
    return str(path.absolute()).replace("%", "%25").replace("?", "%3f").replace("#", "%23")

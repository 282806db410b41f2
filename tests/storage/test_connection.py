"""The meaning of SQLite's errors: a damaged file, or a failure around a file that may be sound."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.storage.manifests import GENESIS
from weft.errors import ManifestDamaged
from weft.storage.connection import connect_reader, connect_writer, damage_named
from weft.storage.disk import Disk
from weft.storage.manifest import Manifest

MANIFEST = Path("run/manifest.sqlite")


@pytest.mark.parametrize(
    "message", ["database is locked", "disk I/O error", "unable to open database file"]
)
def test_error_of_the_world_is_no_damage(message: str) -> None:
    with pytest.raises(sqlite3.OperationalError, match=f"^{message}$"), damage_named(MANIFEST):
        raise sqlite3.OperationalError(message)


@pytest.mark.parametrize("kind", [sqlite3.OperationalError, sqlite3.DatabaseError])
def test_error_about_the_contents_is_damage_that_names_the_file(kind: type[Exception]) -> None:
    words = r"^manifest\.sqlite: no such column: x$"
    with pytest.raises(ManifestDamaged, match=words), damage_named(MANIFEST):
        raise kind("no such column: x")


@pytest.mark.parametrize("is_live", [False, True])
def test_reader_can_write_nothing(is_live: bool, path: Path) -> None:
    writer = Manifest.create(path, Disk(), "id1", GENESIS)
    writer.commit()
    if not is_live:
        writer.finish()
        writer.close()
    with closing(connect_reader(path)) as reader:
        assert path.with_name(f"{path.name}-wal").exists() is is_live
        with pytest.raises(sqlite3.OperationalError, match="readonly"):
            reader.execute("DELETE FROM meta")
    if is_live:
        writer.close()


def test_connection_that_cannot_begin_is_none(path: Path) -> None:
    path.write_bytes(b"not a database at all" * 100)
    with pytest.raises(sqlite3.DatabaseError, match="not a database"):
        connect_writer(path)

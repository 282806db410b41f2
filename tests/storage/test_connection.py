"""What SQLite's errors mean: the file is damaged, or the world failed and the file may be sound."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from weft.errors import ManifestDamaged
from weft.storage.connection import damage_named

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

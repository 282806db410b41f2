"""Run folders in memory where the system has such a place; fsync is tested elsewhere."""

from __future__ import annotations

import contextlib
import sqlite3

import pytest

from tests.storage.manifests import GENESIS
from weft.storage.disk import Disk
from weft.storage.manifest import Manifest
from weft.testing.simulator import scratch_folder


@pytest.fixture
def tmp_path():
    with scratch_folder() as path:
        yield path


@pytest.fixture
def path(tmp_path):
    return tmp_path / "manifest.sqlite"


@pytest.fixture
def manifest(path):
    manifest = Manifest.create(path, Disk(), "id1", GENESIS)
    yield manifest
    with contextlib.suppress(sqlite3.ProgrammingError):  # the test closed it
        manifest.close()

"""Run folders in memory where the system has such a place; fsync is tested elsewhere."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.coordinator.desks import Desk
from weft.testing.simulator import scratch_folder


@pytest.fixture
def tmp_path():
    with scratch_folder() as path:
        yield path


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path)
    yield desk
    desk.manifest.close()

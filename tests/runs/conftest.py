"""Run folders in memory where the system has such a place; fsync is tested elsewhere."""

from __future__ import annotations

import pytest

from tests.support.commands import ForkedCommands
from tests.support.modules import ModuleFolder
from tests.support.quickruns import quick_runs, started_workers, worker_server
from weft.testing.simulator import scratch_folder

__all__ = ["modules", "quick_runs", "started_workers", "tmp_path", "weft_command", "worker_server"]


@pytest.fixture
def tmp_path():
    with scratch_folder() as path:
        yield path


@pytest.fixture
def modules(tmp_path):
    folder = ModuleFolder(tmp_path / "code")
    yield folder
    folder.close()


@pytest.fixture(scope="session")
def weft_command():
    """Run a command outside this process: `weft_command(folder, "resume", run)`."""
    commands = ForkedCommands()
    yield commands
    commands.close()

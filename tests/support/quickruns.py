"""Runs in the test process that wait neither for the disk nor for workers to load their code.

    from tests.support.quickruns import quick_runs, started_workers, worker_server

in the conftest.py of an area applies this to all its tests; a test that requests
`started_workers` gets workers as users have them.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from tests.support.forkedworkers import WorkerServer, forked_workers
from tests.support.unsynced import without_syncs


@pytest.fixture(scope="session")
def worker_server() -> Iterator[WorkerServer]:
    server = WorkerServer()
    yield server
    server.close()


@pytest.fixture(autouse=True)
def quick_runs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Runs in this process do not wait for the disk, and fork their workers."""
    with without_syncs(), ExitStack() as stack:
        if "started_workers" not in request.fixturenames:
            stack.enter_context(forked_workers(request.getfixturevalue("worker_server")))
        yield


@pytest.fixture
def started_workers() -> None:
    """Workers of this test are separate interpreters, because what /proc shows of them matters."""

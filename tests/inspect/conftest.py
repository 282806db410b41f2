"""One finished run of the engine example, shared; tests copy it before they damage it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

import weft
from tests.inspect.runs import Snapshots, copy_of
from tests.support.engine import loom
from tests.support.forked import SEARCHES, ForkServer
from tests.support.quickruns import quick_runs, started_workers, worker_server
from weft.ledger import chain

__all__ = ["quick_runs", "started_workers", "worker_server"]


@pytest.fixture(scope="session")
def forks() -> Iterator[ForkServer]:
    """A process that has loaded weft, its searches and its server, from which commands fork."""
    more = ("weft.inspect.serve.serving", "weft.inspect.report.page")
    forks = ForkServer(*SEARCHES, *more, fork_workers=True)
    yield forks
    forks.close()


@pytest.fixture(scope="session")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Snapshots:
    """A run with copies of its folder taken along the way."""
    base = tmp_path_factory.mktemp("watched")
    taker = Snapshots(base / "loom", base, every=25)
    weft.run(loom(pause_ms=20), out=taker.run, workers=2, watcher=taker)
    return taker


@pytest.fixture(scope="session")
def finished(watched: Snapshots) -> Path:
    """A finished run; never change it."""
    return watched.run


@pytest.fixture(scope="session")
def snapshots(watched: Snapshots) -> list[Path]:
    """The states that a SIGKILL would have left of the finished run at several moments."""
    return watched.taken


@pytest.fixture
def run(finished: Path, tmp_path: Path) -> Path:
    """A copy of the finished run to damage."""
    return copy_of(finished, tmp_path / "run")


@pytest.fixture
def fast_parse() -> Iterator[None]:
    """Cache parsed lines: parsing is pure, and campaigns read the same lines over and over."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chain, "parse", lru_cache(maxsize=4096)(chain.parse))
        yield

"""Runs `weft prng analyse` without spending a second on its imports."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.support.forked import ForkServer

Analyse = Callable[..., "subprocess.CompletedProcess[str]"]


@pytest.fixture(scope="session")
def prng_forks() -> Iterator[ForkServer]:
    server = ForkServer("weft.searches.prng.search", "weft.searches.prng.run")
    yield server
    server.close()


@pytest.fixture
def analyse(prng_forks: ForkServer) -> Analyse:
    """Run the command in a separate process; with `--backend serial` its tasks run there too."""

    def call(*words: str | Path) -> subprocess.CompletedProcess[str]:
        argv = ["prng", "analyse", *map(str, words)]
        return subprocess.CompletedProcess(argv, *prng_forks.run(argv, Path.cwd(), os.environ))

    return call

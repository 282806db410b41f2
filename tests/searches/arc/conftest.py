"""Small runs shared by the tests of views, and the command line in this process."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.arcruns import TASKS, Here, run_tasks, weft_here


@pytest.fixture(scope="session")
def small_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A finished run: one task solved, one ambiguous, one without a program."""
    out = tmp_path_factory.mktemp("arc") / "run"
    assert run_tasks(out, TASKS).exit_code == 0
    return out


@pytest.fixture(scope="session")
def sealed_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run with the tags that a bench on an evaluation split sets."""
    out = tmp_path_factory.mktemp("arc") / "sealed"
    run_tasks(out, TASKS, tags=["evaluation", "sealed-views"])
    return out


@pytest.fixture
def weft(capfd: pytest.CaptureFixture[str]) -> Here:
    return weft_here(capfd)

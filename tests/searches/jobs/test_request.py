"""The request of a jobs run from Python: it alone decides, and the command builds the same one."""

from __future__ import annotations

from dataclasses import FrozenInstanceError
from pathlib import Path

import pytest

from tests.searches.jobs.conftest import Shop, shell
from weft.errors import RunMismatch, UsageError
from weft.runs.execution import Execution
from weft.searches.jobs.request import JobLimits, read_request
from weft.searches.jobs.run import execute_jobs

JOBS = [shell("a", "echo '{\"x\": 1}'"), {**shell("b", "echo '[2]'"), "timeout_s": None}]
LIMITS = JobLimits(timeout_s=30.0, retries=1, seed=7)


def test_request_and_command_lead_to_the_same_head(shop: Shop, tmp_path: Path) -> None:
    shop.write(JOBS)
    request = read_request(Path("jobs.json"), LIMITS)
    run = execute_jobs(request, Execution(tmp_path / "api", workers=2))
    words = ("--timeout", "30", "--retries", "1", "--seed", "7", "--json")
    assert shop.run("cli", *words).json["head"] == run.head
    assert [entry["status"] for entry in run.answer] == ["completed", "completed"]


def test_everything_that_decides_is_in_the_request(shop: Shop, tmp_path: Path) -> None:
    shop.write(JOBS)
    path = Path("jobs.json")
    execute_jobs(read_request(path, LIMITS), Execution(tmp_path / "run"))
    for limits, field in (
        (JobLimits(31.0, 1, False, 7), "timeout_s"),
        (JobLimits(30.0, 0, False, 7), "config.retries"),
        (JobLimits(30.0, 1, True, 7), "config.strict"),
        (JobLimits(30.0, 1, False, 8), "seed"),
    ):
        with pytest.raises(RunMismatch, match=field):
            execute_jobs(read_request(path, limits), Execution(tmp_path / "run", workers=4))


def test_request_is_checked_when_it_is_read_and_cannot_be_changed(shop: Shop) -> None:
    shop.write(JOBS)
    with pytest.raises(UsageError, match=r"^retries must be 0 to 100"):
        read_request(Path("jobs.json"), JobLimits(30.0, retries=101))
    request = read_request(Path("jobs.json"), LIMITS)
    with pytest.raises(FrozenInstanceError):
        request.seed = 8  # type: ignore[misc]

"""Jobs and nodes for tests: a folder with both files, and commands that run in it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Told, run_apart, run_here
from tests.support.forkedworkers import WorkerServer
from tests.support.quickruns import quick_runs  # noqa: F401 - a fixture
from tests.workers.lab import print_figures
from weft.inspect.report.view import RunView
from weft.searches.jobs.search import NAME
from weft.searches.jobs.view import ViewedJob, jobs_of

THREE_NODES = (
    '{"nodes":[{"hostname":"localhost","gpu_count":2,"max_concurrent_script_jobs":2},'
    '{"hostname":"rig-a","gpu_count":12,"max_concurrent_script_jobs":12},'
    '{"hostname":"rig-b","gpu_count":12,"max_concurrent_script_jobs":12}]}'
)
"""A classic nodes file, as users have it."""


def sleeper(number: int, seconds: float) -> dict[str, Any]:
    """A job that sleeps and then prints its number."""
    script = f"sleep {seconds:.3f}; echo '{{\"job\": {number}}}'"
    return {"job_id": f"job-{number:02}", "argv": ["sh", "-c", script], "timeout_s": 60}


def shell(job_id: str, line: str, **more: Any) -> dict[str, Any]:
    """A CPU job that runs a line of shell; it may wait for a test, so its limit is for hangs."""
    return {"job_id": job_id, "argv": ["sh", "-c", line], "gpu": 0, "timeout_s": 600, **more}


@dataclass
class Shop:
    """A folder with jobs.json and nodes.json, in which commands run."""

    folder: Path
    capture: Any = None

    def write(self, jobs: Any, nodes: str | None = None, name: str = "jobs.json") -> None:
        text = jobs if isinstance(jobs, str) else json.dumps(jobs)
        (self.folder / name).write_text(text, "utf-8")
        if nodes is not None:
            (self.folder / "nodes.json").write_text(nodes, "utf-8")

    def weft(self, *words: str | Path) -> Told:
        """Run a command in this process, in the shop's folder."""
        return run_here(self.capture, *words)

    def run(self, out: str, *words: str, jobs: str = "jobs.json") -> Told:
        return self.weft("jobs", "run", jobs, "--out", out, *words)

    def figures(self, campaign: str, **figures: object) -> None:
        """Print figures past pytest's capture of output."""
        with self.capture.disabled():
            print_figures(campaign, **figures)

    def apart(self, *words: str | Path, cwd: Path | None = None, **env: str) -> Told:
        """Run a command in a separate process."""
        return run_apart(cwd or self.folder, *words, **env)

    def view(self, out: str) -> RunView:
        return RunView(self.folder / out, NAME)

    def seen(self, out: str) -> list[ViewedJob]:
        return jobs_of(self.view(out))

    def results(self, out: str) -> dict[str, tuple[str, bytes]]:
        """The result's source or the error type of each job, and the bytes of its result."""
        view = self.view(out)
        tasks = {t.args["args"]["job_id"]: t for t in view.tasks()}
        return {
            name: (t.value["source"], view.read(t.value["object"]))
            if t.value
            else (t.error["type"], b"")
            for name, t in tasks.items()
        }

    def ledger(self, out: str) -> str:
        return hashlib.sha256((self.folder / out / "ledger.jsonl").read_bytes()).hexdigest()


@pytest.fixture
def shop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Shop:
    monkeypatch.chdir(tmp_path)
    return Shop(tmp_path, capsys)


@pytest.fixture(scope="session")
def worker_server() -> Iterator[WorkerServer]:
    server = WorkerServer("weft.searches.jobs.request", "weft.searches.jobs.results")
    yield server
    server.close()

"""Shared code of the workers' tests: runs in this process, their rows, and orphan processes.

Processes are found by a marker in their environment or command line, each with its pid and
start time, so that none is missed and no reused pid is mistaken for one.
"""

from __future__ import annotations

import hashlib
import sqlite3
import sys
import time
import uuid
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil
import pytest

import weft
from tests.support.figures import print_figures
from tests.support.processes import Alive, carrying

SEARCHES = Path(__file__).parent / "searches"
sys.path.insert(0, str(SEARCHES))

import trials  # noqa: E402

MARKER = "WEFT_TRIAL"
GONE_WITHIN_S = 5.0
SLACK_S = 0.0 if "--chaos" in sys.argv else 15.0
"""Time that a busy machine may add to any measured time; the campaigns have the machine to
themselves and apply the limits strictly."""

__all__ = ["Lab", "print_figures", "trials"]


@dataclass
class Lab:
    """A folder for runs, and a marker carried by everything started from it."""

    folder: Path
    marker: str = field(default_factory=lambda: uuid.uuid4().hex)

    def run(self, search: Any, name: str = "run", **how: Any) -> weft.Run:
        """Run a search, with one worker by default."""
        if "nodes" not in how:
            how.setdefault("workers", 1)
        return weft.run(search, out=self.folder / name, **how)

    def step(self, *argv: str, **more: Any) -> dict[str, Any]:
        """The description of a command whose processes are marked."""
        env = {MARKER: self.marker, **more.pop("env", {})}
        return {"argv": list(argv), "env": env, **more}

    def alive(self, *marks: str) -> list[Alive]:
        """Pid, start time and command line of every process with our marker, or one of `marks`."""
        return carrying(self.marker, *marks)

    def leftovers(self, within_s: float = GONE_WITHIN_S + SLACK_S) -> list[Alive]:
        """Processes that remain after a while; killed, so that they disturb no other test."""
        end_s = time.monotonic() + within_s
        while (living := self.alive()) and time.monotonic() < end_s:
            time.sleep(0.02)
        for pid, created, _ in living:
            with_same_birth = psutil.Process(pid) if psutil.pid_exists(pid) else None
            if with_same_birth is not None and with_same_birth.create_time() == created:
                with_same_birth.kill()
        return living


def rows(run: Path, sql: str) -> list[tuple[Any, ...]]:
    """Read a finished run's manifest."""
    db = sqlite3.connect(f"file:{run / 'manifest.sqlite'}?mode=ro&immutable=1", uri=True)
    try:
        return db.execute(sql).fetchall()
    finally:
        db.close()


def ledger_digest(run: Path) -> str:
    return hashlib.sha256((run / "ledger.jsonl").read_bytes()).hexdigest()


def arrival_order(run: Path) -> tuple[tuple[str, int, int], ...]:
    """Tasks in the order in which their results arrived, according to the manifest."""
    sql = "SELECT lane, round, idx FROM task_view WHERE state IN ('completed', 'failed')"
    return tuple(rows(run, f"{sql} ORDER BY finished_at"))


def attempts(run: Path) -> list[tuple[str, str, int]]:
    """Unsuccessful attempts: outcome, reason, count."""
    return rows(run, "SELECT outcome, reason, count(*) FROM attempts GROUP BY 1, 2 ORDER BY 1, 2")


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    new_lab = Lab(tmp_path)
    monkeypatch.setenv(MARKER, new_lab.marker)
    return new_lab

"""One run under fault: its folder, its heads list, its executions, and its processes.

Everything lies below one folder, so that a state can be saved and restored. Processes carry
the case's name in their environment, so that each of them is found and attributed correctly.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.support.checker import (
    Place,
    Reference,
    TaskPlace,
    check_crashed,
    check_executed,
    check_finished,
    check_not_doubled,
    check_not_lost,
    final_tasks,
)
from tests.support.processes import Alive, carrying

HERE = Path(__file__).parent
ENGINE = HERE.parent.parent / "examples" / "engine"
PREPARED = ("runs", "home")
"""Folders created before a run: separate, so that no fsync covers both run and heads list."""
GONE_WITHIN_S = 20.0
RUN_LIMIT_S = 240.0
FREQUENT_CHECKPOINTS = {"WEFT_FAULTS_CHECKPOINT_S": "0.03"}


@dataclass(frozen=True)
class Search:
    """A search that campaigns run: add it to SEARCHES to put it under fault."""

    name: str
    spec: str
    args: Mapping[str, Any] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)
    words: tuple[str, ...] = ()
    """The command line of a product, instead of `spec`; OUT and WORKERS are replaced."""
    write_files: Callable[[Path], None] | None = None
    """Writes the command's input files to the case's folder."""


SHUTTLE = Search("shuttle", f"{HERE / 'shuttle.py'}:shuttle", {}, FREQUENT_CHECKPOINTS)
LOOM = Search("loom", f"{ENGINE / 'loom.py'}:loom", {"size": 40, "lazy_size": 60, "pause_ms": 4})
GATED = Search("gated", f"{HERE / 'strikers.py'}:gated", {"gate": "gate"})
SEARCHES = (SHUTTLE,)


@dataclass(frozen=True)
class Ended:
    """How a coordinator process ended."""

    returncode: int
    stdout: str
    stderr: str

    @property
    def reasons(self) -> list[str]:
        """Lines on standard error except warnings, since a machine may lack a sandbox."""
        lines = self.stderr.strip().splitlines()
        return [line for line in lines if not line.startswith("weft: warning: ")]

    @property
    def outcome(self) -> dict[str, Any]:
        assert self.returncode == 0, f"exit {self.returncode}: {self.stderr}"
        return json.loads(self.stdout)


class Case:
    """A run folder and everything that belongs to it."""

    def __init__(
        self,
        folder: Path,
        search: Search = SHUTTLE,
        *,
        workers: int = 2,
        backend: str = "local",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        for name in PREPARED:
            (folder / name).mkdir(parents=True, exist_ok=True)
        if search.write_files:
            search.write_files(folder)
        self.folder = folder
        self.search = search
        self.workers = workers
        self.backend = backend
        self.name = uuid.uuid4().hex
        self.extra = {**search.environment, **(environment or {})}
        self.out = folder / "runs" / "run"
        self.state = folder / "home" / "state"
        self.executions = folder / "executions.jsonl"

    @property
    def place(self) -> Place:
        return Place(self.out, self.state / "weft" / "heads")

    def argv(self) -> list[str]:
        driver = str(HERE / "driver.py")
        if self.search.words:
            known = {"OUT": str(self.out), "WORKERS": str(self.workers)}
            words = [known.get(word, word) for word in self.search.words]
            return [sys.executable, driver, "--command", str(self.out), *words]
        args = json.dumps(self.search.args)
        return [sys.executable, driver, self.search.spec, args, str(self.out),
                str(self.workers), self.backend]  # fmt: skip

    def environment(self) -> dict[str, str]:
        plain = {k: v for k, v in os.environ.items() if not k.startswith(("COV_", "PYTEST"))}
        return {
            **plain,
            "PYTHONPATH": str(HERE / "counting"),
            "XDG_STATE_HOME": str(self.state),
            "WEFT_FAULTS_EXECUTIONS": str(self.executions),
            "WEFT_FAULTS_CASE": self.name,
            **self.extra,
        }

    def start(self, prefix: Sequence[str] = ()) -> subprocess.Popen[str]:
        pipe = subprocess.PIPE
        argv = [*prefix, *self.argv()]
        return subprocess.Popen(
            argv, stdout=pipe, stderr=pipe, text=True, env=self.environment(), cwd=self.folder
        )

    def run(self, prefix: Sequence[str] = ()) -> Ended:
        """Run the coordinator to its end."""
        with self.start(prefix) as process:
            return self.end_of(process)

    def end_of(self, process: subprocess.Popen[str]) -> Ended:
        try:
            stdout, stderr = process.communicate(timeout=RUN_LIMIT_S)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        return Ended(process.returncode, stdout, stderr)

    def executed(self) -> list[TaskPlace]:
        """Every task execution so far, in the order of their starts."""
        return [place for place, _ in self.executed_by()]

    def executed_by(self) -> list[tuple[TaskPlace, int]]:
        """Every execution so far, with the pid of its worker."""
        if not self.executions.exists():
            return []
        rows = [json.loads(line) for line in self.executions.read_text().splitlines()]
        return [((lane, round_, index), pid) for lane, round_, index, pid in rows]

    def count_executed(self) -> int:
        """The number of executions that have begun."""
        return self.executions.read_bytes().count(b"\n") if self.executions.exists() else 0

    def final(self) -> frozenset[TaskPlace]:
        """Tasks whose outcome is in the manifest now."""
        return final_tasks(self.out)

    def _alive(self) -> list[Alive]:
        """Every living process that this case started, including workers and their children."""
        return carrying(f"WEFT_FAULTS_CASE={self.name}")

    def leftovers(self) -> list[str]:
        """Kill and report processes that outlive their coordinator by more than a while."""
        end_s = time.monotonic() + GONE_WITHIN_S
        alive = self._alive()
        while alive and time.monotonic() < end_s:
            time.sleep(0.01)
            alive = self._alive()
        for pid, _, _ in alive:
            with contextlib.suppress(ProcessLookupError):  # it has just ended
                os.kill(pid, signal.SIGKILL)
        return [f"process {pid} started {born} outlives its coordinator" for pid, born, _ in alive]

    def set_aside(self, target: Path) -> None:
        """Save a copy of everything on disk."""
        shutil.copytree(self.folder, target, symlinks=True)

    def put_back(self, source: Path) -> None:
        """Restore everything on disk to the state saved in `source`."""
        shutil.rmtree(self.folder)
        shutil.copytree(source, self.folder, symlinks=True)


def printed_head(case: Case, tracer: list[str]) -> str:
    """The head of a run as the driver prints it after a command, under a tracer."""
    code = f"import driver; driver.print_head({str(case.out)!r}, 1)"
    environment = {**case.environment(), "PYTHONPATH": str(HERE)}
    argv = [*tracer, sys.executable, "-c", code]
    result = subprocess.run(argv, check=True, stdout=subprocess.PIPE, env=environment)
    return str(json.loads(result.stdout)["head"])


def resume_and_check(case: Case, reference: Reference) -> list[str]:
    """Run the same command again and check everything it leaves."""
    violations = [*case.leftovers(), *check_crashed(case.place)]
    before, executions = case.final(), len(case.executed())
    ended = case.run()
    if ended.returncode != 0:
        return [*violations, f"resume: exit {ended.returncode}: {ended.stderr.strip()}"]
    if ended.outcome["head"] != reference.head:
        violations.append(f"resume printed another head: {ended.outcome['head']}")
    violations += check_not_doubled(before, case.executed()[executions:])
    violations += check_not_lost(before, case.out)
    violations += check_executed(case.out, case.executed())
    return [*violations, *check_finished(case.place, reference), *case.leftovers()]

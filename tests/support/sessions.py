"""Sessions of a run in this process: real coordinator and storage, with tasks run here.

A search whose body can be replaced between two sessions stands in for changed code.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import weft
from weft.coordinator.journal import Journal
from weft.coordinator.loop import Coordinator
from weft.coordinator.machine import Machine
from weft.coordinator.making import LazyLimits
from weft.coordinator.policy import Policy
from weft.model.attempts import Assignment, BackendEvent, Lost, Started, Worker
from weft.model.tasks import SearchCall
from weft.runs.decision import Decision
from weft.runs.opening import OpenRun, Place, create_run, reopen_run
from weft.runs.session import new_machine, seal
from weft.storage.disk import Disk
from weft.storage.folder import RunFile, RunFolder
from weft.storage.heads import HeadsList
from weft.testing.simulator import NoSources
from weft.testing.simworld import SimClock
from weft.worker.context import WorkerPlace
from weft.worker.execute import Executor

RUN_ID = "5e55"
HOST = "here"
LAZY = LazyLimits(window=5, reach=9)
PLAN: dict[str, Callable[[], Any]] = {}
"""The body that `planned` executes next; a test sets it before each session."""


@weft.task
def double(x: int) -> int:
    """Twice x; 13 fails."""
    if x == 13:
        raise ValueError("13")
    return 2 * x


@weft.task
def triple(x: int) -> int:
    """Three times x."""
    return 3 * x


@weft.task
def draw(x: int, *, seed: int) -> int:
    """The task's own seed."""
    del x
    return seed


@weft.task
def keep(text: str) -> weft.Object:
    """Store a text."""
    return weft.put(text.encode())


@weft.search(version=1)
def planned():
    """Execute the body in PLAN."""
    return (yield from PLAN["body"]())


@dataclass(slots=True)
class InProcess:
    """A backend that runs tasks here and records which; `pick` chooses the next of those held."""

    executor: Executor
    clock: SimClock
    slots: int = 4
    pick: Callable[[list[Assignment]], int] = lambda held: 0
    ran: list[tuple[str, int, int]] = field(default_factory=list)
    held: list[Assignment] = field(default_factory=list)

    def capacity(self) -> list[int]:
        return [self.slots - len(self.held)]

    def submit(self, assignments: Sequence[Assignment]) -> None:
        self.held.extend(task for assignment in assignments for task in assignment.each())

    def poll(self, timeout_s: float) -> list[BackendEvent]:
        self.clock.now_s += 0.01
        a = self.held.pop(self.pick(self.held))
        self.ran.append((a.lane, a.round, a.index))
        prepared = self.executor.prepare(a)
        assert not isinstance(prepared, Lost), prepared.detail
        return [Started(a.ticket, Worker(pid=1)), self.executor.run(a, *prepared)]

    def cancel(self, tickets: Sequence[int]) -> None:
        self.held[:] = [a for a in self.held if a.ticket not in tickets]

    def close(self) -> None:
        self.held.clear()


@dataclass(slots=True)
class Sessions:
    """One run folder over several sessions."""

    root: Path
    call: SearchCall = field(default_factory=planned)
    policy: Policy = Policy()  # noqa: RUF009 - frozen
    seed: int = 0
    accept: tuple[str, ...] = ()
    clock: SimClock = field(default_factory=SimClock)
    new_run_id: str = "c0de"
    slots: int = 4
    pick: Callable[[list[Assignment]], int] = lambda held: 0
    opened: OpenRun | None = None
    machine: Machine | None = None
    events: list[tuple[str, str]] = field(default_factory=list)

    @property
    def folder(self) -> RunFolder:
        return RunFolder(self.root / "run")

    def place(self, disk: Disk) -> Place:
        return Place(disk, HOST, HeadsList(self.root / "heads", disk))

    def open(self, disk: Disk | None = None) -> OpenRun:
        disk = disk or Disk()
        genesis = Decision(self.call, self.seed, policy=self.policy).genesis_text()
        if self.folder.is_run():
            return reopen_run(
                self.folder, genesis, {}, self.accept, self.place(disk), self.new_run_id
            )
        run_file = RunFile(RUN_ID, self.call.name, "")
        return create_run(self.folder, run_file, genesis, {}, self.place(disk))

    def go(
        self,
        body: Callable[[], Any] | None = None,
        *,
        stop_after: int | None = None,
        sealed: bool = True,
        disk: Disk | None = None,
        backend_type: type[InProcess] = InProcess,
        watcher: Any = None,
        reserve: Any = None,
        code_is_new: bool = False,
    ) -> list[tuple[str, int, int]]:
        """Run one session to its end or to `stop_after` results; return the tasks that ran."""
        if body is not None:
            PLAN["body"] = body
        opened = self.opened = self.open(disk)
        self.events = opened.events
        try:
            journal = Journal(opened.manifest, opened.objects, self.clock, NoSources())
            journal.recorded.code_is_new = code_is_new
            executor = Executor(self.seed, WorkerPlace(self.folder.objects, opened.objects.staging))
            backend = backend_type(executor, self.clock, self.slots, self.pick)
            decision = Decision(self.call, self.seed, policy=self.policy)
            machine = new_machine(opened, decision, journal, LAZY)

            def stop() -> bool:
                return stop_after is not None and len(backend.ran) >= stop_after

            loop = Coordinator(
                machine, journal, opened.writer, backend, self.clock, stop, watcher, reserve
            )
            self.machine = machine
            if loop.run() and sealed:
                seal(opened, self.clock.wall())
            return backend.ran
        finally:
            opened.writer.ledger.close()
            opened.manifest.close()

    @property
    def ledger(self) -> bytes:
        return self.folder.ledger.read_bytes()

    @property
    def finished(self) -> bool:
        return not self.folder.ledger.stat().st_mode & 0o222

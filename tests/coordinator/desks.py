"""A journal on its own manifest, driven command by command."""

from __future__ import annotations

from pathlib import Path

from weft.coordinator.journal import Journal
from weft.coordinator.steps import (
    Begin,
    LiveTask,
    OpenRound,
    Queue,
    Recalled,
    RecordResult,
    TaskKind,
)
from weft.model.attempts import Worker
from weft.model.results import TaskError
from weft.model.tasks import COMMAND, Limits
from weft.storage.disk import Disk
from weft.storage.manifest import Manifest
from weft.storage.objects import ObjectStore

WALL, MONOTONIC = 1000.0, 50.0
WORKER = Worker(pid=7, started=3.5, node="n1", gpu=2)
TASK = "state, key, function, args, value, error, attempt, queued_at, started_at, finished_at"
PLACE = "run_s, worker_pid, worker_started, node, gpu, notes"
HELD = (7, 3.5, "n1", 2)


class Clock:
    """Clocks that stand still until a test moves them."""

    wall_s, monotonic_s = WALL, MONOTONIC

    def wall(self) -> float:
        return self.wall_s

    def monotonic(self) -> float:
        return self.monotonic_s


class Sources:
    """Records which code was used."""

    def __init__(self) -> None:
        self.used: list[tuple[str, str]] = []

    def use(self, name: str, path: str) -> None:
        self.used.append((name, path))


class Desk:
    """A journal on its own manifest, with its parts accessible."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.clock, self.sources = folder, Clock(), Sources()
        disk = Disk()
        self.manifest = Manifest.create(folder / "manifest.sqlite", disk, "run", "{}")
        self.objects = ObjectStore(folder / "objects", disk)
        self.journal = self.fresh_journal()

    def fresh_journal(self) -> Journal:
        """A journal of the next session, which knows only committed state."""
        return Journal(self.manifest, self.objects, self.clock, self.sources)

    def next_session(self) -> None:
        self.journal.commit()
        self.journal = self.fresh_journal()

    def do(self, *commands: object) -> list[Recalled]:
        return [recalled for c in commands for recalled in self.journal.execute(c)]  # type: ignore[arg-type]

    def rows(self, columns: str = TASK, where: str = "1") -> list[tuple[object, ...]]:
        self.journal.flush()
        return self.manifest.query(f"SELECT {columns} FROM tasks WHERE {where} ORDER BY id")

    def attempts(self) -> list[tuple[object, ...]]:
        return self.manifest.query("SELECT * FROM attempts")

    def rounds(self) -> list[tuple[object, ...]]:
        self.journal.flush()
        return self.manifest.query("SELECT first, size, recorded, closed, stopped FROM rounds")


def task(
    index: int, function: str = "m:f", round_: int = 0, lane: str = "", key: str = ""
) -> LiveTask:
    args = "{}" if function != COMMAND else '{"collect":"m:c","prepare":null}'
    kind = TaskKind(lane, round_, function, Limits(), ())
    return LiveTask(kind, index, key or f"{index:064x}", args)


def queued(lane: str, round_: int, tasks: tuple[LiveTask, ...]) -> Queue:
    """Tasks that were created, and their distinct kinds in order."""
    return Queue(lane, round_, tasks, tuple(dict.fromkeys(member.kind for member in tasks)))


def opened(desk: Desk, *tasks: LiveTask, size: int | None = None) -> tuple[LiveTask, ...]:
    """Open round 0 with these tasks."""
    desk.do(OpenRound("", 0, size or len(tasks)), queued("", 0, tasks))
    return tasks


def run(desk: Desk, one: LiveTask) -> LiveTask:
    """Begin an attempt of a task."""
    one.attempt, one.worker = one.attempt + 1, WORKER
    desk.do(Begin(one))
    return one


def done(one: LiveTask, value: str | None = "1", error: TaskError | None = None) -> RecordResult:
    return RecordResult(one, value, error, "detail", (), '["note"]', 2.0)

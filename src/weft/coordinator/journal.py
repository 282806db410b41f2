"""Executes the machine's commands on the manifest. Writes gather until `commit`.

Outcomes that the manifest already holds from earlier sessions are returned as `Recalled`;
`recorded` compares them with what the search asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import repeat
from typing import Any, Protocol

from weft.coordinator.outlook import Outlook
from weft.coordinator.recorded import RecordedWork, diverged
from weft.coordinator.runvalues import RunValues
from weft.coordinator.steps import (
    Advance,
    Answer,
    Begin,
    Close,
    Command,
    Declare,
    LiveTask,
    OpenLanes,
    OpenRound,
    Queue,
    Recalled,
    RecordResult,
    RecordValues,
    Requeue,
)
from weft.model.attempts import Staged, Worker
from weft.model.results import Result, TaskError
from weft.model.tasks import COMMAND, Code, import_path
from weft.model.values import decode_trusted
from weft.storage.manifest import PLAN, ROOT_LANE, Manifest
from weft.storage.objects import ObjectStore
from weft.storage.rows import (
    FINAL,
    BlockOrigin,
    FinalRow,
    FinishedRow,
    QueuedRow,
    RoundRow,
    TaskRow,
    ValueBlock,
)

VISIBLE = 256
"""How many tasks of a round have rows from its start."""


class Clock(Protocol):
    """The two clocks, passed in so that a simulation can control them."""

    def wall(self) -> float:
        """Seconds since the epoch."""

    def monotonic(self) -> float:
        """Seconds that never jump."""


class Sources(Protocol):
    """Keeps track of the code that tasks run."""

    def use(self, name: str, path: str) -> None:
        """Note a function, by its name and import path; raise `CodeChanged` if its code changed."""


class Journal:
    """The manifest as the coordinator writes it."""

    def __init__(
        self, manifest: Manifest, objects: ObjectStore, clock: Clock, sources: Sources
    ) -> None:
        self.sources = sources
        self.values = RunValues(objects)
        """Typed values that the search passes on and receives."""
        self.recorded = RecordedWork(manifest, self.event)
        """What the manifest already holds from earlier sessions."""
        self._manifest = manifest
        self._objects = objects
        self._clock = clock
        self._lanes: dict[str, int] = {"": ROOT_LANE}
        self._rounds: dict[tuple[str, int], RoundRow] = {}
        self._used: set[tuple[str, Code]] = set()
        """Functions whose code was noted."""
        self._new: dict[int, tuple[int, int, RoundRow]] = {}
        """Rounds that have no row yet, with their lane and number."""
        self._dirty: dict[int, RoundRow] = {}
        """Rounds whose rows are out of date."""
        self._running: dict[int, LiveTask] = {}
        self._queued: dict[int, QueuedRow] = {}
        self._finished: list[FinishedRow] = []
        self._blocks: list[ValueBlock] = []
        self._queued_at: dict[int, float] = {}
        """When the latest tasks of each round were queued."""
        self.pending = 0
        """Number of results since the last commit."""
        self.outlook: Outlook | None = None
        """Receives the values of results for progress displays, which show the best one."""

    def execute(self, command: Command) -> Sequence[Recalled]:
        """Execute one command; what it recalls must be fed back to the machine."""
        return _HANDLERS[type(command)](self, command) or ()

    @property
    def commits(self) -> int:
        """The number of commits of the run."""
        return self._manifest.commits

    @property
    def has_unwritten_starts(self) -> bool:
        """Whether tasks are running whose rows do not show it yet."""
        return bool(self._running)

    def flush(self) -> None:
        """Write gathered rows into the open transaction."""
        self._flush_queued()
        if self._finished:
            self._manifest.finish_tasks(self._finished)
            self._finished = []
        for block in self._blocks:
            self._manifest.finish_block(block)
        self._blocks = []
        if self._running:
            wall = self._clock.wall()
            self._manifest.running([
                (id_, t.key, t.function, t.args, wall, t.attempt,
                 t.worker.pid, t.worker.started, t.worker.node, t.worker.gpu)
                for id_, t in self._running.items()
            ])  # fmt: skip
            self._running = {}
        if self._new:
            self._manifest.insert_rounds([*self._new.values()])
        for id_, row in self._dirty.items():
            if id_ not in self._new:
                self._manifest.update_round(row)
        self._new, self._dirty = {}, {}

    def _flush_queued(self) -> None:
        """Write the rows of queued tasks that have not ended since."""
        if self._queued:
            self._manifest.queue(list(self._queued.values()))
            self._queued = {}

    def commit(self) -> None:
        """Make everything since the last commit durable."""
        self.flush()
        self._manifest.commit()
        self.pending = 0

    def event(self, kind: str, detail: str = "", task: int | None = None) -> None:
        """Log an event: something out of the ordinary."""
        clock = self._clock
        self._manifest.event(clock.wall(), clock.monotonic(), kind, task, detail)

    def fetch(self, lane: str, round_: int, start: int, end: int) -> list[Result]:
        """Read recorded results of a lazy round."""
        self.flush()
        first, values = self._round(lane, round_).first, self.values
        recent = self._manifest.recent_columns(first + start, first + end)
        if recent is not None:
            function, keys, args, texts = recent
            indices, functions, source = range(start, end), repeat(function), repeat(values)
            return [*map(Result, indices, keys, functions, args, texts, repeat(None), source)]
        failure = TaskError.from_text
        return [
            Result(
                id_ - first, key, function, args, value, failure(error) if error else None, values
            )
            for rows in self._manifest.recorded(first + start, first + end)
            for id_, _, key, function, args, value, error in rows
        ]

    def final_rows(self, lane: str, round_: int, start: int, end: int) -> list[FinalRow]:
        """Read what an earlier session recorded of a round, up to the first that is not final."""
        return self.recorded.final_rows(self._round(lane, round_), start, end)

    def use(self, name: str, path: str) -> None:
        """Note a function that a recorded task ran."""
        self.values.note(name, path)
        self.sources.use(name, path)

    # -- commands -------------------------------------------------------------------------

    def _open_round(self, c: OpenRound) -> None:
        lane = self._lane(c.lane)
        row = self.recorded.round(lane, c)
        if row is None:
            row = self._manifest.new_round("tasks", c.size)
            self._new[row.id] = (lane, c.round, row)
            self.recorded.note_new(row)
        self._rounds[c.lane, c.round] = row

    def _queue(self, c: Queue) -> Sequence[Recalled]:
        row = self._round(c.lane, c.round)
        self._use_code(c)
        recorded = self.recorded.tasks(row, c)
        wall = self._clock.wall()
        self._queued_at[row.id] = wall
        if not row.closed:
            for task in _with_rows(c):
                id_ = row.first + task.index
                if id_ not in recorded:
                    self._queued[id_] = (id_, task.key, task.function, task.args, wall)
        return list(self._recall(c, row, recorded)) if recorded else ()

    def _use_code(self, c: Queue) -> None:
        """Note the code of tasks, each function once; for commands, that of their hooks."""
        functions = [kind for kind in c.kinds if kind.function != COMMAND]
        for kind in functions:
            code = (kind.function, kind.code)
            if code not in self._used:
                self.sources.use(kind.function, import_path(kind.code, kind.function))
                self._used.add(code)
        if len(functions) < len(c.kinds):
            for name, path in _hooks_of([task for task in c.tasks if task.function == COMMAND]):
                self.sources.use(name, path)

    def _recall(self, c: Queue, row: RoundRow, recorded: dict[int, TaskRow]) -> Iterator[Recalled]:
        for task, old in self.recorded.pairs(c, row, recorded):
            task.attempt = old.attempt
            if old.state in FINAL:
                error = TaskError.from_text(old.error) if old.error else None
                yield Recalled(c.lane, c.round, task.index, old.value, error)
            elif old.state == "running":
                self._stale(old, task)

    def _stale(self, old: TaskRow, task: LiveTask) -> None:
        """Requeue a task whose attempt was running when an earlier coordinator died."""
        self._manifest.requeue((old.id, old.key, old.function, old.args, old.attempt))
        self._attempt(old.id, task, "requeued", "coordinator-died", "", None)

    def _open_lanes(self, c: OpenLanes) -> None:
        parent = self._lane(c.lane)
        row = self.recorded.lanes(parent, c)
        if row is None:
            row = self._manifest.add_round(parent, c.round, "lanes", len(c.paths))
            self._manifest.add_lanes(parent, c.round, c.paths)
        lanes = self._manifest.lanes_of(parent, c.round)
        if row.kind != "lanes" or tuple(path for _, path in lanes) != c.paths:
            raise diverged(c.lane, c.round, "the lanes differ from those recorded")
        self._lanes.update((path, lane) for lane, path in lanes)

    def _begin(self, c: Begin) -> None:
        row = self._round(c.task.lane, c.task.round)
        if row.closed:
            raise diverged(c.task.lane, c.task.round, f"it ended after {row.recorded} results,"
                            f" now task {c.task.index} is asked for")  # fmt: skip
        self._running[row.first + c.task.index] = c.task

    def _record(self, c: RecordResult) -> None:
        task = c.task
        for staged in c.staged:
            self._adopt(staged)
        if c.error is not None:
            id_ = self._round(task.lane, task.round).first + task.index
            self._attempt(id_, task, "failed", c.error.type, c.detail, c.run_s)
        self._finish(task, task.worker, c.value, c.error, c.run_s, c.notes)

    def _finish(
        self,
        task: LiveTask,
        worker: Worker,
        value: str | None,
        error: TaskError | None,
        run_s: float,
        notes: str | None = None,
    ) -> None:
        """Add the row of a task that has just ended."""
        kind, key, args = task.kind, task.key, task.args
        function, row = kind.function, self._rounds[kind.lane, kind.round]
        id_ = row.first + task.index
        self._running.pop(id_, None)
        self._queued.pop(id_, None)
        state = "completed" if error is None else "failed"
        failure = None if error is None else error.to_text()
        digest = self._manifest.digests.of(state, key, function, args, value, failure)
        wall = self._clock.wall()
        self._finished.append((
            id_, state, key, function, args, value, failure, digest,
            task.attempt, self._queued_at[row.id], wall - run_s, wall, run_s,
            worker.pid, worker.started, worker.node, worker.gpu, notes,
        ))  # fmt: skip
        if self.outlook is not None and value is not None:
            self.outlook.offer(function, (value,))
        self.pending += 1

    def _record_values(self, c: RecordValues) -> None:
        """Add the rows of a block whose tasks ran one after another; the last has just ended."""
        tasks, worker = c.tasks, c.worker
        if len(tasks) == 1:
            self._finish(tasks[0], worker, c.values[0], None, c.run_us[0] / 1e6)
            return
        kind = tasks[0].kind
        row = self._round(kind.lane, kind.round)
        first, function = row.first, kind.function
        origin = BlockOrigin(
            function, tasks[0].attempt, self._queued_at[row.id],
            worker.pid, worker.started, worker.node, worker.gpu,
        )  # fmt: skip
        keys, args = [task.key for task in tasks], [task.args for task in tasks]
        started_at = self._clock.wall() - sum(c.run_us) / 1e6
        self._blocks.append(
            ValueBlock(origin, first + tasks[0].index, keys, args, c.values, started_at, c.run_us)
        )
        for unwritten in (self._running, self._queued):
            if unwritten:
                for task in c.tasks:
                    unwritten.pop(first + task.index, None)
        if self.outlook is not None:
            self.outlook.offer(function, c.values)
        self.pending += len(c.tasks)

    def _requeue(self, c: Requeue) -> None:
        self._flush_queued()
        id_ = self._round(c.task.lane, c.task.round).first + c.task.index
        self._running.pop(id_, None)
        self._manifest.requeue((id_, c.task.key, c.task.function, c.task.args, c.task.attempt))
        ran_s = None if c.started_s is None else self._clock.monotonic() - c.started_s
        self._attempt(id_, c.task, "requeued", c.reason, c.detail, ran_s)

    def _advance(self, c: Advance) -> None:
        row = self._round(c.lane, c.round)
        if c.recorded > row.recorded:
            row.recorded = c.recorded
            self._dirty[row.id] = row

    def _close(self, c: Close) -> None:
        row = self._round(c.lane, c.round)
        self._queued_at.pop(row.id, None)
        if self.recorded.is_closed(row, c):
            return
        row.recorded, row.closed, row.stopped = c.recorded, True, c.stopped
        self._dirty[row.id] = row
        if row.size is not None and c.recorded < row.size:
            self.flush()
            self._manifest.drop(row.first + c.recorded, row.first + row.size)
            self._find_best()

    def _declare(self, c: Declare) -> None:
        self._manifest.set_meta(f"{PLAN} {c.lane}", c.plan.to_text())
        if not c.lane:
            self.flush()
            self._find_best()

    def _find_best(self) -> None:
        if self.outlook is not None:
            self.outlook.find_best(self._manifest.completed)

    def _answer(self, c: Answer) -> None:
        lane = self._lane(c.lane)
        recorded = self._manifest.lane_answer(lane)
        self.recorded.check_end(lane, c.lane, c.rounds)
        if recorded is None:
            self._manifest.set_answer(lane, c.body)
        elif recorded != c.body:
            raise diverged(c.lane, c.rounds, f"answer {recorded[:80]} recorded, now {c.body[:80]}")

    # -- rows -----------------------------------------------------------------------------

    def _adopt(self, staged: Staged) -> None:
        self._objects.adopt(self._objects.staging / staged.name, staged.digest)

    def _attempt(
        self, id_: int, task: LiveTask, outcome: str, reason: str, detail: str, ran_s: float | None
    ) -> None:
        worker, wall = task.worker, self._clock.wall()
        started = None if ran_s is None else wall - ran_s
        self._manifest.attempt((
            id_, task.attempt, outcome, reason, detail, started, wall,
            worker.pid, worker.started, worker.node, worker.gpu,
        ))  # fmt: skip

    def _lane(self, path: str) -> int:
        return self._lanes[path]

    def _round(self, lane: str, round_: int) -> RoundRow:
        return self._rounds[lane, round_]


_HANDLERS: dict[type, Callable[[Journal, Any], Sequence[Recalled] | None]] = {
    OpenRound: Journal._open_round,
    Queue: Journal._queue,
    OpenLanes: Journal._open_lanes,
    Begin: Journal._begin,
    RecordResult: Journal._record,
    RecordValues: Journal._record_values,
    Requeue: Journal._requeue,
    Advance: Journal._advance,
    Close: Journal._close,
    Answer: Journal._answer,
    Declare: Journal._declare,
}


def _with_rows(c: Queue) -> Sequence[LiveTask]:
    """Return the tasks whose rows are written before they start: a round's first, all commands.

    The others get rows once they have run for a while or ended; until then the size of the round
    implies that they are queued.
    """
    if any(kind.function == COMMAND for kind in c.kinds):
        return [task for task in c.tasks if task.index < VISIBLE or task.function == COMMAND]
    return c.tasks[: max(0, VISIBLE - c.tasks[0].index)]


def _hooks_of(commands: Sequence[LiveTask]) -> Iterable[tuple[str, str]]:
    """Return name and import path of the hooks of commands, each once."""
    hooks: dict[tuple[str, str], None] = {}
    for task in commands:
        args: Any = decode_trusted(task.args)
        names = (args["prepare"], args["collect"], args.get("on_broken"))
        hooks.update(((n, import_path(task.code, n)), None) for n in names if n is not None)
    return hooks

"""The status of a run: counts, open rounds, slots, speed, time left; live or afterwards.

Reads one snapshot of the manifest, the checkpoint and, if finished, the answer. Reads no clock:
speed comes from the times in the rows, and the current time from the caller.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

from weft.inspect.access import last_record, open_manifest, run_named, state_of
from weft.inspect.ledgercheck import check_ledger_file
from weft.inspect.losses import Loss, read_losses
from weft.inspect.progress import read_progress
from weft.model.values import JsonValue
from weft.runs.progress import Progress
from weft.storage.folder import RunFolder
from weft.storage.ledgerfile import read_checkpoint
from weft.storage.manifest import Manifest

SCHEMA_VERSION = 1
STATES = ("queued", "running", "completed", "failed", "cancelled", "dropped")
RATE_WINDOW_S = 60.0
MAX_EVENTS = 10_000
"""Maximum number of events that `status` returns, the latest ones."""
MAX_WORKERS = 1000
MAX_LOSSES = 20
"""Maximum number of losses listed in words."""
_LEFT_RUNNING = "tasks counted as running were under way when the coordinator ended"


@dataclass(frozen=True, slots=True)
class RoundProgress:
    """An open round: `recorded` results, out of `size`, are accepted, in task order."""

    lane: str
    round: int
    size: int | None
    recorded: int


@dataclass(frozen=True, slots=True)
class SlotView:
    """A worker and the task it is running; `since` is by the coordinator's wall clock."""

    node: str
    gpu: int | None
    worker_pid: int | None
    key: str
    function: str
    lane: str
    round: int
    index: int
    attempt: int
    since: float | None


@dataclass(frozen=True, slots=True)
class WorkerView:
    """A worker's work over the whole run: tasks it finished, and the seconds it spent on them.

    `busy_share` is relative to the time from the start of its first task to the end of its last.
    """

    node: str
    gpu: int | None
    worker_pid: int
    tasks: int
    busy_s: float
    busy_share: float | None


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a task (its `key`) or to the run (empty key)."""

    at: float
    kind: str
    key: str
    lane: str
    round: int | None
    index: int | None
    detail: str


@dataclass(frozen=True, slots=True)
class Status:
    """The status of a run. `head` is the root at `size`, both from the last checkpoint."""

    search: str
    state: str
    """`running`, `interrupted` or `finished`."""
    counts: dict[str, int]
    planned: int
    """Tasks of all rounds opened so far that are or will be recorded."""
    finished: int
    rate_per_s: float | None = None
    eta_s: float | None = None
    """Seconds until its end, or until the rounds opened so far are done; None if it is not
    running or not known. `progress` says whether it is a lower bound."""
    progress: Progress | None = None
    """Progress as the run's own display shows it."""
    rounds: tuple[RoundProgress, ...] = ()
    lanes: int = 0
    lanes_answered: int = 0
    head: str = ""
    size: int = 0
    answer: dict[str, JsonValue] | None = None
    """Body of the root's answer record, in wire form."""
    slots: tuple[SlotView, ...] = ()
    """Workers that are running a task, while a coordinator is working; by node, gpu, process."""
    workers: tuple[WorkerView, ...] = ()
    """Workers that finished tasks, those with the most tasks first."""
    events: tuple[Event, ...] = ()
    losses: tuple[Loss, ...] = ()
    """Nodes and slots lost in the last session, and when they were back."""
    notes: tuple[str, ...] = field(default=())
    tags: tuple[str, ...] = ()
    """Tags that the run was started with."""

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON form."""
        raw = asdict(replace(self, progress=None))
        if self.progress is not None:
            raw["progress"] = self.progress.to_dict()
        for name in ("rounds", "slots", "workers", "events", "losses", "notes", "tags"):
            raw[name] = list(raw[name])
        return {"schema_version": SCHEMA_VERSION, **raw}


def status(
    run: Path, *, events: bool = False, latest: int = 0, now_s: float | None = None
) -> Status:
    """Return the status of a run; with `events`, also its events, oldest first.

    `latest` asks instead for only that many of the last non-routine events, which is cheap.
    `now_s` is the wall-clock time, for the time left; by default that of the latest row.
    Raises ManifestDamaged or LedgerDamaged if what it reads is inconsistent; it does not verify.
    """
    folder = RunFolder(run)
    with run_named(run):
        run_file = folder.read_run_file()
        search = run_file.search
        state = state_of(folder)
        head, size = _head(folder)
        answer = _answer(folder) if state == "finished" else None
        if not folder.manifest.is_file():
            return replace(_from_ledger(folder, search, state, answer), tags=run_file.tags)
        with open_manifest(folder) as manifest:
            progress = _progress(manifest, search, state)
            workers = folder.read_run_file().execution.get("slots", 1)
            progress = _with_progress(progress, manifest, workers, now_s)
            latest_events = _events(manifest) if events else _latest(manifest, latest)
    known = replace(progress, head=head, size=size, answer=answer, events=latest_events)
    return replace(known, tags=run_file.tags)


def _head(folder: RunFolder) -> tuple[str, int]:
    checkpoint = read_checkpoint(folder.checkpoint)
    return (checkpoint.root.hex(), checkpoint.size) if checkpoint else ("", 0)


def _answer(folder: RunFolder) -> dict[str, JsonValue] | None:
    record = last_record(folder.ledger)
    return record.body if record is not None and record.kind == "answer" else None


def _progress(manifest: Manifest, search: str, state: str) -> Status:
    """Return the status from the manifest; the caller adds head and answer."""
    running = state == "running"
    counts = dict.fromkeys(STATES, 0)
    counts.update(manifest.query("SELECT state, count(*) FROM tasks GROUP BY state"))
    counts["queued"] += _without_rows(manifest)
    planned = manifest.query(
        "SELECT coalesce(sum(CASE WHEN closed THEN recorded ELSE coalesce(size, recorded) END), 0)"
        " FROM rounds WHERE kind='tasks'"
    )[0][0]
    finished = counts["completed"] + counts["failed"]
    losses = read_losses(manifest)
    lanes = manifest.query("SELECT count(*), count(answer) FROM lanes WHERE parent IS NOT NULL")
    return Status(
        search=search,
        state=state,
        counts=counts,
        planned=planned,
        finished=finished,
        rate_per_s=_rate(manifest),
        rounds=_open_rounds(manifest),
        lanes=lanes[0][0],
        lanes_answered=lanes[0][1],
        slots=_slots(manifest) if running else (),
        workers=_workers(manifest),
        losses=losses,
        notes=(
            *(() if running or not counts["running"] else (_LEFT_RUNNING,)),
            *(loss.line() for loss in losses[:MAX_LOSSES]),
        ),
    )


def _with_progress(
    status: Status, manifest: Manifest, workers: JsonValue, now_s: float | None
) -> Status:
    """Add what the run's own display shows; its speed, if known, replaces that of the status."""
    progress = read_progress(
        manifest,
        counts=status.counts,
        starts=[slot.since for slot in status.slots],
        workers=workers if isinstance(workers, int) and workers > 0 else 1,
        state=status.state,
        now_s=now_s,
    )
    rate, remaining = progress.rate_per_s, progress.left
    return replace(
        status,
        progress=progress,
        rate_per_s=status.rate_per_s if rate is None else rate,
        eta_s=None if remaining is None else remaining.seconds,
    )


def _without_rows(manifest: Manifest) -> int:
    """Return the number of queued tasks that have no row yet, because their round is large."""
    count: int = manifest.query(
        "SELECT coalesce(sum(size - (SELECT count(*) FROM tasks t WHERE t.id >= r.first"
        " AND t.id < r.first + r.size)), 0) FROM rounds r"
        " WHERE kind = 'tasks' AND NOT closed AND size IS NOT NULL"
    )[0][0]
    return count


def _slots(manifest: Manifest) -> tuple[SlotView, ...]:
    """Return the running tasks; all of them come after what their round has recorded."""
    rows = manifest.query(
        """
        SELECT coalesce(t.node, ''), t.gpu, t.worker_pid, t.key, t.function,
               l.path, r.round, t.id - r.first, t.attempt, t.started_at
        FROM rounds r JOIN lanes l ON l.id = r.lane
        CROSS JOIN tasks t ON t.id >= r.first + r.recorded AND t.id < r.first + r.size
        WHERE r.kind = 'tasks' AND NOT r.closed AND t.state = 'running'
        ORDER BY t.node, t.gpu, t.worker_pid, t.id
        """
    )
    return tuple(SlotView(*row) for row in rows)


def _workers(manifest: Manifest) -> tuple[WorkerView, ...]:
    rows = manifest.query(
        """
        SELECT coalesce(node, ''), gpu, worker_pid, count(*), total(run_s),
               max(finished_at) - min(started_at)
        FROM tasks WHERE worker_pid IS NOT NULL AND finished_at IS NOT NULL
        GROUP BY node, gpu, worker_pid
        ORDER BY 4 DESC, node, gpu, worker_pid LIMIT ?
        """,
        MAX_WORKERS,
    )
    return tuple(
        WorkerView(node, gpu, pid, tasks, busy_s, _share(busy_s, span_s))
        for node, gpu, pid, tasks, busy_s, span_s in rows
    )


def _share(busy_s: float, span_s: float) -> float | None:
    return min(1.0, busy_s / span_s) if span_s > 0 else None


def _rate(manifest: Manifest) -> float | None:
    """Return tasks per second over the last minute in which any finished; None before the first.

    Of a task that started before that minute only the part within it counts, so that four tasks
    of ten minutes that end together are not four per second.
    """
    last, first = manifest.query(
        "SELECT max(finished_at), min(started_at) FROM tasks WHERE finished_at >="
        " (SELECT max(finished_at) FROM tasks) - ?",
        RATE_WINDOW_S,
    )[0]
    if last is None or first is None:
        return None
    begin = max(first, last - RATE_WINDOW_S)
    [[finished]] = manifest.query(
        "SELECT total(CASE WHEN started_at >= ? THEN 1.0"
        " ELSE (finished_at - ?) / (finished_at - started_at) END)"
        " FROM tasks WHERE finished_at >= ?",
        *[begin] * 3,
    )
    return finished / (last - begin) if last > begin else None


def _open_rounds(manifest: Manifest) -> tuple[RoundProgress, ...]:
    rows = manifest.query(
        "SELECT l.path, r.round, r.size, r.recorded FROM rounds r JOIN lanes l ON l.id = r.lane"
        " WHERE r.kind='tasks' AND NOT r.closed ORDER BY r.id"
    )
    return tuple(RoundProgress(*row) for row in rows)


def _events(manifest: Manifest) -> tuple[Event, ...]:
    """Return the steps of tasks, from the rows that have their times, and the run's own events."""
    rows = manifest.query(
        """
        WITH task AS (SELECT * FROM task_view), happened (at, step, kind, id, detail) AS (
            SELECT queued_at, 0, 'queued', id, '' FROM task WHERE queued_at IS NOT NULL
            UNION ALL SELECT started_at, 1, 'started', id, '' FROM task
                WHERE started_at IS NOT NULL AND state != 'queued'
            UNION ALL SELECT finished_at, 3, CASE WHEN error IS NULL THEN 'completed'
                ELSE 'failed' END, id, coalesce(error, '') FROM task WHERE finished_at IS NOT NULL
            UNION ALL SELECT finished_at, 2, 'requeued', task, reason FROM attempts
                WHERE outcome = 'requeued'
            UNION ALL SELECT at, 4, kind, task, coalesce(detail, '')
                FROM events)
        SELECT h.at, h.kind, coalesce(t.key, ''), coalesce(t.lane, ''), t.round, t.idx, h.detail
        FROM happened h LEFT JOIN task t ON t.id = h.id
        ORDER BY h.at DESC, h.step DESC, h.id DESC LIMIT ?
        """,
        MAX_EVENTS,
    )
    return tuple(Event(*row) for row in reversed(rows))


def _latest(manifest: Manifest, count: int) -> tuple[Event, ...]:
    """Return the run's last events and its last unsuccessful attempts, oldest first."""
    rows = manifest.query(
        """
        WITH happened (at, kind, id, detail) AS (
            SELECT * FROM (SELECT at, kind, task, coalesce(detail, '') FROM events
                ORDER BY id DESC LIMIT ?)
            UNION ALL
            SELECT * FROM (SELECT finished_at, outcome, task, reason FROM attempts
                ORDER BY rowid DESC LIMIT ?))
        SELECT h.at, h.kind, coalesce(t.key, ''), coalesce(l.path, ''), r.round, t.id - r.first,
               h.detail
        FROM happened h LEFT JOIN tasks t ON t.id = h.id
        LEFT JOIN rounds r ON r.kind = 'tasks' AND t.id >= r.first
            AND t.id < r.first + coalesce(r.size, r.recorded)
        LEFT JOIN lanes l ON l.id = r.lane
        ORDER BY h.at DESC, h.id DESC LIMIT ?
        """,
        count,
        count,
        count,
    )
    return tuple(Event(*row) for row in reversed(rows))


def _from_ledger(
    folder: RunFolder, search: str, state: str, answer: dict[str, JsonValue] | None
) -> Status:
    """Return the status from the ledger alone, for a run whose manifest is missing."""
    checkpoint = read_checkpoint(folder.checkpoint)
    facts = check_ledger_file(folder.ledger, checkpoint, sealed=state == "finished")
    counts = dict.fromkeys(STATES, 0) | {"completed": facts.completed, "failed": facts.failed}
    finished = facts.completed + facts.failed
    head, size = _head(folder)
    notes = ("manifest missing: the ledger's counts are shown",)
    known = (search, state, counts, finished, finished)
    return Status(*known, head=head, size=size, answer=answer, notes=notes)

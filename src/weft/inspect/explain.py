"""The history of one task: its call, attempts and outcome, and why it is or is not recorded.

A task is identified by its key, a prefix of it, or its position (`LANE:ROUND:INDEX`, empty for the
root lane). Reads the manifest, the ledger for the record's number, and the last attempt's log.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from weft.backends.recorded import REUSED
from weft.errors import FileInvalid, InputError
from weft.inspect.access import open_manifest, records_named, run_named
from weft.inspect.logs import log_tails
from weft.inspect.prove import check_key, parse_place
from weft.model.values import JsonValue
from weft.storage.folder import RunFolder
from weft.storage.manifest import Manifest

SCHEMA_VERSION = 1
LOG_TAIL_BYTES = 4096
_SELECT_TASK = (
    "SELECT id, key, function, args, lane, round, idx, state, value, error, attempt, queued_at,"
    " started_at, finished_at, run_s, worker_pid, node, gpu, notes FROM task_view WHERE id=?"
)


@dataclass(frozen=True, slots=True)
class Attempt:
    """One attempt that did not succeed."""

    attempt: int
    outcome: str
    """`failed` or `requeued`."""
    reason: str
    detail: str
    finished_at: float | None
    worker_pid: int | None
    node: str | None
    gpu: int | None


@dataclass(frozen=True, slots=True)
class TaskHistory:
    """Everything known about one task; `args`, `value` and `error` are canonical JSON."""

    key: str
    function: str
    args: str
    lane: str
    round: int
    index: int
    state: str
    value: str | None
    error: str | None
    attempt: int
    """Number of attempts started."""
    attempts: tuple[Attempt, ...]
    queued_at: float | None
    started_at: float | None
    finished_at: float | None
    run_s: float | None
    worker_pid: int | None
    node: str | None
    gpu: int | None
    notes: dict[str, JsonValue]
    log_tail: str
    why: str
    record: int | None
    """Number of its record in the ledger, once recorded."""

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON form."""
        raw = asdict(self)
        return {"schema_version": SCHEMA_VERSION, **raw, "attempts": list(raw["attempts"])}


def explain(run: Path, key: str) -> TaskHistory:
    """Return the history of one task; raises InputError when none or several match."""
    folder = RunFolder(run)
    folder.require_run()
    with run_named(run):
        if not folder.manifest.is_file():
            raise FileInvalid(
                f"{folder.manifest} is missing, and it alone has a task's history",
                hint=f"weft verify {run} checks what is left",
            )
        with open_manifest(folder) as manifest:
            return _history(folder, manifest, _find(manifest, key, run))


def _history(folder: RunFolder, manifest: Manifest, id_: int) -> TaskHistory:
    row = manifest.query(_SELECT_TASK, id_)[0]
    _, key, function, args, lane, round_, index, state, value, error = row[:10]
    attempt, queued, started, finished, run_s, pid, node, gpu, notes = row[10:]
    record = next((r.seq for r in records_named(folder.ledger, key)), None)
    attempts = _attempts(manifest, id_)
    why = f"recorded as record {record}"
    if node == REUSED:
        why += "; reused from the run that this one retries"
    if record is None:
        why = _reason(manifest, lane, round_, index, state, attempts)
    tail = "".join(log_tails(folder.logs, key, LOG_TAIL_BYTES))
    return TaskHistory(
        key, function, args, lane, round_, index, state, value, error, attempt, attempts,
        queued, started, finished, run_s, pid, node, gpu, json.loads(notes or "{}"), tail, why,
        record,
    )  # fmt: skip


# -- finding the task ------------------------------------------------------------------------


def _find(manifest: Manifest, key: str, run: Path) -> int:
    """Return the id of the task that a key or a place names."""
    if ":" in key:
        return _find_place(manifest, key, run)
    check_key(key)
    # hex digits sort below "g"
    rows = manifest.query("SELECT id FROM tasks WHERE key >= ? AND key < ? LIMIT 2", key, key + "g")
    ids: list[int] = [id_ for (id_,) in rows]
    if len(ids) != 1:
        what = "several tasks have keys that begin" if ids else "no task has a key that begins"
        raise InputError(f"{run}: {what} with {key}", hint="give more digits" if ids else "")
    return ids[0]


def _find_place(manifest: Manifest, place: str, run: Path) -> int:
    lane, round_, index = parse_place(place)
    rows = manifest.query(
        "SELECT r.first, coalesce(r.size, r.recorded) FROM rounds r JOIN lanes l ON l.id = r.lane"
        " WHERE l.path=? AND r.round=? AND r.kind='tasks'",
        lane,
        round_,
    )
    if not rows:
        raise InputError(
            f"{run}: lane {lane or '/'} has no round {round_} of tasks",
            hint=f"weft report {run} lists tasks with their positions",
        )
    first: int
    first, size = rows[0]
    if index >= size:
        raise InputError(
            f"{run}: round {round_} of lane {lane or '/'} has {size} tasks",
            hint="indices start at 0",
        )
    if not manifest.query("SELECT 1 FROM tasks WHERE id=?", first + index):
        raise InputError(f"{run}: task {place} is not created yet; its round is lazy")
    return first + index


def _attempts(manifest: Manifest, id_: int) -> tuple[Attempt, ...]:
    rows = manifest.query(
        "SELECT attempt, outcome, reason, coalesce(detail, ''), finished_at, worker_pid, node, gpu"
        " FROM attempts WHERE task=? ORDER BY rowid",
        id_,
    )
    return tuple(Attempt(*row) for row in rows)


# -- why it is recorded or not -----------------------------------------------------------------


def _reason(
    manifest: Manifest, lane: str, round_: int, index: int, state: str, attempts: Sequence[Attempt]
) -> str:
    """Explain the state of a task that has no record."""
    recorded, closed = manifest.query(
        "SELECT r.recorded, r.closed FROM rounds r JOIN lanes l ON l.id = r.lane"
        " WHERE l.path=? AND r.round=?",
        lane,
        round_,
    )[0]
    if state in ("dropped", "cancelled"):
        stop = f"{state} by early stop at index {recorded - 1}"
        return stop if state == "cancelled" else f"{stop}; its outcome does not count"
    if state not in ("completed", "failed"):
        requeued = [attempt for attempt in attempts if attempt.outcome == "requeued"]
        because = f"; requeued because {requeued[-1].reason}" if requeued else ""
        return f"{'running' if state == 'running' else 'waits for a worker'}{because}"
    if index >= recorded and not closed:
        return f"finished; waits for index {recorded} of its round"
    before = _lane_before(manifest, lane)
    if before is not None:
        return f"finished; waits for lane {before or '/'}, which comes before it in the ledger"
    return "finished; its record is written with the next commit"


def _lane_before(manifest: Manifest, lane: str) -> str | None:
    """Return the first unanswered lane that the ledger lists before `lane`, if any."""
    rows = manifest.query("SELECT id, parent, round, ordinal, path, answer FROM lanes ORDER BY id")
    orders: dict[int, tuple[int, ...]] = {}
    ours: tuple[int, ...] = ()
    open_lanes: list[tuple[tuple[int, ...], str]] = []
    for id_, parent, round_, ordinal, path, answer in rows:
        orders[id_] = () if parent is None else (*orders[parent], round_, ordinal)
        if path == lane:
            ours = orders[id_]
        if answer is None:
            open_lanes.append((orders[id_], path))
    before = [(o, p) for o, p in open_lanes if o < ours and ours[: len(o)] != o]
    return min(before)[1] if before else None

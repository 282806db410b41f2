"""The tasks that a report shows individually, and what it shows of each.

Up to MAX_TASKS, all of them. Of more, those that failed or are otherwise exceptional, and the
first, the last and the slowest. The texts of all rows together stay under TEXT_BYTES.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from weft.inspect.logs import log_tails
from weft.inspect.report.places import Block, Places
from weft.inspect.report.text import clip, failure_text, some, value_text, weight
from weft.inspect.report.timeline import WorkerId
from weft.storage.manifest import Manifest

MAX_TASKS = 1600
MAX_TROUBLED = 900
FIRST, LAST, SLOWEST = 300, 200, 200
TEXT_BYTES = 510_000
MAX_ROW_BYTES = 8000
MAX_NAME_BYTES = 100
LOG_TAIL_BYTES = 2000
MAX_LOGS = 60
FAILURE_BYTES = 160
MAX_ATTEMPTS = 4
"""Number of attempts shown per task, the last ones."""
_CHUNK = 500
_TROUBLED = (
    ("failed", "SELECT id FROM tasks WHERE state = 'failed' ORDER BY id"),
    ("requeued", "SELECT DISTINCT task AS id FROM attempts WHERE outcome = 'requeued' ORDER BY id"),
    ("running", "SELECT id FROM tasks WHERE state = 'running' ORDER BY id"),
    ("dropped", "SELECT id FROM tasks WHERE state IN ('dropped', 'cancelled') ORDER BY id"),
)
"""Tasks that are shown before all others, in this order."""
_COUNT_NEW = "SELECT count(*), coalesce(sum(id NOT IN (SELECT value FROM json_each(?))), 0) FROM"
"""Start of a query that counts the tasks of one of those queries, and those not among given ids."""
_SELECT_TASKS = (
    "SELECT id, key, function, args, state, value, error, attempt, queued_at, started_at,"
    " finished_at, run_s, worker_pid, worker_started, node, gpu, notes FROM tasks"
    " WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id"
)
_SELECT_ATTEMPTS = (
    "SELECT task, attempt, outcome, reason, coalesce(detail, ''), finished_at FROM attempts"
    " WHERE task IN (SELECT value FROM json_each(?)) ORDER BY rowid"
)


@dataclass(frozen=True, slots=True)
class FailedAttempt:
    """One attempt that did not succeed."""

    attempt: int
    outcome: str
    reason: str
    detail: str
    at: float | None


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """One task as the report shows it; texts are truncated."""

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
    queued_at: float | None
    started_at: float | None
    finished_at: float | None
    run_s: float | None
    worker: WorkerId | None
    notes: str
    failures: tuple[FailedAttempt, ...] = ()
    failure: str = ""
    """Why it failed, in a few words."""
    log_tail: str = ""
    why: str = ""
    record: int | None = None


@dataclass(frozen=True, slots=True)
class TaskList:
    """The tasks shown, in manifest order; `scope` says in words which these are."""

    rows: tuple[TaskFacts, ...] = ()
    total: int = 0
    scope: str = ""


@dataclass(frozen=True, slots=True)
class TaskReader:
    """Reads the chosen tasks of one manifest."""

    manifest: Manifest
    places: Places
    logs: Path

    def read(self) -> TaskList:
        """Return the tasks to show."""
        total = self.manifest.query("SELECT count(*) FROM tasks")[0][0]
        ids, scope = self._choose(total)
        limit = min(MAX_ROW_BYTES, TEXT_BYTES // max(1, len(ids)))
        return TaskList(tuple(self.read_tasks(ids, limit)), total, scope)

    # -- which ones --------------------------------------------------------------------------

    def _choose(self, total: int) -> tuple[list[int], str]:
        if total <= MAX_TASKS:
            ids = self._ids("SELECT id FROM tasks ORDER BY id")
            return ids, some(len(ids), total, "task")
        chosen: set[int] = set()
        parts: list[str] = []
        for name, sql in _TROUBLED:
            total_named, new = self._count(sql, chosen)
            room = MAX_TROUBLED - len(chosen)
            limit = room + len(chosen)
            ids = self._ids(f"{sql} LIMIT ?", limit)
            chosen.update([i for i in ids if i not in chosen][:room])
            if total_named:
                listed = total_named - max(0, new - room)
                parts.append(_share(name, total_named, listed, new <= room))
        for sql, count in (
            ("SELECT id FROM tasks ORDER BY id LIMIT ?", FIRST),
            ("SELECT id FROM tasks ORDER BY id DESC LIMIT ?", LAST),
            ("SELECT id FROM tasks ORDER BY run_s DESC, id LIMIT ?", SLOWEST),
        ):
            chosen.update(self._ids(sql, count))
        parts.append(f"and the first {FIRST}, the last {LAST}, the slowest {SLOWEST}")
        return sorted(chosen), f"{some(len(chosen), total, 'task')}: {', '.join(parts)}"

    def _ids(self, sql: str, *parameters: object) -> list[int]:
        return [row[0] for row in self.manifest.query(sql, *parameters)]

    def _count(self, sql: str, chosen: set[int]) -> tuple[int, int]:
        """Return how many tasks a query names, and how many of them are not chosen yet."""
        query = " ".join((_COUNT_NEW, "(", sql, ")"))
        total, new = self.manifest.query(query, json.dumps(sorted(chosen)))[0]
        return total, new

    # -- what is shown -----------------------------------------------------------------------

    def read_tasks(self, ids: Sequence[int], limit: int) -> Iterator[TaskFacts]:
        """Yield these tasks by id, with at most `limit` bytes of text each."""
        logs = MAX_LOGS
        for start in range(0, len(ids), _CHUNK):
            chunk = json.dumps(ids[start : start + _CHUNK])
            failures = self._failures(chunk)
            for columns in self.manifest.query(_SELECT_TASKS, chunk):
                row = _TaskRow(*columns)
                place = self.places.of(row.id)
                facts = _facts(row, place, failures.get(row.id, ()), _TextBudget(limit))
                tail = self._log_tail(facts.key) if logs else ""
                logs -= bool(tail)
                yield replace(facts, log_tail=tail)

    def _failures(self, ids: str) -> dict[int, tuple[FailedAttempt, ...]]:
        """Return the last failed attempts of tasks, by id; `ids` is a JSON array."""
        failures: dict[int, list[FailedAttempt]] = {}
        rows = self.manifest.query(_SELECT_ATTEMPTS, ids)
        for id_, number, outcome, reason, detail, at in rows:
            text = detail.strip()[-MAX_ROW_BYTES:]
            name = clip(reason, MAX_NAME_BYTES)
            attempt = FailedAttempt(number, clip(outcome, 20), name, text, at)
            failures.setdefault(id_, []).append(attempt)
        return {id_: tuple(attempts[-MAX_ATTEMPTS:]) for id_, attempts in failures.items()}

    def _log_tail(self, key: str) -> str:
        text = "".join(log_tails(self.logs, key, LOG_TAIL_BYTES))
        return clip(text, 2 * LOG_TAIL_BYTES, lines=True)


def _share(name: str, total: int, shown: int, all_of: bool) -> str:
    return f"all {total:,} {name}" if all_of else f"{shown:,} of {total:,} {name}"


@dataclass(slots=True)
class _TextBudget:
    """The number of bytes that the texts of one row may still take."""

    left: int

    def clip(self, text: str, share: float = 1.0, *, lines: bool = False) -> str:
        """Truncate a text to a share of what is left."""
        clipped = clip(text, int(self.left * share), lines=lines)
        self.left = max(0, self.left - weight(clipped))
        return clipped

    def clip_end(self, text: str) -> str:
        """Truncate a text to its end, where a traceback says what happened."""
        end = text[-self.left // 2 :] if self.left else ""
        clipped = self.clip(end, lines=True)
        return clipped if len(end) == len(text) else f"… {clipped}"


class _TaskRow(NamedTuple):
    """The columns of one task, in the order of `_SELECT_TASKS`."""

    id: int
    key: str
    function: str
    args: str
    state: str
    value: str | None
    error: str | None
    attempt: int
    queued_at: float | None
    started_at: float | None
    finished_at: float | None
    run_s: float | None
    worker_pid: int | None
    worker_started: float | None
    node: str | None
    gpu: int | None
    notes: str | None


def _facts(
    row: _TaskRow, place: Block, failures: tuple[FailedAttempt, ...], budget: _TextBudget
) -> TaskFacts:
    pid, index = row.worker_pid, row.id - place.first
    args = budget.clip(value_text(row.args), 0.4)
    value = None if row.value is None else budget.clip(value_text(row.value), 0.6)
    notes = budget.clip(row.notes or "", 0.4)
    cut = tuple(replace(f, detail=budget.clip_end(f.detail)) for f in reversed(failures))[::-1]
    return TaskFacts(
        key=row.key,
        function=clip(row.function, MAX_NAME_BYTES),
        args=args,
        lane=clip(place.lane, MAX_NAME_BYTES),
        round=place.round,
        index=index,
        state=row.state,
        value=value,
        error=None if row.error is None else clip(row.error, MAX_NAME_BYTES),
        attempt=row.attempt,
        queued_at=row.queued_at,
        started_at=row.started_at,
        finished_at=row.finished_at,
        run_s=row.run_s,
        worker=None if pid is None else worker_of(row.node, row.gpu, pid, row.worker_started),
        notes=notes,
        failures=cut,
        failure="" if row.error is None else _failure(row.error, failures),
        why=_why(place, index, row.state),
    )


def sealed(task: TaskFacts) -> TaskFacts:
    """Remove the arguments, value, notes and output of a task."""
    return replace(task, args="", value=None, notes="", failures=(), failure="", log_tail="")


def worker_of(node: str | None, gpu: int | None, pid: int, started: float | None) -> WorkerId:
    """Identify a worker by the columns of a row."""
    return WorkerId(clip(node or "", 80), -1 if gpu is None else gpu, pid, started or 0.0)


def _failure(error: str, failures: tuple[FailedAttempt, ...]) -> str:
    """Return the recorded error type and the last line of the last attempt's detail."""
    kind = failure_text(error)
    last = (failures[-1].detail.rstrip().splitlines() if failures else []) or [""]
    return clip(f"{kind}: {last[-1].strip()}" if last[-1] else kind, FAILURE_BYTES)


def _why(place: Block, index: int, state: str) -> str:
    """Explain why a task has no record (yet); the ledger view numbers those that have one."""
    if state in ("dropped", "cancelled"):
        stop = f"{state} by early stop at index {place.recorded - 1}"
        return f"{stop}; its outcome does not count" if state == "dropped" else stop
    if state == "queued":
        return "waits for a worker"
    if state == "running":
        return "is running"
    if index >= place.recorded and not place.closed:
        return f"finished; waits for index {place.recorded} of its round"
    return "finished; its record waits for its turn in the ledger"

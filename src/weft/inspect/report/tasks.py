"""Which tasks a report shows one by one, and what it tells of each.

All of them up to MAX_TASKS. Of more: those that did not simply succeed first, then the first,
the last and the slowest. The texts of all rows together stay under TEXT_BYTES.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weft.inspect.logs import log_tails
from weft.inspect.report.places import Block, Places
from weft.inspect.report.text import clip, failure_text, some, value_text, weight
from weft.inspect.report.timeline import Worker
from weft.storage.manifest import Manifest

MAX_TASKS = 1600
MAX_TROUBLED = 900
FIRST, LAST, SLOWEST = 300, 200, 200
TEXT_BYTES = 560_000
MAX_ROW_BYTES = 8000
MAX_NAME_BYTES = 100
LOG_TAIL_BYTES = 2000
MAX_LOGS = 60
FAILURE_BYTES = 160
MAX_ATTEMPTS = 4
"""Attempts told per task: the last ones."""
_CHUNK = 500
_TROUBLED = (
    ("failed", "SELECT id FROM tasks WHERE state = 'failed' ORDER BY id"),
    ("requeued", "SELECT DISTINCT task FROM attempts WHERE outcome = 'requeued' ORDER BY task"),
    ("running", "SELECT id FROM tasks WHERE state = 'running' ORDER BY id"),
    ("dropped", "SELECT id FROM tasks WHERE state IN ('dropped', 'cancelled') ORDER BY id"),
)
"""What is shown before all else, in this order."""
_COLUMNS = (
    "id, key, function, args, state, value, error, attempt, queued_at, started_at, finished_at,"
    " run_s, worker_pid, worker_started, node, gpu, notes"
)


@dataclass(frozen=True, slots=True)
class Try:
    """One attempt that did not succeed."""

    attempt: int
    outcome: str
    reason: str
    detail: str
    at: float | None


@dataclass(frozen=True, slots=True)
class TaskFacts:
    """One task as the report tells it; texts are cut."""

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
    worker: Worker | None
    notes: str
    tries: tuple[Try, ...] = ()
    failure: str = ""
    """Why it failed, in a few words."""
    log_tail: str = ""
    why: str = ""
    record: int | None = None


@dataclass(frozen=True, slots=True)
class TaskList:
    """The tasks shown, by place in the manifest, and what is left out in words."""

    rows: tuple[TaskFacts, ...] = ()
    total: int = 0
    said: str = ""


@dataclass(frozen=True, slots=True)
class Chooser:
    """Reads the chosen tasks of one manifest."""

    manifest: Manifest
    places: Places
    logs: Path

    def read(self) -> TaskList:
        """Return the tasks to show."""
        total = self.manifest.query("SELECT count(*) FROM tasks")[0][0]
        ids, said = self._choose(total)
        limit = min(MAX_ROW_BYTES, TEXT_BYTES // max(1, len(ids)))
        shown = tuple(self.told(ids, limit))
        return TaskList(shown, total, said)

    # -- which ones --------------------------------------------------------------------------

    def _choose(self, total: int) -> tuple[list[int], str]:
        if total <= MAX_TASKS:
            every = self._ids("SELECT id FROM tasks ORDER BY id")
            return every, some(len(every), total, "task")
        chosen: set[int] = set()
        said: list[str] = []
        for name, sql in _TROUBLED:
            ids = self._ids(sql)
            room = MAX_TROUBLED - len(chosen)
            new = [i for i in ids if i not in chosen]
            chosen.update(new[:room])
            if ids:
                all_of = len(new) <= room
                said.append(_said(name, len(ids), len(ids) - max(0, len(new) - room), all_of))
        for sql, count in (
            ("SELECT id FROM tasks ORDER BY id LIMIT ?", FIRST),
            ("SELECT id FROM tasks ORDER BY id DESC LIMIT ?", LAST),
            ("SELECT id FROM tasks ORDER BY run_s DESC, id LIMIT ?", SLOWEST),
        ):
            chosen.update(self._ids(sql, count))
        parts = [*said, f"and the first {FIRST}, the last {LAST}, the slowest {SLOWEST}"]
        return sorted(chosen), f"{some(len(chosen), total, 'task')}: {', '.join(parts)}"

    def _ids(self, sql: str, *parameters: object) -> list[int]:
        return [row[0] for row in self.manifest.query(sql, *parameters)]

    # -- what is told ------------------------------------------------------------------------

    def told(self, ids: Sequence[int], limit: int) -> Iterator[TaskFacts]:
        """Give these tasks by id, the texts of each in `limit` bytes."""
        logs = MAX_LOGS
        for start in range(0, len(ids), _CHUNK):
            chunk = ids[start : start + _CHUNK]
            marks = ",".join("?" * len(chunk))
            tries = self._tries(chunk, marks)
            for row in self.manifest.query(
                f"SELECT {_COLUMNS} FROM tasks WHERE id IN ({marks}) ORDER BY id",  # noqa: S608
                *chunk,
            ):
                place = self.places.of(row[0])
                facts = _facts(row, place, tries.get(row[0], ()), _Purse(limit))
                tail = self._log_tail(facts.key) if logs else ""
                logs -= bool(tail)
                yield replace(facts, log_tail=tail)

    def _tries(self, ids: Sequence[int], marks: str) -> dict[int, tuple[Try, ...]]:
        rows = self.manifest.query(
            "SELECT task, attempt, outcome, reason, coalesce(detail, ''), finished_at"  # noqa: S608
            f" FROM attempts WHERE task IN ({marks}) ORDER BY rowid",
            *ids,
        )
        tries: dict[int, list[Try]] = {}
        for id_, attempt, outcome, reason, detail, at in rows:
            text = detail.strip()[-MAX_ROW_BYTES:]
            told = Try(attempt, clip(outcome, 20), clip(reason, MAX_NAME_BYTES), text, at)
            tries.setdefault(id_, []).append(told)
        return {id_: tuple(found[-MAX_ATTEMPTS:]) for id_, found in tries.items()}

    def _log_tail(self, key: str) -> str:
        text = "".join(log_tails(self.logs, key, LOG_TAIL_BYTES))
        return clip(text, 2 * LOG_TAIL_BYTES, lines=True)


def _said(name: str, total: int, shown: int, all_of: bool) -> str:
    return f"all {total:,} {name}" if all_of else f"{shown:,} of {total:,} {name}"


@dataclass(slots=True)
class _Purse:
    """What the texts of one row may take in all."""

    left: int

    def clip(self, text: str, share: float = 1.0, *, lines: bool = False) -> str:
        """Cut a text to its share of what is left."""
        shown = clip(text, int(self.left * share), lines=lines)
        self.left = max(0, self.left - weight(shown))
        return shown

    def clip_end(self, text: str) -> str:
        """Keep the end of a text, where a traceback says what happened."""
        kept = text[-self.left // 2 :] if self.left else ""
        shown = self.clip(kept, lines=True)
        return shown if len(kept) == len(text) else f"… {shown}"


def _facts(row: tuple[Any, ...], place: Block, tries: tuple[Try, ...], purse: _Purse) -> TaskFacts:
    id_, key, function, args, state, value, error, attempt = row[:8]
    queued, started, finished, run_s, pid, born, node, gpu, notes = row[8:]
    index = id_ - place.first
    worker = None if pid is None else worker_of(node, gpu, pid, born)
    failure = "" if error is None else _failure(error, tries)
    args = purse.clip(value_text(args), 0.4)
    value = None if value is None else purse.clip(value_text(value), 0.6)
    notes = purse.clip(notes or "", 0.4)
    told = tuple(replace(t, detail=purse.clip_end(t.detail)) for t in reversed(tries))[::-1]
    return TaskFacts(
        key=key,
        function=clip(function, MAX_NAME_BYTES),
        args=args,
        lane=clip(place.lane, MAX_NAME_BYTES),
        round=place.round,
        index=index,
        state=state,
        value=value,
        error=None if error is None else clip(error, MAX_NAME_BYTES),
        attempt=attempt,
        queued_at=queued,
        started_at=started,
        finished_at=finished,
        run_s=run_s,
        worker=worker,
        notes=notes,
        tries=told,
        failure=failure,
        why=_why(place, index, state),
    )


def sealed(task: TaskFacts) -> TaskFacts:
    """Leave out what a task took, gave and wrote."""
    return replace(task, args="", value=None, notes="", tries=(), failure="", log_tail="")


def worker_of(node: str | None, gpu: int | None, pid: int, born: float | None) -> Worker:
    """Name a worker by the columns of a row."""
    return Worker(clip(node or "", 80), -1 if gpu is None else gpu, pid, born or 0.0)


def _failure(error: str, tries: tuple[Try, ...]) -> str:
    """Say the recorded type, and the last line of what was told of the last attempt."""
    kind = failure_text(error)
    last = (tries[-1].detail.rstrip().splitlines() if tries else []) or [""]
    return clip(f"{kind}: {last[-1].strip()}" if last[-1] else kind, FAILURE_BYTES)


def _why(place: Block, index: int, state: str) -> str:
    """Why a task has no record (yet); the ledger says it of those that have one."""
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

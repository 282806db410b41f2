"""Which tasks a report shows one by one, and what it tells of each.

All of them up to MAX_TASKS. Of more: those that did not simply succeed first, then the first,
the last and the slowest. The texts of all rows together stay under TEXT_BYTES.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from weft.report.places import Block, Places
from weft.report.text import clip, failure_text, some, value_text
from weft.report.timeline import Worker
from weft.storage.manifest import Manifest

MAX_TASKS = 2000
MAX_TROUBLED = 1100
FIRST, LAST, SLOWEST = 400, 250, 250
TEXT_BYTES = 520_000
MAX_TEXT_BYTES = 4000
LOG_TAIL_BYTES = 2000
MAX_LOGS = 60
FAILURE_BYTES = 160
MAX_ATTEMPTS = 6
"""Attempts told per task: the last ones."""
_CHUNK = 500
_TROUBLED = (
    ("failed", "SELECT id FROM tasks WHERE state = 'failed' ORDER BY id"),
    ("requeued", "SELECT DISTINCT task FROM attempts ORDER BY task"),
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
        limit = min(MAX_TEXT_BYTES, TEXT_BYTES // max(1, len(ids)))
        shown = tuple(self._told(ids, limit))
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

    def _told(self, ids: Sequence[int], limit: int) -> Iterator[TaskFacts]:
        logs = MAX_LOGS
        for start in range(0, len(ids), _CHUNK):
            chunk = ids[start : start + _CHUNK]
            marks = ",".join("?" * len(chunk))
            tries = self._tries(chunk, marks, limit)
            for row in self.manifest.query(
                f"SELECT {_COLUMNS} FROM tasks WHERE id IN ({marks}) ORDER BY id",  # noqa: S608
                *chunk,
            ):
                place = self.places.of(row[0])
                facts = _facts(row, place, tries.get(row[0], ()), limit)
                tail = self._log_tail(facts.key) if logs else ""
                logs -= bool(tail)
                yield replace(facts, log_tail=tail)

    def _tries(self, ids: Sequence[int], marks: str, limit: int) -> dict[int, tuple[Try, ...]]:
        rows = self.manifest.query(
            "SELECT task, attempt, outcome, reason, coalesce(detail, ''), finished_at"  # noqa: S608
            f" FROM attempts WHERE task IN ({marks}) ORDER BY rowid",
            *ids,
        )
        tries: dict[int, list[Try]] = {}
        for id_, attempt, outcome, reason, detail, at in rows:
            text = clip(detail.strip()[-2 * limit :], limit, lines=True)
            tries.setdefault(id_, []).append(Try(attempt, outcome, clip(reason, 200), text, at))
        return {id_: tuple(found[-MAX_ATTEMPTS:]) for id_, found in tries.items()}

    def _log_tail(self, key: str) -> str:
        folder = self.logs / key
        logs = [p for p in folder.glob("*.log") if p.stem.isdigit()] if folder.is_dir() else []
        if not logs:
            return ""
        last = max(logs, key=lambda path: (int(path.stem), path.name))
        with last.open("rb") as file:
            file.seek(max(0, last.stat().st_size - LOG_TAIL_BYTES))
            text = file.read(LOG_TAIL_BYTES).decode(errors="replace")
        return clip(text, 2 * LOG_TAIL_BYTES, lines=True)


def _said(name: str, total: int, shown: int, all_of: bool) -> str:
    return f"all {total:,} {name}" if all_of else f"{shown:,} of {total:,} {name}"


def _facts(row: tuple[Any, ...], place: Block, tries: tuple[Try, ...], limit: int) -> TaskFacts:
    id_, key, function, args, state, value, error, attempt = row[:8]
    queued, started, finished, run_s, pid, born, node, gpu, notes = row[8:]
    index = id_ - place.first
    worker = None if pid is None else worker_of(node, gpu, pid, born)
    return TaskFacts(
        key=key,
        function=clip(function, 200),
        args=clip(value_text(args), limit),
        lane=clip(place.lane, 200),
        round=place.round,
        index=index,
        state=state,
        value=None if value is None else clip(value_text(value), limit),
        error=None if error is None else clip(error, limit),
        attempt=attempt,
        queued_at=queued,
        started_at=started,
        finished_at=finished,
        run_s=run_s,
        worker=worker,
        notes=clip(notes or "", limit),
        tries=tries,
        failure="" if error is None else _failure(error, tries),
        why=_why(place, index, state),
    )


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

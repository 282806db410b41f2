"""The data that a report's script reads, as one compact JSON text for a data block.

Rows are arrays, in the column order that `report.js` declares; repeated names are indices into a
list. `<` is escaped, so that no text can end the block.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field

from weft.inspect.report.data import Report
from weft.inspect.report.ledgerview import RecordFacts
from weft.inspect.report.tasks import TaskFacts
from weft.inspect.report.text import visible
from weft.inspect.report.timeline import Track
from weft.inspect.report.work import Work
from weft.model.values import JsonValue


@dataclass(slots=True)
class _Names:
    """An index for each distinct name."""

    known: dict[str, int] = field(default_factory=dict)

    def number(self, name: str) -> int:
        return self.known.setdefault(name, len(self.known))


def build_payload(report: Report, run_name: str, values: dict[str, JsonValue] | None) -> str:
    """Return the JSON text; every string in it is visible and bounded."""
    work = report.details.work
    rows = {task.key: number for number, task in enumerate(report.details.tasks.rows)}
    body: dict[str, JsonValue] = {
        "broken": report.badge.record,
        "ledger": [_record(record, rows) for record in report.ledger.records],
        **task_table(report.details.tasks.rows, work),
        **track_table(work),
        "run": run_name,
        "progress": report.details.curve,
        "arguments": list(report.details.arguments),
        "functions": report.details.totals.functions.total if report.details.totals else 0,
    }
    body = {name: visible_texts(item) for name, item in body.items()} | {"values": values}
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def task_table(tasks: Iterable[TaskFacts], work: Work | None) -> dict[str, JsonValue]:
    """Return rows of tasks, the names they refer to, and the time from which they count."""
    zero, names = _zero(work), _Names()
    rows: list[JsonValue] = [_task(task, names, zero) for task in tasks]
    return {"zero": round(zero, 6), "tasks": rows, "names": [*names.known]}


def track_table(work: Work | None) -> dict[str, JsonValue]:
    """Return the spans of every worker, in seconds since the start."""
    zero, timeline = _zero(work), work.timeline if work else None
    if timeline is None:
        return {"start": 0, "end": 0, "tracks": []}
    return {
        "start": _since(timeline.start, zero),
        "end": _since(timeline.end, zero),
        "tracks": [_track(track, zero) for track in timeline.tracks],
    }


def _zero(work: Work | None) -> float:
    return work.started_at if work and work.started_at is not None else 0.0


def _task(task: TaskFacts, names: _Names, zero: float) -> list[JsonValue]:
    return [
        names.number(task.lane),
        task.round,
        task.index,
        names.number(task.function),
        names.number(task.state),
        task.key,
        task.attempt,
        _since(task.queued_at, zero),
        _since(task.started_at, zero),
        _since(task.finished_at, zero),
        None if task.run_s is None else float(f"{task.run_s:.4g}"),
        -1 if task.worker is None else names.number(task.worker.label()),
        task.record,
        task.args,
        task.value,
        task.error,
        task.notes,
        "" if task.record is not None else task.why,
        [[t.attempt, t.outcome, t.reason, t.detail, _since(t.at, zero)] for t in task.failures],
        task.log_tail,
        task.failure,
    ]


def _record(record: RecordFacts, rows: dict[str, int]) -> list[JsonValue]:
    if not record.body and record.key in rows:
        return [record.seq, rows[record.key]]
    return [record.seq, record.kind, record.key, record.prev_hash, record.body]


def _track(track: Track, zero: float) -> list[JsonValue]:
    return [
        [
            [_since(s.start, zero), _since(s.end, zero), s.tasks, s.failed, round(s.busy_s, 5)]
            for s in track.spans
        ],
        [_since(at, zero) for at in track.marks],
    ]


def _since(at: float | None, zero: float) -> float | None:
    return None if at is None else round(at - zero, 5)


def visible_texts(value: JsonValue) -> JsonValue:
    """Make every text visible but keep line breaks, which the script shows only in blocks."""
    if isinstance(value, str):
        return visible(value, lines=True)
    if isinstance(value, dict):
        return {name: visible_texts(item) for name, item in value.items()}
    return [visible_texts(item) for item in value] if isinstance(value, list) else value


def labels(tracks: Iterable[Track]) -> list[str]:
    """Return display names of tracks; workers that share a pid are numbered."""
    names: list[str] = []
    for track in tracks:
        name = track.worker.label()
        repeats = sum(label.split(" (")[0] == name for label in names)
        names.append(f"{name} ({repeats + 1})" if repeats else name)
    return names

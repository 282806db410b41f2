"""The data that a report's script reads, as one compact JSON text for a data block.

Rows are arrays in the order that `report.js` names them; names that repeat are numbers into a
list. `<` is escaped, so nothing inside can end the block.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from weft.report.data import Report
from weft.report.ledgerview import RecordFacts
from weft.report.tasks import TaskFacts
from weft.report.text import visible
from weft.report.timeline import Track


@dataclass(slots=True)
class _Names:
    """Texts that repeat, each once."""

    known: dict[str, int] = field(default_factory=dict)

    def number(self, name: str) -> int:
        return self.known.setdefault(name, len(self.known))


def build_payload(report: Report) -> str:
    """Return the JSON text; every string in it is visible and bounded already."""
    work = report.told.work
    zero = work.started_at if work and work.started_at is not None else 0.0
    timeline = work.timeline if work else None
    names = _Names()
    rows = {task.key: number for number, task in enumerate(report.told.tasks.rows)}
    body = {
        "zero": round(zero, 6),
        "broken": report.badge.record,
        "tasks": [_task(task, names, zero) for task in report.told.tasks.rows],
        "ledger": [_record(record, rows) for record in report.ledger.records],
        "start": _since(timeline.start, zero) if timeline else 0,
        "end": _since(timeline.end, zero) if timeline else 0,
        "tracks": [_track(track, zero) for track in timeline.tracks] if timeline else [],
        "names": list(names.known),
    }
    text = json.dumps(_made_visible(body), ensure_ascii=False, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _task(task: TaskFacts, names: _Names, zero: float) -> list[Any]:
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
        [[t.attempt, t.outcome, t.reason, t.detail, _since(t.at, zero)] for t in task.tries],
        task.log_tail,
        task.failure,
    ]


def _record(record: RecordFacts, rows: dict[str, int]) -> list[Any]:
    if not record.body and record.key in rows:
        return [record.seq, rows[record.key]]
    return [record.seq, record.kind, record.key, record.prev_hash, record.body]


def _track(track: Track, zero: float) -> list[Any]:
    return [
        [
            [_since(s.start, zero), _since(s.end, zero), s.tasks, s.failed, round(s.busy_s, 5)]
            for s in track.spans
        ],
        [_since(at, zero) for at in track.marks],
    ]


def _since(at: float | None, zero: float) -> float | None:
    return None if at is None else round(at - zero, 5)


def _made_visible(value: Any) -> Any:
    """Keep line breaks: the script shows texts with them in blocks only."""
    if isinstance(value, str):
        return visible(value, lines=True)
    if isinstance(value, dict):
        return {name: _made_visible(item) for name, item in value.items()}
    return [_made_visible(item) for item in value] if isinstance(value, list) else value


def labels(tracks: Iterable[Track]) -> list[str]:
    """Name tracks for people; workers that share a pid are numbered."""
    found: list[str] = []
    for track in tracks:
        name = track.worker.label()
        again = sum(label.split(" (")[0] == name for label in found)
        found.append(f"{name} ({again + 1})" if again else name)
    return found

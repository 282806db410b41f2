"""The events of a run: every step of a small run, only the exceptional ones of a large run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from weft.inspect.report.places import Places
from weft.inspect.report.text import clip, failure_text
from weft.inspect.status import status
from weft.storage.manifest import Manifest

SMALL_TASKS = 250
"""Up to this many tasks, every step of each is shown."""
MAX_EVENTS = 750
DETAIL_BYTES = 120


@dataclass(frozen=True, slots=True)
class EventFacts:
    """Something that happened, to a task (its `place`) or to the run (empty place)."""

    at: float
    kind: str
    place: str
    key: str
    detail: str


@dataclass(frozen=True, slots=True)
class EventList:
    """Events, oldest first, out of `total`; `scope` names the kinds that are listed."""

    rows: tuple[EventFacts, ...] = ()
    total: int = 0
    scope: str = ""


def read_events(run: Path, manifest: Manifest, places: Places, tasks: int) -> EventList:
    """List every step of a small run, the exceptional events of a large one."""
    if tasks <= SMALL_TASKS:
        steps = [
            EventFacts(
                e.at,
                clip(e.kind, 80),
                clip(f"{e.lane}:{e.round}:{e.index}", 100) if e.key else "",
                e.key,
                clip(failure_text(e.detail) if e.kind == "failed" else e.detail, DETAIL_BYTES),
            )
            for e in status(run, events=True).events
        ]
        return _bounded(steps, "every step of every task")
    return _exceptional(manifest, places)


_EXCEPTIONAL = """
    SELECT h.at, h.kind, h.task, coalesce(t.key, ''), h.detail FROM (
        SELECT at, kind, task, coalesce(detail, '') AS detail, 1 AS step, id FROM events
        UNION ALL SELECT coalesce(finished_at, 0), outcome, task, reason, 0, rowid FROM attempts
    ) h LEFT JOIN tasks t ON t.id = h.task
"""


def _exceptional(manifest: Manifest, places: Places) -> EventList:
    """List events and failed attempts by time; only the first and the last if there are many."""
    [(total,)] = manifest.query(
        "SELECT (SELECT count(*) FROM events) + (SELECT count(*) FROM attempts)"
    )
    first = total if total <= MAX_EVENTS else MAX_EVENTS // 2
    last = min(total - first, MAX_EVENTS // 2)
    rows = manifest.query(f"{_EXCEPTIONAL} ORDER BY h.at, h.step, h.id LIMIT ?", first)
    latest = manifest.query(
        f"{_EXCEPTIONAL} ORDER BY h.at DESC, h.step DESC, h.id DESC LIMIT ?", last
    )
    events = [_event(row, places) for row in (*rows, *reversed(latest))]
    return EventList(tuple(events), total, "exceptional events only")


def _event(row: tuple[float, str, int, str, str], places: Places) -> EventFacts:
    at, kind, task, key, detail = row
    place = clip(places.name(task), 100) if key else ""
    return EventFacts(at, clip(kind, 80), place, key, clip(detail, DETAIL_BYTES))


def _bounded(events: list[EventFacts], scope: str) -> EventList:
    half = MAX_EVENTS // 2
    rows = events if len(events) <= MAX_EVENTS else [*events[:half], *events[-half:]]
    return EventList(tuple(rows), len(events), scope)

"""When each worker was busy: spans per worker, merged until they fit a page. Pure.

Spans are put into a fine grid by their start, so that a million tasks need bounded memory. Spans of
a worker that nearly touch are then merged; the permitted gap grows until few enough are left.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

GRID = 3000
MAX_SPANS = 2400
MAX_TRACKS = 64


@dataclass(frozen=True, slots=True, order=True)
class WorkerId:
    """A process that ran tasks; `started` distinguishes two with the same pid."""

    node: str
    gpu: int
    """-1 for none."""
    pid: int
    started: float

    def label(self) -> str:
        """Return its name for display."""
        gpu = f" · gpu {self.gpu}" if self.gpu >= 0 else ""
        return f"{self.node}{gpu} · pid {self.pid}"


@dataclass(frozen=True, slots=True)
class WorkSpan:
    """A period of work on `tasks` tasks, `failed` of which failed, busy for `busy_s`."""

    start: float
    end: float
    tasks: int
    failed: int
    busy_s: float
    running: bool = False


@dataclass(frozen=True, slots=True)
class Track:
    """One worker's spans, by start, and the times at which an attempt was lost or failed."""

    worker: WorkerId
    spans: tuple[WorkSpan, ...]
    marks: tuple[float, ...]
    tasks: int
    busy_s: float


@dataclass(frozen=True, slots=True)
class Timeline:
    """The tracks shown, out of `workers` in all, from `start` to `end`."""

    start: float
    end: float
    tracks: tuple[Track, ...]
    workers: int
    merged: bool
    """Whether a span may represent several tasks."""


@dataclass(slots=True)
class TimelineBuilder:
    """Builds a timeline from spans in any order."""

    start: float
    end: float
    _cells: dict[WorkerId, dict[int, WorkSpan]] = field(default_factory=dict)
    _marks: dict[WorkerId, list[float]] = field(default_factory=dict)
    _joined: bool = False

    @property
    def cell_s(self) -> float:
        """The number of seconds that a cell of the grid covers."""
        return (self.end - self.start) / GRID or 1.0

    def add(self, worker: WorkerId, span: WorkSpan) -> None:
        """Add a span, of one task or of some that start in one cell, to its cell of the grid."""
        cells = self._cells.setdefault(worker, {})
        cell = int((span.start - self.start) / self.cell_s)
        old = cells.get(cell)
        self._joined |= old is not None or span.tasks > 1
        cells[cell] = span if old is None else _join(old, span)

    def mark(self, worker: WorkerId, at: float) -> None:
        """Add the time at which an attempt ended without success."""
        self._marks.setdefault(worker, []).append(at)

    def finish(self) -> Timeline:
        """Return the busiest workers' tracks in worker order, small enough for a page."""
        workers = sorted({*self._cells, *self._marks})
        busiest = sorted(sorted(workers, key=lambda w: (-self._busy_s(w), w))[:MAX_TRACKS])
        rows = [sorted(self._cells.get(w, {}).values(), key=lambda s: s.start) for w in busiest]
        before = sum(map(len, rows))
        rows = _fit(rows, self.end - self.start)
        merged = self._joined or sum(map(len, rows)) < before
        tracks = [self._track(w, spans) for w, spans in zip(busiest, rows, strict=True)]
        return Timeline(self.start, self.end, tuple(tracks), len(workers), merged)

    def _busy_s(self, worker: WorkerId) -> float:
        return sum(span.busy_s for span in self._cells.get(worker, {}).values())

    def _track(self, worker: WorkerId, spans: Sequence[WorkSpan]) -> Track:
        marks = sorted(self._marks.get(worker, []))
        step = max(1, len(marks) // 100)
        tasks = sum(span.tasks for span in spans)
        return Track(
            worker, tuple(spans), tuple(marks[::step]), tasks, sum(span.busy_s for span in spans)
        )


def _fit(rows: list[list[WorkSpan]], length: float) -> list[list[WorkSpan]]:
    gap = length / GRID / 2
    while sum(map(len, rows)) > MAX_SPANS:
        rows = [list(_merged(spans, gap)) for spans in rows]
        gap *= 2
    return rows


def _merged(spans: Iterable[WorkSpan], gap: float) -> Iterator[WorkSpan]:
    last: WorkSpan | None = None
    for span in spans:
        if last is not None and not span.running and span.start - last.end <= gap:
            last = _join(last, span)
        else:
            if last is not None:
                yield last
            last = span
    if last is not None:
        yield last


def _join(a: WorkSpan, b: WorkSpan) -> WorkSpan:
    return replace(
        a,
        start=min(a.start, b.start),
        end=max(a.end, b.end),
        tasks=a.tasks + b.tasks,
        failed=a.failed + b.failed,
        busy_s=a.busy_s + b.busy_s,
        running=a.running or b.running,
    )

"""Shapes and figures for the templates: the strip of states, derived figures, timeline rows. Pure.

Shapes are numbers and SVG paths, never styles, so that a page's policy may forbid styles.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from weft.inspect.report.overview import Overview
from weft.inspect.report.payload import labels
from weft.inspect.report.timeline import Timeline, Track
from weft.inspect.report.totals import Totals
from weft.inspect.report.work import Work

TICKS = 5
STRIP_WIDTH = 1000
LEAST_PART = 4
"""Minimum width of a state, so that one task among many is still visible."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Figures derived from the overview, work and totals of a run."""

    overview: Overview
    work: Work | None = None
    totals: Totals | None = None

    @property
    def total(self) -> int:
        """Number of tasks in any state."""
        return sum(count for _, count in self.overview.counts)

    @property
    def most_tasks(self) -> int:
        """Number of tasks in the longest bar of the histogram."""
        bars = self.totals.durations if self.totals else ()
        return max((bar.tasks for bar in bars), default=1)

    @property
    def strip(self) -> list[tuple[str, float, float]]:
        """Name, start and width of the part of each state that has tasks."""
        return list(_parts(self.overview))


def _parts(overview: Overview) -> Iterator[tuple[str, float, float]]:
    counts = [(state, count) for state, count in overview.counts if count]
    total = sum(count for _, count in counts)
    room = STRIP_WIDTH - LEAST_PART * len(counts)
    x = 0.0
    for state, count in counts:
        width = LEAST_PART + room * count / total
        yield state, round(x, 2), round(width, 2)
        x += width


# -- the timeline ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TimelineRow:
    """One worker of the timeline: paths in a box 1000 wide and 10 high."""

    label: str
    tasks: int
    busy_s: float
    share: float
    worked: str
    failed: str
    running: str
    marks: str


@dataclass(frozen=True, slots=True)
class TimelineDrawing:
    """A timeline as a template draws it; `ticks` are evenly spaced, in seconds since its start."""

    rows: tuple[TimelineRow, ...]
    ticks: tuple[float, ...]


def draw_timeline(work: Work | None) -> TimelineDrawing | None:
    """Convert the spans of a run's workers to paths; None without a timeline."""
    timeline = work.timeline if work else None
    if timeline is None:
        return None
    length = timeline.end - timeline.start
    names = labels(timeline.tracks)
    rows = [_row(t, name, timeline) for t, name in zip(timeline.tracks, names, strict=True)]
    return TimelineDrawing(tuple(rows), tuple(length * i / (TICKS - 1) for i in range(TICKS)))


def _row(track: Track, label: str, timeline: Timeline) -> TimelineRow:
    length = timeline.end - timeline.start or 1.0
    paths = {"worked": "", "failed": "", "running": ""}
    for span in track.spans:
        kind = "running" if span.running else "failed" if span.failed == span.tasks else "worked"
        x = 1000 * (span.start - timeline.start) / length
        width = max(0.4, 1000 * (span.end - span.start) / length)
        paths[kind] += f"M{x:.5g} 0h{width:.3g}v10h-{width:.3g}z"
    marks = [1000 * (at - timeline.start) / length for at in track.marks]
    lines = "".join(f"M{x:.5g} 0v10" for x in marks)
    return TimelineRow(
        label, track.tasks, track.busy_s, track.busy_s / length, **paths, marks=lines
    )

"""The times of a run: wall time without pauses, task time, and the workers' timeline."""

from __future__ import annotations

from dataclasses import dataclass, replace

from weft.inspect.report.tasks import worker_of
from weft.inspect.report.timeline import Timeline, TimelineBuilder, WorkSpan
from weft.storage.manifest import Manifest

MAX_MARKS = 20_000
_SELECT_SPANS = """
    SELECT node, gpu, worker_pid, worker_started, min(started_at), max(max(started_at, ended_at)),
           count(*), sum(failed), sum(coalesce(run_s, max(0.0, ended_at - started_at))),
           max(running)
    FROM (SELECT node, gpu, worker_pid, worker_started, started_at, run_s,
                 CAST((started_at - ?) / ? AS INTEGER) AS cell,
                 coalesce(finished_at, ?) AS ended_at, error IS NOT NULL AS failed,
                 finished_at IS NULL AS running
          FROM tasks
          WHERE started_at IS NOT NULL AND worker_pid IS NOT NULL AND state != 'queued')
    GROUP BY node, gpu, worker_pid, worker_started, cell
"""
"""The spans of each worker; those that start in one cell of the timeline's grid are added up."""


@dataclass(frozen=True, slots=True)
class Work:
    """Times of a run; None before the first event."""

    started_at: float | None
    ended_at: float | None
    wall_s: float | None
    """From the first task queued to the last event, without `paused_s`."""
    paused_s: float
    """Time between each interruption and the work after it."""
    busy_s: float
    """Sum of the durations of tasks."""
    timeline: Timeline | None = None

    @property
    def speed_up(self) -> float | None:
        """Task time divided by wall time: the average number of busy workers."""
        return self.busy_s / self.wall_s if self.wall_s else None


def read_work(manifest: Manifest) -> Work:
    """Return the times of a run, with its timeline."""
    work = measure(manifest)
    if work.started_at is None or work.ended_at is None:
        return work
    return replace(work, timeline=_build_timeline(manifest, work.started_at, work.ended_at))


def measure(manifest: Manifest) -> Work:
    """Return the times of a run from its manifest, without a timeline; reads no clock."""
    first, last, busy_s, spans_from = manifest.query(
        "SELECT min(queued_at), max(max(coalesce(queued_at, 0), coalesce(started_at, 0),"
        " coalesce(finished_at, 0))), coalesce(sum(run_s), 0), min(started_at) FROM tasks"
    )[0]
    if first is None or not last:
        return Work(None, None, None, 0.0, busy_s)
    attempts_last = manifest.query("SELECT coalesce(max(finished_at), 0) FROM attempts")[0][0]
    start, end = min(first, spans_from or first), max(last, attempts_last)
    pause_s = paused_s(manifest)
    wall_s = max(0.0, end - start - pause_s)
    return Work(start, end, wall_s, pause_s, busy_s)


def paused_s(manifest: Manifest) -> float:
    """Return the seconds in which no coordinator worked on the run."""
    pauses = manifest.query(
        "SELECT e.at, (SELECT min(started_at) FROM tasks WHERE started_at > e.at) AS next"
        " FROM events e WHERE e.kind = 'interrupted' AND next IS NOT NULL"
    )
    pauses += manifest.query(
        "SELECT (SELECT max(finished_at) FROM tasks WHERE finished_at < a.at) AS last, a.at"
        " FROM (SELECT DISTINCT finished_at AS at FROM attempts WHERE reason = 'coordinator-died')"
        " a WHERE last IS NOT NULL"
    )
    total, reached = 0.0, float("-inf")
    for begin, end in sorted(pauses):
        total += max(0.0, end - max(begin, reached))
        reached = max(reached, end)
    return total


def _build_timeline(manifest: Manifest, start: float, end: float) -> Timeline:
    builder = TimelineBuilder(start, end)
    for node, gpu, pid, worker_started, *columns in manifest.query(
        _SELECT_SPANS, start, builder.cell_s, end
    ):
        builder.add(worker_of(node, gpu, pid, worker_started), _span(*columns))
    marks = manifest.query(
        "SELECT node, gpu, worker_pid, worker_started, finished_at FROM attempts"
        " WHERE worker_pid IS NOT NULL AND finished_at IS NOT NULL ORDER BY rowid LIMIT ?",
        MAX_MARKS,
    )
    for node, gpu, pid, worker_started, at in marks:
        builder.mark(worker_of(node, gpu, pid, worker_started), at)
    return builder.finish()


def _span(
    start: float, end: float, tasks: int, failed: int, busy_s: float, running: int
) -> WorkSpan:
    return WorkSpan(start, end, tasks, failed, busy_s, bool(running))

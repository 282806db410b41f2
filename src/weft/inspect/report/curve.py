"""A run's results over time, reduced to the points of a curve."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from weft.inspect.access import open_manifest
from weft.inspect.report.work import Work, measure
from weft.model.values import JsonValue
from weft.storage.folder import RunFolder
from weft.storage.manifest import Manifest

POINTS = 240
WINDOW = 12
"""Points over which speed is averaged."""


def read_progress(run: Path) -> dict[str, JsonValue]:
    """Return the curve of a run; empty without a manifest."""
    folder = RunFolder(run)
    if not folder.manifest.is_file():
        return empty_curve()
    with open_manifest(folder) as manifest:
        return read_curve(manifest, measure(manifest))


def empty_curve() -> dict[str, JsonValue]:
    """Return the curve of a run in which nothing has happened yet."""
    return {"at_s": [], "done": [], "failed": [], "per_s": []}


def read_curve(manifest: Manifest, work: Work) -> dict[str, JsonValue]:
    """Return seconds since the start, and for each the tasks done, failed, and per second."""
    if work.started_at is None or work.ended_at is None or work.ended_at <= work.started_at:
        return empty_curve()
    step_s = (work.ended_at - work.started_at) / POINTS
    rows = manifest.query(
        "SELECT CAST((finished_at - ?) / ? AS INTEGER) AS bin, count(*), sum(error IS NOT NULL)"
        " FROM tasks WHERE finished_at IS NOT NULL GROUP BY bin ORDER BY bin",
        work.started_at,
        step_s,
    )
    return _curve([(bin_, count, failed) for bin_, count, failed in rows], step_s)


def _curve(rows: Sequence[tuple[int, int, int]], step_s: float) -> dict[str, JsonValue]:
    over = {min(max(0, bin_), POINTS - 1): (0, 0) for bin_, _, _ in rows}
    for bin_, count, failed in rows:
        place = min(max(0, bin_), POINTS - 1)
        before = over[place]
        over[place] = (before[0] + count, before[1] + failed)
    at_s, done_sum, failed_sum, per_s = [0.0], [0], [0], [0.0]
    for place in range(POINTS):
        count, failed = over.get(place, (0, 0))
        at_s.append(round((place + 1) * step_s, 4))
        done_sum.append(done_sum[-1] + count)
        failed_sum.append(failed_sum[-1] + failed)
        points = min(WINDOW, place + 1)
        per_s.append(round((done_sum[-1] - done_sum[-1 - points]) / (points * step_s), 3))
    return {"at_s": [*at_s], "done": [*done_sum], "failed": [*failed_sum], "per_s": [*per_s]}

"""Sums over all tasks of a run, however many: per function, lane and round, and by duration.

Everything is grouped in SQLite; what comes back is small. Lists are bounded and say so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weft.inspect.report.text import duration
from weft.storage.manifest import Manifest

MAX_LINES = 200
BOUNDS_S = (
    0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0,
    3000.0, 10000.0,
)  # fmt: skip
_SUMS = (
    "count(t.id), coalesce(sum(t.state = 'completed'), 0), coalesce(sum(t.state = 'failed'), 0),"
    " coalesce(sum(t.run_s), 0), max(t.run_s)"
)


@dataclass(frozen=True, slots=True)
class Sum:
    """How the tasks with one name (a function, a lane, a round) went."""

    name: str
    tasks: int
    completed: int
    failed: int
    busy_s: float
    longest_s: float | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Sums:
    """Some lines of `total`; the first and the last when not all."""

    lines: tuple[Sum, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Bar:
    """Tasks that took a time in one range."""

    label: str
    tasks: int


@dataclass(frozen=True, slots=True)
class Totals:
    """All sums of a run."""

    functions: Sums
    lanes: Sums
    rounds: Sums
    durations: tuple[Bar, ...]


def read_totals(manifest: Manifest) -> Totals:
    """Sum up every task of the manifest."""
    functions = manifest.query(
        f"SELECT t.function, {_SUMS} FROM tasks t GROUP BY t.function ORDER BY t.function"  # noqa: S608
    )
    rounds = manifest.query(
        "SELECT l.path, r.round, r.size, r.recorded, r.closed, r.stopped,"  # noqa: S608
        f" {_SUMS} FROM rounds r JOIN lanes l ON l.id = r.lane"
        " LEFT JOIN tasks t ON t.id >= r.first AND t.id < r.first + coalesce(r.size, r.recorded)"
        " WHERE r.kind = 'tasks' GROUP BY r.id ORDER BY l.path, r.round"
    )
    return Totals(
        _bounded([Sum(*row) for row in functions]),
        _bounded(_lanes(manifest, rounds)),
        _bounded([_round(row) for row in rounds]),
        _durations(manifest),
    )


def _bounded(lines: list[Sum]) -> Sums:
    half = MAX_LINES // 2
    shown = lines if len(lines) <= MAX_LINES else [*lines[:half], *lines[-half:]]
    return Sums(tuple(shown), len(lines))


def _round(row: tuple[Any, ...]) -> Sum:
    lane, number, size, recorded, closed, stopped = row[:6]
    note = "ended" if closed else f"{recorded:,} of {'?' if size is None else f'{size:,}'} recorded"
    if stopped:
        note = f"stopped early after {recorded:,} of {size:,}"
    tasks, completed, failed, busy_s, longest_s = row[6:]
    name = f"{lane or '/'} : {number}"
    return Sum(name, tasks, completed, failed, busy_s, longest_s, note)


def _lanes(manifest: Manifest, rounds: list[tuple[Any, ...]]) -> list[Sum]:
    """Add up rounds per lane; lanes that only opened other lanes are left out."""
    answered = dict(manifest.query("SELECT path, answer IS NOT NULL FROM lanes"))
    sums: dict[str, Sum] = {}
    for row in rounds:
        path, (tasks, completed, failed, busy_s, longest_s) = row[0], row[6:]
        old = sums.get(path) or Sum(path or "/", 0, 0, 0, 0.0, None)
        sums[path] = Sum(
            old.name,
            old.tasks + tasks,
            old.completed + completed,
            old.failed + failed,
            old.busy_s + busy_s,
            max((s for s in (old.longest_s, longest_s) if s is not None), default=None),
            "answered" if answered.get(path) else "open",
        )
    return [sums[path] for path in sorted(sums)]


def _durations(manifest: Manifest) -> tuple[Bar, ...]:
    cases = " ".join(f"WHEN run_s < {bound} THEN {i}" for i, bound in enumerate(BOUNDS_S))
    rows = manifest.query(
        f"SELECT CASE {cases} ELSE {len(BOUNDS_S)} END AS bin, count(*) FROM tasks"  # noqa: S608
        " WHERE run_s IS NOT NULL GROUP BY bin ORDER BY bin"
    )
    if not rows:
        return ()
    counts = dict(rows)
    return tuple(Bar(_label(i), counts.get(i, 0)) for i in range(rows[0][0], rows[-1][0] + 1))


def _label(index: int) -> str:
    if index == len(BOUNDS_S):
        return f"≥ {duration(BOUNDS_S[-1])}"
    return f"< {duration(BOUNDS_S[index])}"

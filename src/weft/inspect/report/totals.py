"""Sums over all tasks of a run: per function, lane and round, and by duration.

SQLite groups the rows, so the results are small. Lists are bounded and state their total.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from weft.inspect.report.text import duration
from weft.storage.manifest import Manifest

MAX_LINES = 200
BOUNDS_S = (
    0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0,
    3000.0, 10000.0,
)  # fmt: skip
_SELECT_FUNCTIONS = """
    SELECT t.function, count(t.id), coalesce(sum(t.state = 'completed'), 0),
           coalesce(sum(t.state = 'failed'), 0), coalesce(sum(t.run_s), 0), max(t.run_s)
    FROM tasks t GROUP BY t.function ORDER BY t.function
"""
_SELECT_ROUNDS = """
    SELECT l.path, r.round, r.size, r.recorded, r.closed, r.stopped,
           count(t.id), coalesce(sum(t.state = 'completed'), 0),
           coalesce(sum(t.state = 'failed'), 0), coalesce(sum(t.run_s), 0), max(t.run_s)
    FROM rounds r JOIN lanes l ON l.id = r.lane
    LEFT JOIN tasks t ON t.id >= r.first AND t.id < r.first + coalesce(r.size, r.recorded)
    WHERE r.kind = 'tasks' GROUP BY r.id ORDER BY l.path, r.round
"""


@dataclass(frozen=True, slots=True)
class Sum:
    """Counts and times of the tasks with one name (a function, a lane, a round)."""

    name: str
    tasks: int
    completed: int
    failed: int
    busy_s: float
    longest_s: float | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Sums:
    """The lines shown, out of `total`; the first and the last if not all."""

    lines: tuple[Sum, ...]
    total: int


@dataclass(frozen=True, slots=True)
class Bar:
    """Number of tasks whose duration is in one range."""

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
    """Sum up all tasks of the manifest."""
    functions = manifest.query(_SELECT_FUNCTIONS)
    rounds = [_RoundRow(*row) for row in manifest.query(_SELECT_ROUNDS)]
    return Totals(
        _bounded([Sum(*row) for row in functions]),
        _bounded(_lanes(manifest, rounds)),
        _bounded([_round(row) for row in rounds]),
        _durations(manifest),
    )


def _bounded(lines: list[Sum]) -> Sums:
    half = MAX_LINES // 2
    chosen = lines if len(lines) <= MAX_LINES else [*lines[:half], *lines[-half:]]
    return Sums(tuple(chosen), len(lines))


class _RoundRow(NamedTuple):
    """The columns of one round, in the order of `_SELECT_ROUNDS`."""

    lane: str
    round: int
    size: int | None
    recorded: int
    closed: int
    stopped: int
    tasks: int
    completed: int
    failed: int
    busy_s: float
    longest_s: float | None


def _round(row: _RoundRow) -> Sum:
    size = "?" if row.size is None else f"{row.size:,}"
    note = "ended" if row.closed else f"{row.recorded:,} of {size} recorded"
    if row.stopped:
        note = f"stopped early after {row.recorded:,} of {size}"
    name = f"{row.lane or '/'} : {row.round}"
    return Sum(name, row.tasks, row.completed, row.failed, row.busy_s, row.longest_s, note)


def _lanes(manifest: Manifest, rounds: list[_RoundRow]) -> list[Sum]:
    """Add up rounds per lane; lanes that only opened other lanes are left out."""
    has_answer = dict(manifest.query("SELECT path, answer IS NOT NULL FROM lanes"))
    sums: dict[str, Sum] = {}
    for row in rounds:
        old = sums.get(row.lane) or Sum(row.lane or "/", 0, 0, 0, 0.0, None)
        sums[row.lane] = Sum(
            old.name,
            old.tasks + row.tasks,
            old.completed + row.completed,
            old.failed + row.failed,
            old.busy_s + row.busy_s,
            max((s for s in (old.longest_s, row.longest_s) if s is not None), default=None),
            "answered" if has_answer.get(row.lane) else "open",
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

"""Rows of the manifest for those who write or read very many, and the statements that write them.

They are plain tuples: a dataclass for each of a million rows would cost more than its columns.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class BlockOrigin:
    """What the rows of one block of completed tasks have in common."""

    function: str
    attempt: int
    queued_at: float
    worker_pid: int | None
    worker_started: float | None
    node: str | None
    gpu: int | None


RecordedRow: TypeAlias = tuple[int, str, str, str, str, str | None, str | None]
"""id, state, key, function, args, value, error: a `TaskRow` for those who read very many."""
FinalRow: TypeAlias = tuple[str, str, str, bool]
"""key, function, args, whether it failed: what was asked of a task that is over."""
FinishedRow: TypeAlias = tuple[
    int, str, str, str, str, str | None, str | None, str, int, float | None, float, float, float,
    int | None, float | None, str | None, int | None, str | None,
]  # fmt: skip
"""The columns of the table `tasks`, in their order."""
ValueRow: TypeAlias = tuple[int, str, str, str, str, float, float, float]
"""id, key, args, value, digest, started_at, finished_at, run_s"""
QueuedRow: TypeAlias = tuple[int, str, str, str, float]
"""id, key, function, args, queued_at"""
RunningRow: TypeAlias = tuple[
    int, str, str, str, float, int, int | None, float | None, str | None, int | None
]
"""id, key, function, args, started_at, attempt, worker_pid, worker_started, node, gpu"""
AttemptRow: TypeAlias = tuple[
    int, int, str, str, str, float | None, float,
    int | None, float | None, str | None, int | None,
]  # fmt: skip
"""The columns of the table `attempts`, in their order."""

_OUTCOME = ("state value error digest attempt started_at finished_at run_s"
            " worker_pid worker_started node gpu notes")  # fmt: skip
_REPLACE_OUTCOME = "ON CONFLICT (id) DO UPDATE SET " + ", ".join(
    f"{column}=excluded.{column}" for column in _OUTCOME.split()
)


def _insert(columns: str) -> str:
    """The statement that writes a row of `tasks`, or the outcome into the row that there is."""
    return f"INSERT INTO tasks VALUES ({columns}) {_REPLACE_OUTCOME}"  # noqa: S608 - no user's text


FINISH_TASK = _insert(", ".join("?" * 18))
"""Writes a `FinishedRow`; most tasks have no row before."""


def whole_row(origin: BlockOrigin, row: ValueRow) -> FinishedRow:
    """Return the row that a `ValueRow` of a block stands for."""
    id_, key, args, value, digest, started_at, finished_at, run_s = row
    return (
        id_, "completed", key, origin.function, args, value, None, digest, origin.attempt,
        origin.queued_at, started_at, finished_at, run_s, origin.worker_pid,
        origin.worker_started, origin.node, origin.gpu, None,
    )  # fmt: skip


def finish_block_statement(origin: BlockOrigin) -> str:
    """Return the statement that writes a `ValueRow` as `FINISH_TASK` would the whole row.

    What the rows share stands in the statement: most of an insert's cost is the binding of values.
    """
    shared = (origin.worker_pid, origin.worker_started, origin.node, origin.gpu, None)
    return _insert(
        f"?, 'completed', ?, {_literal(origin.function)}, ?, ?, NULL, ?,"
        f" {_literal(origin.attempt)}, {_literal(origin.queued_at)}, ?, ?, ?,"
        f" {', '.join(map(_literal, shared))}"
    )


def _literal(value: str | float | None) -> str:
    """A value as SQL text; a quote inside a text is written twice."""
    if isinstance(value, str):
        return "'" + value.replace("'", "''") + "'"
    return "NULL" if value is None else repr(value)

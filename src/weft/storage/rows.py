"""Rows of the manifest, and the statements that write very many of them.

The most numerous rows are plain tuples: a million dataclasses would cost more than their columns.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import accumulate, chain, islice
from typing import NamedTuple, TypeAlias

FINAL = ("completed", "failed")
SETTLED = (*FINAL, "dropped", "cancelled")
OPEN = ("queued", "running")


@dataclass(slots=True)
class RoundRow:
    """One round as stored in the manifest."""

    id: int
    kind: str
    size: int | None
    first: int
    recorded: int
    closed: bool
    stopped: bool


@dataclass(frozen=True, slots=True)
class TaskRow:
    """One recorded task: what it was and how it ended."""

    id: int
    state: str
    key: str
    function: str
    args: str
    value: str | None
    error: str | None
    attempt: int


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


@dataclass(frozen=True, slots=True)
class ValueBlock:
    """Completed tasks with consecutive ids, as columns: a tuple for each row would cost more."""

    origin: BlockOrigin
    first: int
    """Id of the first task, which started at `started_at`; each other one started when the one
    before it ended."""
    keys: Sequence[str]
    args: Sequence[str]
    values: Sequence[str]
    started_at: float
    run_us: Sequence[int]


class ValueColumns(NamedTuple):
    """What the ledger and the search need of consecutive completed tasks of one function."""

    function: str
    keys: Sequence[str]
    args: Sequence[str]
    values: Sequence[str]


RecordedRow: TypeAlias = tuple[int, str, str, str, str, str | None, str | None]
"""id, state, key, function, args, value, error: a lighter `TaskRow`, for reading very many."""
FinalRow: TypeAlias = tuple[str, str, str, bool]
"""key, function, args, whether it failed: the call of a finished task."""
FinishedRow: TypeAlias = tuple[
    int, str, str, str, str, str | None, str | None, str, int, float | None, float, float, float,
    int | None, float | None, str | None, int | None, str | None,
]  # fmt: skip
"""The columns of the table `tasks`, in their order."""
ValueRow: TypeAlias = tuple[str, str, str, str, float, float]
"""key, args, value, digest, started_at, run_s; it finished at the sum of the two"""
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

_SHARING = (
    "? + column1, 'completed', column2, ?, column3, column4, NULL, column5, ?, ?,"
    " column6, column6 + column7, column7, ?, ?, ?, ?, NULL"
)
FINISH_TASK = f"INSERT INTO tasks VALUES ({', '.join('?' * 18)}) {_REPLACE_OUTCOME}"  # noqa: S608
"""Writes a `FinishedRow`; most of the tasks have no row yet."""
STATEMENT_ROWS = (128, 32, 8)
"""How many rows of a block one statement writes: as many as fit, the rest one by one.

Starting and ending a statement costs as much as writing a row. SQLite before 3.32 accepts at most
999 parameters.
"""


def block_statements(
    block: ValueBlock, digests: Sequence[str]
) -> Iterator[tuple[str, tuple[str | float | None, ...]]]:
    """Yield statements and parameters that write most rows of a block, like `FINISH_TASK`."""
    origin, place, rows = block.origin, block.first, _value_rows(block, digests)
    end = place + len(block.keys)
    shared = (origin.function, origin.attempt, origin.queued_at,
              origin.worker_pid, origin.worker_started, origin.node, origin.gpu)  # fmt: skip
    for size in STATEMENT_ROWS:
        while place + size <= end:
            values: Iterable[str | float] = chain.from_iterable(islice(rows, size))
            yield _finish_rows(size), (place, *shared, *values)
            place += size


def rows_left(block: ValueBlock, digests: Sequence[str]) -> list[FinishedRow]:
    """Return the rows of a block that `block_statements` does not write."""
    o, count = block.origin, len(block.keys)
    start = count - count % STATEMENT_ROWS[-1]
    if start == count:
        return []
    return [
        (
            id_, "completed", key, o.function, args, value, None, digest, o.attempt, o.queued_at,
            started_at, started_at + run_s, run_s,
            o.worker_pid, o.worker_started, o.node, o.gpu, None,
        )
        for id_, (key, args, value, digest, started_at, run_s) in enumerate(
            islice(_value_rows(block, digests), start, None), block.first + start
        )
    ]  # fmt: skip


def _value_rows(block: ValueBlock, digests: Sequence[str]) -> Iterator[ValueRow]:
    run_s = [run_us / 1e6 for run_us in block.run_us]
    *started_at, _ = accumulate(run_s, initial=block.started_at)
    columns = (block.keys, block.args, block.values, digests, started_at, run_s)
    return zip(*columns, strict=True)


@cache
def _finish_rows(count: int) -> str:
    """Return the statement for `count` rows: an id, the shared values, then each row's own.

    Each shared parameter occurs once, in the list of the SELECT, so that none needs a number:
    Python 3.14 refuses numbered parameters.
    """
    own = ", ".join(f"({number}, ?, ?, ?, ?, ?, ?)" for number in range(count))
    return f"INSERT INTO tasks SELECT {_SHARING} FROM (VALUES {own}) WHERE true {_REPLACE_OUTCOME}"  # noqa: S608

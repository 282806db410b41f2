"""The manifest: a run's journal in SQLite, and the only source of truth while it runs.

One writer connection, synchronous=FULL, WAL; readers open read-only. Knows rows and
transactions, but not why a row changes, nor the ledger that is projected from it.
"""

from __future__ import annotations

import contextlib
import hashlib
import sqlite3
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from weft.errors import ManifestDamaged
from weft.storage import connection
from weft.storage.disk import Disk
from weft.storage.plainfile import check_database
from weft.storage.recent import RecentRows
from weft.storage.rowdigests import RowDigests
from weft.storage.rows import (
    FINAL,
    FINISH_TASK,
    AttemptRow,
    FinalRow,
    FinishedRow,
    QueuedRow,
    RecordedRow,
    RoundRow,
    RunningRow,
    TaskRow,
    ValueBlock,
    ValueColumns,
    block_statements,
    rows_left,
)
from weft.storage.schema import SCHEMA_VERSION, TABLES

ROOT_LANE = 1
PLAN = "plan"
"""`plan LANE` in meta: a lane's plan, for progress displays."""
MAX_ROUNDS = 256
"""How many rounds are read at a time."""
BATCH_CHARS = 1 << 18
"""How much text is read at a time, so that memory does not grow with the run."""


class Manifest:
    """A run's journal. Writes gather in one open transaction until `commit`."""

    def __init__(self, connection: sqlite3.Connection, disk: Disk) -> None:
        self._db = connection
        self._disk = disk
        self.run_id = self._meta("run_id")
        self.genesis = self._meta("genesis")
        self.digests = RowDigests(with_state=self._counter("schema_version") > 1)
        self.commits = self._counter("commits")
        self._recent = RecentRows()
        self._next_round: int = self._one("SELECT coalesce(max(id), 0) + 1 FROM rounds")[0]
        self._next_task: int = self._one(
            "SELECT max(1, coalesce(max(first + coalesce(size, recorded)), 1)) FROM rounds"
        )[0]

    @staticmethod
    def create(path: Path, disk: Disk, run_id: str, genesis: str, commits: int = 0) -> Manifest:
        """Create a new manifest that holds the genesis, atomically.

        One that replaces a lost manifest continues its count of commits, as last known.
        """
        temporary = path.with_name(path.name + ".tmp")
        for leftover in (temporary, temporary.with_name(temporary.name + "-journal")):
            leftover.unlink(missing_ok=True)
        with contextlib.closing(sqlite3.connect(temporary)) as db:
            db.execute("PRAGMA synchronous=FULL")
            db.execute("BEGIN")
            for table in TABLES.split(";\n"):
                db.execute(table)
            meta = {"schema_version": str(SCHEMA_VERSION), "run_id": run_id, "genesis": genesis}
            meta["commits"] = str(commits)
            db.executemany("INSERT INTO meta VALUES (?, ?)", meta.items())
            db.execute("INSERT INTO lanes (id, ordinal, path) VALUES (?, 0, '')", (ROOT_LANE,))
            disk.commit(db)
        disk.rename(temporary, path)
        return Manifest.open(path, disk)

    @staticmethod
    def open(path: Path, disk: Disk, *, read_only: bool = False) -> Manifest:
        """Open an existing manifest; raises `ManifestDamaged` if it is not one."""
        check_database(path)
        with connection.damage_named(path):
            db = connection.connect_reader(path) if read_only else connection.connect_writer(path)
            try:
                connection.check_schema(db, path)
                return Manifest(db, disk)
            except BaseException:
                db.close()
                raise

    # -- transactions ---------------------------------------------------------------------

    def commit(self) -> None:
        """Make everything since the last commit durable, and count it."""
        self._db.execute("UPDATE meta SET value = ? WHERE name='commits'", (str(self.commits + 1),))
        self._disk.commit(self._db)
        self.commits += 1

    def close(self) -> None:
        """Close without committing; uncommitted changes are lost."""
        self._db.rollback()
        self._db.close()

    def finish(self) -> None:
        """Merge the write-ahead log into the file, so that a finished manifest is one file.

        A concurrent reader prevents this, which does no harm.
        """
        try:
            self._db.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._db.execute("PRAGMA journal_mode=DELETE")
        except sqlite3.OperationalError as error:
            if "locked" not in str(error):
                raise

    def set_meta(self, name: str, value: str) -> None:
        """Store one named fact about the run."""
        self._db.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))
        if name == "run_id":
            self.run_id = value

    # -- rounds and lanes -----------------------------------------------------------------

    def find_round(self, lane: int, round_: int) -> RoundRow | None:
        """Return the round's row, if it was ever opened."""
        return next(iter(self.rounds(lane, round_, most=1)), None)

    def rounds(self, lane: int, start: int, most: int = MAX_ROUNDS) -> list[RoundRow]:
        """Return the next rounds of a lane from `start` on, up to the first that is missing."""
        cursor = self._db.execute(
            "SELECT round, id, kind, size, first, recorded, closed, stopped FROM rounds"
            " WHERE lane=? AND round>=? AND round<? ORDER BY round",
            (lane, start, start + most),
        )
        rows = list[RoundRow]()
        for number, id_, kind, size, first, recorded, closed, stopped in cursor:
            if number != start + len(rows):
                break
            rows.append(RoundRow(id_, kind, size, first, recorded, bool(closed), bool(stopped)))
        return rows

    def add_round(self, lane: int, round_: int, kind: str, size: int | None) -> RoundRow:
        """Open a round and reserve its block of task ids."""
        row = self.new_round(kind, size)
        self.insert_rounds([(lane, round_, row)])
        return row

    def new_round(self, kind: str, size: int | None) -> RoundRow:
        """Reserve the id of a round and those of its tasks; `insert_rounds` writes the row."""
        id_, first = self._next_round, self._next_task
        self._next_round += 1
        self._next_task += size if size is not None and kind == "tasks" else 0
        return RoundRow(id_, kind, size, first, 0, False, False)

    def insert_rounds(self, rounds: Sequence[tuple[int, int, RoundRow]]) -> None:
        """Insert new rounds, each with its lane and number."""
        self._db.executemany(
            "INSERT INTO rounds (id, lane, round, kind, size, first, recorded, closed, stopped)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                (r.id, lane, round_, r.kind, r.size, r.first, r.recorded, r.closed, r.stopped)
                for lane, round_, r in rounds
            ],
        )

    def forget_round(self, row: RoundRow) -> None:
        """Delete a round that no decision depends on, with everything recorded about its tasks."""
        self.forget_tasks(row.first, row.first + (row.size or 0))
        self._db.execute("DELETE FROM rounds WHERE id=?", (row.id,))

    def forget_tasks(self, first: int, end: int) -> None:
        """Delete tasks with first ≤ id < end; their events stay, without a task."""
        self._recent.clear()
        for statement in (
            "DELETE FROM tasks WHERE id >= ? AND id < ?",
            "DELETE FROM attempts WHERE task >= ? AND task < ?",
            "UPDATE events SET task = NULL WHERE task >= ? AND task < ?",
        ):
            self._db.execute(statement, (first, end))

    def learn_size(self, row: RoundRow, size: int) -> None:
        """Set the size of a rebuilt round; move its tasks behind all others if it cannot grow."""
        if row.first + row.recorded < self._next_task:
            self._move(row.first, row.first + row.recorded, self._next_task - row.first)
            row.first = self._next_task
        self._db.execute("UPDATE rounds SET size=?, first=? WHERE id=?", (size, row.first, row.id))
        row.size = size
        self._next_task = max(self._next_task, row.first + size)

    def _move(self, first: int, end: int, by: int) -> None:
        """Shift the ids of tasks; the new ids must be free."""
        self._recent.clear()
        for statement in (
            "UPDATE tasks SET id = id + ? WHERE id >= ? AND id < ?",
            "UPDATE attempts SET task = task + ? WHERE task >= ? AND task < ?",
            "UPDATE events SET task = task + ? WHERE task >= ? AND task < ?",
        ):
            self._db.execute(statement, (by, first, end))

    def update_round(self, row: RoundRow) -> None:
        """Write the progress of a round."""
        self._db.execute(
            "UPDATE rounds SET recorded=?, closed=?, stopped=? WHERE id=?",
            (row.recorded, row.closed, row.stopped, row.id),
        )

    def add_lanes(self, parent: int, round_: int, paths: Sequence[str]) -> None:
        """Open a set of lanes, in order."""
        self._db.executemany(
            "INSERT INTO lanes (parent, round, ordinal, path) VALUES (?, ?, ?, ?)",
            [(parent, round_, ordinal, path) for ordinal, path in enumerate(paths)],
        )

    def lanes_of(self, parent: int, round_: int) -> list[tuple[int, str]]:
        """Return (id, path) of a set of lanes, in order."""
        return self._db.execute(
            "SELECT id, path FROM lanes WHERE parent=? AND round=? ORDER BY ordinal",
            (parent, round_),
        ).fetchall()

    def lane_answer(self, lane: int) -> str | None:
        """Return the recorded answer body of a lane, if it has ended."""
        answer: str | None = self._one("SELECT answer FROM lanes WHERE id=?", lane)[0]
        return answer

    def set_answer(self, lane: int, answer: str) -> None:
        """Record a lane's answer body."""
        self._db.execute("UPDATE lanes SET answer=? WHERE id=?", (answer, lane))

    # -- tasks ----------------------------------------------------------------------------

    def queue(self, rows: Sequence[QueuedRow]) -> None:
        """Insert queued tasks."""
        self._db.executemany(
            "INSERT INTO tasks (id, state, key, function, args, queued_at)"
            " VALUES (?, 'queued', ?, ?, ?, ?)",
            rows,
        )

    def tasks(self, first: int, end: int) -> Iterator[TaskRow]:
        """Yield the rows with first ≤ id < end, by id, each checked against its digest."""
        cursor = self._db.execute(
            "SELECT id, state, key, function, args, value, error, attempt, digest FROM tasks"
            " WHERE id >= ? AND id < ? ORDER BY id",
            (first, end),
        )
        for *fields, digest in cursor:
            row = TaskRow(*fields)
            self.digests.check(row, digest)
            yield row

    def recorded(self, first: int, end: int) -> Iterator[list[RecordedRow]]:
        """Yield the rows with first ≤ id < end, by id, in lists of bounded size, each row checked.

        If all of them were written recently, they come from memory.
        """
        if (recent := self._recent.rows(first, end)) is not None:
            if recent:
                yield recent
            return
        cursor = self._db.execute(
            "SELECT id, state, key, function, args, value, error, digest FROM tasks"
            " WHERE id >= ? AND id < ? ORDER BY id",
            (first, end),
        )
        rows, size, blake2b = list[RecordedRow](), 0, hashlib.blake2b
        with_state = self.digests.with_state
        for id_, state, key, function, args, value, error, digest in cursor:
            text = f"{key}\n{function}\n{args}\n{value}\n{error}"
            if with_state:
                text = f"{state}\n{text}"
            code = blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()
            if code != digest or state not in FINAL:
                row = TaskRow(id_, state, key, function, args, value, error, 0)
                self.digests.check(row, digest)
            rows.append((id_, state, key, function, args, value, error))
            size += len(text)
            if size > BATCH_CHARS:
                yield rows
                rows, size = [], 0
        if rows:
            yield rows

    def recent_columns(self, first: int, end: int) -> ValueColumns | None:
        """Return rows as columns if all were recently written in blocks; None otherwise."""
        return self._recent.columns(first, end)

    def final_calls(self, first: int, end: int) -> list[FinalRow]:
        """Return the calls of finished tasks from `first` on, up to a gap, and whether each failed.

        For comparing keys only: values and row digests are checked by `recorded`.
        """
        rows = self._db.execute(
            "SELECT key, function, args, state = 'failed', id FROM tasks"
            " WHERE id >= ? AND id < ? AND state IN ('completed', 'failed') ORDER BY id",
            (first, end),
        ).fetchall()
        count = len(rows)
        if rows and rows[-1][4] != first + count - 1:
            count = next(n for n, row in enumerate(rows) if row[4] != first + n)
        return [row[:4] for row in rows[:count]]

    def running(self, rows: Sequence[RunningRow]) -> None:
        """Mark tasks as running."""
        self._db.executemany(
            "INSERT INTO tasks (id, state, key, function, args, started_at, attempt, worker_pid,"
            " worker_started, node, gpu) VALUES (?, 'running', ?, ?, ?, ?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (id) DO UPDATE SET state='running', started_at=excluded.started_at,"
            " attempt=excluded.attempt, worker_pid=excluded.worker_pid,"
            " worker_started=excluded.worker_started, node=excluded.node, gpu=excluded.gpu",
            rows,
        )

    def requeue(self, row: tuple[int, str, str, str, int]) -> None:
        """Put a running task back into the queue: (id, key, function, args, attempt)."""
        self._db.execute(
            "INSERT INTO tasks (id, state, key, function, args, attempt)"
            " VALUES (?, 'queued', ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET state='queued'",
            row,
        )

    def finish_tasks(self, rows: Sequence[FinishedRow]) -> None:
        """Record final outcomes; most of the tasks have no row yet."""
        self._db.executemany(FINISH_TASK, rows)
        self._recent.add([row[:7] for row in rows])

    def finish_block(self, block: ValueBlock) -> None:
        """Record completed tasks of one block, as `finish_tasks` would."""
        digests = self.digests.of_block(block)
        for statement, parameters in block_statements(block, digests):
            self._db.execute(statement, parameters)
        self._db.executemany(FINISH_TASK, rows_left(block, digests))
        self._recent.add_block(block)

    def drop(self, first: int, end: int) -> None:
        """Mark tasks beyond an early stop: finished ones as dropped, all others as cancelled."""
        self._recent.clear()
        self._db.execute(
            "UPDATE tasks SET state = CASE WHEN state IN ('completed', 'failed')"
            " THEN 'dropped' ELSE 'cancelled' END WHERE id >= ? AND id < ?",
            (first, end),
        )
        if self.digests.with_state:
            self._db.create_function("row_digest", 6, self.digests.of, deterministic=True)
            self._db.execute(
                "UPDATE tasks SET digest = row_digest(state, key, function, args, value, error)"
                " WHERE id >= ? AND id < ?",
                (first, end),
            )

    def restore(self, row: TaskRow) -> None:
        """Insert or overwrite a task from a ledger record (rebuilding a lost manifest)."""
        self._db.execute(
            "INSERT INTO tasks (id, state, key, function, args, value, error, digest)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET"
            " state=excluded.state, key=excluded.key, function=excluded.function,"
            " args=excluded.args, value=excluded.value, error=excluded.error,"
            " digest=excluded.digest",
            (
                row.id,
                row.state,
                row.key,
                row.function,
                row.args,
                row.value,
                row.error,
                self.digests.of_row(row),
            ),
        )
        self._next_task = max(self._next_task, row.id + 1)

    # -- attempts, events, heads ----------------------------------------------------------

    def attempt(self, row: AttemptRow) -> None:
        """Insert one attempt that did not succeed (columns in schema order)."""
        self._db.execute("INSERT INTO attempts VALUES (?,?,?,?,?,?,?,?,?,?,?)", row)

    def event(self, at: float, monotonic: float, kind: str, task: int | None, detail: str) -> None:
        """Insert an event."""
        self._db.execute(
            "INSERT INTO events (at, monotonic, kind, task, detail) VALUES (?, ?, ?, ?, ?)",
            (at, monotonic, kind, task, detail),
        )

    def note_head(self, size: int, root: str, at: float) -> None:
        """Record a head (it becomes durable with the next commit)."""
        self._db.execute("INSERT INTO heads VALUES (?, ?, ?, ?)", (size, root, self.commits, at))

    # -- reading --------------------------------------------------------------------------

    def completed(self) -> Iterator[tuple[str, str]]:
        """Yield function and value of every completed task, in no particular order."""
        yield from self._db.execute("SELECT function, value FROM tasks WHERE state = 'completed'")

    def plans(self) -> dict[str, str]:
        """Return the lanes' plans, in JSON form, by the lane's path."""
        rows = self.query(
            "SELECT name, value FROM meta WHERE name GLOB ? ORDER BY name", f"{PLAN} *"
        )
        return {name.removeprefix(f"{PLAN} "): value for name, value in rows}

    def query(self, sql: str, *parameters: object) -> list[tuple[Any, ...]]:
        """Read rows, for views of the run."""
        return self._db.execute(sql, parameters).fetchall()

    def check(self) -> None:
        """Raise `ManifestDamaged` if the file is inconsistent or a row was altered."""
        self.check_file()
        self.check_rows(0, 2**63 - 1)

    def check_rows(self, first: int, end: int) -> None:
        """Raise `ManifestDamaged` if a task's row with first ≤ id < end was altered."""
        for _ in self.recorded(first, end):
            pass  # reading a row checks it

    def check_file(self) -> None:
        """Raise `ManifestDamaged` if SQLite finds the file inconsistent, or `check_rounds` does."""
        report = self._db.execute("PRAGMA integrity_check(1)").fetchone()[0]
        if report != "ok":
            raise ManifestDamaged(f"manifest.sqlite: {report.splitlines()[0]}")
        self.check_rounds()

    def check_rounds(self) -> None:
        """Raise `ManifestDamaged` for a round of unknown kind, which no reader would see."""
        sql = "SELECT round, kind FROM rounds WHERE kind NOT IN ('tasks', 'lanes') LIMIT 1"
        for number, kind in self._db.execute(sql):
            raise ManifestDamaged(f"manifest.sqlite: round {number} is of kind {kind!r}")

    def _meta(self, name: str) -> str:
        value: str = self._one("SELECT value FROM meta WHERE name=?", name)[0]
        return value

    def _counter(self, name: str) -> int:
        text = self._meta(name)
        if not (text.isascii() and text.isdigit()):
            raise ManifestDamaged(f"manifest.sqlite: {name} is {text[:40]!r}, not a number")
        return int(text)

    def _one(self, sql: str, *parameters: object) -> tuple[Any, ...]:
        row: tuple[Any, ...] | None = self._db.execute(sql, parameters).fetchone()
        if row is None:
            raise ManifestDamaged("manifest.sqlite: a row every run has is missing")
        return row

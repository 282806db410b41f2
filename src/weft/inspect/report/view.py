"""Read-only access of a search's pages to its run, with decoded values."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from weft.backends.recorded import REUSED
from weft.errors import InputError, ObjectDamaged
from weft.inspect.access import last_record, open_manifest
from weft.inspect.logs import log_tails
from weft.inspect.report.places import Block, Places
from weft.inspect.report.work import paused_s
from weft.ledger.records import Record
from weft.model.values import Object, decode, from_wire
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.ledgerfile import parse_at, whole_lines
from weft.storage.objects import CHUNK_BYTES, ObjectStore

CHUNK = 10_000
MAX_PAGE_BYTES = 800_000
"""Maximum size of what the pages of a search add to a report, in total."""


@dataclass(frozen=True, slots=True)
class ViewedTask:
    """One task of the run; `value` and `error` are None until it has one."""

    key: str
    lane: str
    round: int
    index: int
    function: str
    state: str
    args: Any
    value: Any
    error: Mapping[str, Any] | None
    run_s: float | None
    notes: Mapping[str, Any]
    attempt: int = 0
    started_at: float | None = None
    finished_at: float | None = None
    node: str | None = None
    gpu: int | None = None
    worker_pid: int | None = None
    worker_started: float | None = None
    queued_at: float | None = None

    @property
    def is_reused(self) -> bool:
        """Whether its result was reused from the run that this one retries."""
        return self.node == REUSED


@dataclass(frozen=True, slots=True)
class ViewedAttempt:
    """One attempt at the task with this key that did not succeed."""

    key: str
    attempt: int
    outcome: str
    """`failed` or `requeued`."""
    reason: str
    detail: str
    seconds: float | None = None
    """Duration by the wall clock; None if it did not start."""


@dataclass(frozen=True, slots=True)
class RunView:
    """One run, for the pages of its search. Everything is read on demand."""

    path: Path
    search: str
    page_bytes: int = MAX_PAGE_BYTES
    """Maximum size of the pages in this report, which may be large already."""

    def genesis(self) -> Mapping[str, Any]:
        """Return the body of record 0: search, version, config, inputs, seed."""
        return next(self.records()).body

    def answer(self) -> Any:
        """Return the body of the root's answer record, its value decoded; None if there is none."""
        record = last_record(RunFolder(self.path).ledger)
        if record is None or record.kind != "answer" or record.body.get("lane") != "":
            return None
        return {**record.body, "value": from_wire(record.body.get("value"))}

    def records(self) -> Iterator[Record]:
        """Yield every record of the ledger, in order."""
        for seq, line in enumerate(whole_lines(RunFolder(self.path).ledger)):
            yield parse_at(line, seq)

    def tasks(self) -> Iterator[ViewedTask]:
        """Yield every task created so far, in manifest order, including those without a record."""
        with open_manifest(RunFolder(self.path)) as manifest:
            places = Places.read(manifest)
            last = manifest.query("SELECT coalesce(max(id), 0) FROM tasks")[0][0]
            for first in range(0, last + 1, CHUNK):
                rows = manifest.query(
                    "SELECT id, key, function, state, args, value, error, run_s, notes, attempt,"
                    " started_at, finished_at, node, gpu, worker_pid, worker_started, queued_at"
                    " FROM tasks"
                    " WHERE id >= ? AND id < ? ORDER BY id",
                    first,
                    first + CHUNK,
                )
                for row in rows:
                    yield _viewed_task(row, places.of(row[0]))

    def attempts(self) -> Iterator[ViewedAttempt]:
        """Yield every attempt that did not succeed, by task and in order."""
        with open_manifest(RunFolder(self.path)) as manifest:
            rows = manifest.query(
                "SELECT t.key, a.attempt, a.outcome, a.reason, coalesce(a.detail, ''),"
                " a.finished_at - a.started_at"
                " FROM attempts a JOIN tasks t ON t.id = a.task ORDER BY a.task, a.rowid"
            )
        for row in rows:
            yield ViewedAttempt(*row)

    def log_tail(self, key: str, limit_bytes: int) -> str:
        """Return the end of the output of a task's last attempt: stdout, then stderr."""
        tails = log_tails(RunFolder(self.path).logs, key, limit_bytes, (".out", ".log"))
        return "\n".join(text for text in map(str.strip, tails) if text)

    def paused_s(self) -> float:
        """Return the seconds in which no coordinator worked on the run."""
        with open_manifest(RunFolder(self.path)) as manifest:
            return paused_s(manifest)

    def execution(self) -> Mapping[str, Any]:
        """Return the execution of the run as recorded in run.toml: nodes, placement, workers."""
        return RunFolder(self.path).read_run_file().execution

    def run_id(self) -> str:
        """Return the random id of the run, which is not in its ledger."""
        return RunFolder(self.path).read_run_file().run_id

    def labels(self) -> Mapping[str, str]:
        """Return the human-readable names for what the ledger names by digests."""
        return RunFolder(self.path).read_run_file().labels

    def tags(self) -> tuple[str, ...]:
        """Return the tags of the run, such as `weft.runs.execution.SEALED_VIEWS`."""
        return RunFolder(self.path).read_run_file().tags

    def read(self, reference: Object) -> bytes:
        """Return an object's bytes."""
        return self._objects().read(reference.digest)

    def pieces(self, reference: Object) -> Iterator[bytes]:
        """Return an object's bytes in pieces; raises ObjectDamaged at the end if they are wrong."""
        return self._objects().pieces(reference.digest)

    def copy(self, reference: Object, target: Path) -> int:
        """Write an object to a new file, in pieces, and return its size.

        Raises ObjectDamaged, and leaves no file, if the object is missing or its bytes are wrong.
        """
        store, digest, size = self._objects(), hashlib.sha256(), 0
        try:
            source = store.open(reference.digest)
        except FileNotFoundError:
            raise ObjectDamaged(
                f"object {reference.digest} is missing from {store.folder}"
            ) from None
        with source, target.open("xb") as file:
            while piece := source.read(CHUNK_BYTES):
                digest.update(piece)
                size += file.write(piece)
        if digest.hexdigest() != reference.digest:
            target.unlink()
            raise ObjectDamaged(f"object {reference.digest}: its bytes do not match its name")
        return size

    def _objects(self) -> ObjectStore:
        return ObjectStore(RunFolder(self.path).objects, Disk())


def view_of(run: Path, search: str, name: str) -> RunView:
    """Return the view of a run of `search`; raises InputError for a run of another search.

    `name` is the search's name in the error message.
    """
    recorded = RunFolder(run).read_run_file().search
    if recorded != search:
        raise InputError(f"{run} is a run of {recorded}, not of {name}", hint=f"weft status {run}")
    return RunView(run, search)


def _viewed_task(columns: Sequence[Any], block: Block) -> ViewedTask:
    id_, key, function, state, args, value, error, run_s, notes, *where = columns
    return ViewedTask(
        key,
        block.lane,
        block.round,
        id_ - block.first,
        function,
        state,
        decode(args),
        None if value is None else decode(value),
        None if error is None else json.loads(error),
        run_s,
        json.loads(notes or "{}"),
        *where,
    )

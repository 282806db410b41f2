"""Sources of a run's results: the manifest or, without one, the ledger.

Both list the rounds that have results, in ledger order, and read rows of a round on request. The
ledger has only outcomes. For an unfinished run both have the results so far; the manifest also has
those not yet recorded because an earlier one is missing.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, Protocol

from weft.inspect.access import open_manifest
from weft.ledger.records import Record, parse
from weft.model.records import ValueSource
from weft.model.results import Result, TaskError
from weft.model.values import JsonValue, canonical
from weft.runs.results import StoredValues
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.ledgerfile import parse_at
from weft.storage.manifest import Manifest
from weft.storage.objects import ObjectStore
from weft.storage.plainfile import is_plain_file, open_plain
from weft.storage.rows import FINAL, RecordedRow

_HOW = "attempt, started_at, finished_at, run_s, node, gpu, notes"


class HowItWent(NamedTuple):
    """Facts about a result that only the manifest has."""

    attempts: int | None = None
    started_at: float | None = None
    finished_at: float | None = None
    run_s: float | None = None
    node: str | None = None
    gpu: int | None = None
    notes: str | None = None


class ResultRow(Result):
    """A result with its position and, if known, its facts from the manifest."""

    __slots__ = ("how", "lane", "round")

    def __init__(
        self, lane: str, round_: int, index: int, key: str, function: str, args: str,
        value: str | None, error: TaskError | None, how: HowItWent, source: ValueSource,
    ) -> None:  # fmt: skip
        super().__init__(index, key, function, args, value, error, source)
        self.lane = lane
        self.round = round_
        self.how = how

    @property
    def state(self) -> str:
        """`completed` or `failed`."""
        return "completed" if self.ok else "failed"

    @property
    def notes(self) -> dict[str, JsonValue]:
        """Notes that the task reported with `weft.note`."""
        notes: dict[str, JsonValue] = json.loads(self.how.notes or "{}")
        return notes


@dataclass(frozen=True, slots=True)
class RoundResults:
    """The results of one round and where to read them."""

    lane: str
    round: int
    at: Sequence[int] = field(default_factory=lambda: array("Q"))
    """For each result, in task order: its id in the manifest, or its offset in the ledger."""
    first: int = 0
    """The id of task 0."""


class Source(Protocol):
    """A source of a run's results."""

    def rounds(self) -> list[RoundResults]:
        """Return the rounds that have results, in ledger order."""

    def read(self, part: RoundResults, start: int, end: int) -> Sequence[ResultRow]:
        """Read the results of a round from number `start` up to, but not including, `end`."""


class ManifestResults:
    """Results from the manifest; every row read is checked."""

    def __init__(self, folder: RunFolder) -> None:
        self._folder = folder
        self._values = _stored_values(folder)

    def rounds(self) -> list[RoundResults]:
        """Return the rounds that have results, in ledger order."""
        with open_manifest(self._folder) as manifest:
            manifest.check_rounds()
            orders = _lane_orders(manifest)
            rows = manifest.query(
                "SELECT r.lane, r.round, l.path, r.first, r.recorded, coalesce(r.size, r.recorded),"
                " r.closed FROM rounds r JOIN lanes l ON l.id = r.lane WHERE r.kind = 'tasks'"
            )
            rows.sort(key=lambda row: (*orders[row[0]], row[1]))
            parts = [
                RoundResults(path, round_, _final_ids(manifest, *block), block[0])
                for _, round_, path, *block in rows
            ]
        return [part for part in parts if part.at]

    def read(self, part: RoundResults, start: int, end: int) -> Sequence[ResultRow]:
        """Read the results of a round from number `start` up to, but not including, `end`."""
        first, last = part.at[start], part.at[end - 1]
        ids = part.at[start:end]
        with open_manifest(self._folder) as manifest:
            rows = {row[0]: row for rows in manifest.recorded(first, last + 1) for row in rows}
            how = manifest.query(
                f"SELECT id, {_HOW} FROM tasks WHERE id >= ? AND id <= ?",  # noqa: S608 - ours
                first,
                last,
            )
        how_of = {id_: HowItWent(*facts) for id_, *facts in how}
        values = self._values
        return [_row(part, rows[id_], how_of[id_], values) for id_ in ids if id_ in rows]


def _lane_orders(manifest: Manifest) -> dict[int, tuple[int, ...]]:
    """Return the sort keys that put lanes in ledger order, depth first."""
    orders: dict[int, tuple[int, ...]] = {}
    rows = manifest.query("SELECT id, parent, round, ordinal FROM lanes ORDER BY id")
    for id_, parent, round_, ordinal in rows:
        orders[id_] = () if parent is None else (*orders[parent], round_, ordinal)
    return orders


def _final_ids(
    manifest: Manifest, first: int, recorded: int, size: int, closed: int
) -> Sequence[int]:
    if closed:
        return range(first, first + recorded)
    rows = manifest.query(
        "SELECT id FROM tasks WHERE id >= ? AND id < ? AND state IN ('completed', 'failed')"
        " ORDER BY id",
        first,
        first + size,
    )
    return array("Q", [id_ for (id_,) in rows])


def _stored_values(folder: RunFolder) -> StoredValues:
    return StoredValues(ObjectStore(folder.objects, Disk()), folder.read_run_file().imports)


def _row(part: RoundResults, row: RecordedRow, how: HowItWent, values: StoredValues) -> ResultRow:
    id_, state, key, function, args, value, error = row
    assert state in FINAL, f"task {id_} is {state}"
    task_error = TaskError.from_text(error) if error else None
    index = id_ - part.first
    place = (part.lane, part.round, index)
    return ResultRow(*place, key, function, args, value, task_error, how, values)


class LedgerResults:
    """Results from the ledger, for a run without a manifest."""

    def __init__(self, folder: RunFolder) -> None:
        self._ledger = folder.ledger
        self._values = _stored_values(folder)

    def rounds(self) -> list[RoundResults]:
        """Return the rounds that have results, in ledger order."""
        parts: list[RoundResults] = []
        offset = seq = 0
        if not is_plain_file(self._ledger):
            return parts
        with open_plain(self._ledger) as file:
            for line in file:
                if not line.endswith(b"\n"):
                    break
                record = parse_at(line[:-1], seq)
                if record.kind == "result":
                    _add_offset(parts, record, offset)
                offset, seq = offset + len(line), seq + 1
        return parts

    def read(self, part: RoundResults, start: int, end: int) -> Sequence[ResultRow]:
        """Read the results of a round from number `start` up to, but not including, `end`."""
        rows = list[ResultRow]()
        with open_plain(self._ledger) as file:
            for offset in part.at[start:end]:
                file.seek(offset)
                record = parse(file.readline().rstrip(b"\n"))
                rows.append(_row_of_record(record, self._values))
        return rows


def _add_offset(parts: list[RoundResults], record: Record, offset: int) -> None:
    place = (record.body["lane"], record.body["round"])
    if not parts or (parts[-1].lane, parts[-1].round) != place:
        parts.append(RoundResults(*place))
    offsets = parts[-1].at
    assert isinstance(offsets, array)
    offsets.append(offset)


def _row_of_record(record: Record, values: StoredValues) -> ResultRow:
    body: dict[str, Any] = record.body
    value = canonical(body["value"]) if "value" in body else None
    error = TaskError(**body["error"]) if "error" in body else None
    args, place = canonical(body["args"]), (body["lane"], body["round"], body["index"])
    function, how = body["function"], HowItWent()
    return ResultRow(*place, record.key, function, args, value, error, how, values)

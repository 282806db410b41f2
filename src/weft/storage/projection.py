"""The ledger as a pure view of the manifest: which records, in which order.

Lanes depth first in lane order, rounds in order, results in task order. The walk pauses
(yields None) where the manifest does not yet know what comes next, and continues from there
when resumed: the same walk writes the ledger, resumes it and verifies it.
"""

from __future__ import annotations

import json
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass, field
from operator import itemgetter
from typing import NamedTuple

from weft.errors import ManifestDamaged
from weft.ledger.resultcolumns import Entry, ResultColumns
from weft.model.keys import record_key, sha256_hex
from weft.model.results import TIMING_TYPES, TaskError
from weft.model.values import canonical
from weft.storage.manifest import ROOT_LANE, Manifest
from weft.storage.rows import FINAL, RecordedRow, RoundRow

CHUNK_ROWS = 2048
_STATE, _ERROR = itemgetter(1), itemgetter(6)
_COMPLETED, _NO_ERROR = {"completed"}, {None}


class PendingRecord(NamedTuple):
    """One ledger record before it has a place in the chain."""

    kind: str
    key: str
    body: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Consecutive records: results of one round, or one record of another kind."""

    entries: Sequence[Entry]
    """Each has the fields of a `PendingRecord`, as a tuple: there may be very many."""
    rows: Sequence[RecordedRow] = ()
    """The rows of the results, if they were read; none for a record of another kind."""
    place: tuple[str, int, int] = ("", 0, 0)
    """Lane, round and index of the first result."""

    def part(self, start: int, end: int) -> Batch:
        """Return the records from `start` to before `end`."""
        lane, round_, index = self.place
        place = (lane, round_, index + start)
        return Batch(self.entries[start:end], self.rows[start:end], place)


@dataclass(slots=True)
class Projection:
    """A walk over the manifest that remembers its position."""

    manifest: Manifest
    completed: int = 0
    failed: int = 0
    timing_dependent: bool = False
    ended: bool = False
    read: list[tuple[int, int]] = field(default_factory=list)
    """Ranges of task ids whose rows were read, and thereby checked."""
    _walk: Iterator[Batch | None] = field(init=False)
    _genesis: str = field(init=False)
    _path: tuple[str, str] = ("", '""')
    """The last lane's path, plain and as JSON."""

    def __post_init__(self) -> None:
        self._genesis = sha256_hex(self.manifest.genesis)
        self._walk = self._from_genesis()

    def ready(self) -> Iterator[PendingRecord]:
        """Yield every record that is decided by now; call again when more was committed.

        Consume them all: those that are left over are not yielded again.
        """
        for batch in self.batches():
            yield from map(PendingRecord._make, batch.entries)

    def batches(self) -> Iterator[Batch]:
        """Yield the same records in batches; no record is yielded twice."""
        while not self.ended and (batch := next(self._walk, None)) is not None:
            yield batch

    def unread(self) -> Iterator[tuple[int, int]]:
        """Yield the ranges of task ids whose rows were not read."""
        end = 0
        for first, last in sorted(self.read):
            if first > end:
                yield end, first
            end = max(end, last)
        yield end, 2**63 - 1

    def _from_genesis(self) -> Iterator[Batch | None]:
        yield Batch([("genesis", self._genesis, self.manifest.genesis)])
        yield from self._lane(ROOT_LANE, "")

    def _lane(self, lane: int, path: str) -> Iterator[Batch | None]:
        round_ = 0
        while True:
            answer = self.manifest.lane_answer(lane)  # read first: it is written after all rounds
            rows = self.manifest.rounds(lane, round_)
            for row in rows:
                if row.kind == "lanes":
                    yield from self._lanes(lane, path, round_)
                elif (yield from self._round(lane, path, round_, row)):
                    break
                round_ += 1
            if answer is not None and not rows:
                break
            if answer is None and not rows:
                yield None
        self.ended = lane == ROOT_LANE
        key = record_key(self._genesis, "answer", path, round_)
        yield Batch([("answer", key, self._answer_body(answer, path))])

    def _lanes(self, lane: int, path: str, round_: int) -> Iterator[Batch | None]:
        lanes = self.manifest.lanes_of(lane, round_)
        names = [child.rpartition("/")[2] for _, child in lanes]
        body = canonical({"lane": path, "names": names, "round": round_})
        yield Batch([("lanes", record_key(self._genesis, "lanes", path, round_), body)])
        for child, child_path in lanes:
            yield from self._lane(child, child_path)

    def _round(
        self, lane: int, path: str, round_: int, row: RoundRow
    ) -> Generator[Batch | None, None, bool]:
        """Walk over a round; return True if it was deleted meanwhile, before it had any result."""
        tail = f'"lane":{self._quoted(path)},"round":{round_}'
        position = 0
        while not (row.closed and position == row.recorded):
            start, end = position, min(row.recorded, position + CHUNK_ROWS)
            for entries, rows in self._parts(row, position, end, tail):
                yield Batch(entries, rows, (path, round_, position))
                position += len(entries)
            if position != end:
                raise ManifestDamaged(
                    f"manifest.sqlite: task {position} of round {round_} in lane {path or '/'} is"
                    " recorded, but its row is missing"
                )
            self._note_read(row.first + start, row.first + end)
            if position == row.recorded and not row.closed:
                yield None
                present = self.manifest.find_round(lane, round_)
                if present is None or present.kind != "tasks":
                    return True
                row = present
        key = record_key(self._genesis, "round", path, round_)
        yield Batch([("round", key, _round_body(row, self._quoted(path), round_))])
        return False

    def _parts(
        self, row: RoundRow, start: int, end: int, place: str
    ) -> Iterator[tuple[Sequence[Entry], Sequence[RecordedRow]]]:
        """Yield the results of a round; those written recently come as columns, without rows."""
        columns = self.manifest.recent_columns(row.first + start, row.first + end)
        if columns is not None:
            self.completed += len(columns.keys)
            function, keys, args, values = columns
            yield ResultColumns(function, place, start, keys, args, values), ()
            return
        for rows in self.manifest.recorded(row.first + start, row.first + end):
            yield self._results(rows, row.first, place), rows

    def _quoted(self, path: str) -> str:
        """Return a lane's path as JSON; the last is cached, since a lane may have many rounds."""
        if self._path[0] != path:
            self._path = (path, canonical(path))
        return self._path[1]

    def _note_read(self, first: int, end: int) -> None:
        if self.read and self.read[-1][1] == first:
            self.read[-1] = (self.read[-1][0], end)
        else:
            self.read.append((first, end))

    def _results(self, rows: Sequence[RecordedRow], first: int, tail: str) -> list[Entry]:
        """Build result bodies by hand: the texts in them are already canonical."""
        failed = self._count_failed(rows)
        self.failed += failed
        self.completed += len(rows) - failed
        if failed:
            return [_entry(row, first, tail) for row in rows]
        middle, end = ',"function":"', f',{tail},"value":'
        return [
            (
                "result",
                key,
                f'{{"args":{args}{middle}{function}","index":{id_ - first}{end}{value}}}',
            )
            for id_, _, key, function, args, value, _ in rows
        ]

    def _count_failed(self, rows: Sequence[RecordedRow]) -> int:
        """Return how many tasks failed; raises ManifestDamaged for a row that is not final."""
        if {*map(_STATE, rows)} <= _COMPLETED and {*map(_ERROR, rows)} <= _NO_ERROR:
            return 0  # nearly always
        failed = 0
        for id_, state, _, _, _, _, error in rows:
            if state not in FINAL:
                raise ManifestDamaged(f"manifest.sqlite: task {id_} is recorded but {state}")
            if error is not None:
                failed += 1
                self.timing_dependent |= TaskError.from_text(error).type in TIMING_TYPES
        return failed

    def _answer_body(self, answer: str, path: str) -> str:
        if path:
            return answer
        totals = {
            "completed": self.completed,
            "failed": self.failed,
            "timing_dependent": self.timing_dependent,
        }
        return canonical({**json.loads(answer), **totals})


def _round_body(row: RoundRow, lane: str, round_: int) -> str:
    """Build the body of a round that is over, as `canonical` would."""
    size = "null" if row.size is None else row.size
    stopped = "true" if row.stopped else "false"
    return (
        f'{{"lane":{lane},"recorded":{row.recorded},"round":{round_}'
        f',"stopped":{stopped},"tasks":{size}}}'
    )


def _entry(row: RecordedRow, first: int, tail: str) -> Entry:
    id_, _, key, function, args, value, error = row
    middle = f'"function":"{function}","index":{id_ - first},{tail}'
    if error is None:
        return "result", key, f'{{"args":{args},{middle},"value":{value}}}'
    return "result", key, f'{{"args":{args},"error":{error},{middle}}}'

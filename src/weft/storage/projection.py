"""The ledger as a pure view of the manifest: which records, in which order.

Lanes depth first in lane order, rounds in order, results in task order. The walk pauses
(yields None) where the manifest does not yet know what comes next, and goes on from there
when asked again: the same walk writes the ledger, resumes it and verifies it.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from weft.errors import ManifestDamaged
from weft.model.keys import record_key, sha256_hex
from weft.model.results import TIMING_TYPES, TaskError
from weft.model.values import canonical
from weft.storage.manifest import FINAL, ROOT_LANE, Manifest, RecordedRow, RoundRow

CHUNK_ROWS = 2048


class PendingRecord(NamedTuple):
    """One ledger record before it has a place in the chain."""

    kind: str
    key: str
    body: str


@dataclass(slots=True)
class Projection:
    """A walk over the manifest that remembers where it stands."""

    manifest: Manifest
    completed: int = 0
    failed: int = 0
    timing_dependent: bool = False
    ended: bool = False
    _walk: Iterator[PendingRecord | None] = field(init=False)
    _genesis: str = field(init=False)

    def __post_init__(self) -> None:
        self._genesis = sha256_hex(self.manifest.genesis)
        self._walk = self._from_genesis()

    def ready(self) -> Iterator[PendingRecord]:
        """Give every entry that is decided by now; call again when more was committed."""
        while not self.ended and (entry := next(self._walk, None)) is not None:
            yield entry

    def _from_genesis(self) -> Iterator[PendingRecord | None]:
        yield PendingRecord("genesis", self._genesis, self.manifest.genesis)
        yield from self._lane(ROOT_LANE, "")

    def _lane(self, lane: int, path: str) -> Iterator[PendingRecord | None]:
        round_ = 0
        while (answer := self.manifest.lane_answer(lane)) is None or self._has(lane, round_):
            row = self.manifest.find_round(lane, round_)
            if row is None:
                yield None
            elif row.kind == "lanes":
                yield from self._lanes(lane, path, round_)
                round_ += 1
            else:
                yield from self._round(lane, path, round_, row)
                round_ += 1
        self.ended = lane == ROOT_LANE
        key = record_key(self._genesis, "answer", path, round_)
        yield PendingRecord("answer", key, self._answer_body(answer, path))

    def _has(self, lane: int, round_: int) -> bool:
        return self.manifest.find_round(lane, round_) is not None

    def _lanes(self, lane: int, path: str, round_: int) -> Iterator[PendingRecord | None]:
        lanes = self.manifest.lanes_of(lane, round_)
        names = [child.rpartition("/")[2] for _, child in lanes]
        body = canonical({"lane": path, "names": names, "round": round_})
        yield PendingRecord("lanes", record_key(self._genesis, "lanes", path, round_), body)
        for child, child_path in lanes:
            yield from self._lane(child, child_path)

    def _round(
        self, lane: int, path: str, round_: int, row: RoundRow
    ) -> Iterator[PendingRecord | None]:
        tail = f'"lane":{json.dumps(path, ensure_ascii=False)},"round":{round_}'
        position = 0
        while not (row.closed and position == row.recorded):
            end = min(row.recorded, position + CHUNK_ROWS)
            for task in self.manifest.recorded(row.first + position, row.first + end):
                yield self._result(task, row.first, tail)
                position += 1
            if position != end:
                raise ManifestDamaged(
                    f"manifest.sqlite: task {position} of round {round_} in lane {path or '/'} is"
                    " recorded, but its row is missing"
                )
            if position == row.recorded and not row.closed:
                yield None
                row = self.manifest.find_round(lane, round_) or row
        body = canonical({
            "lane": path, "recorded": row.recorded, "round": round_,
            "stopped": row.stopped, "tasks": row.size,
        })  # fmt: skip
        yield PendingRecord("round", record_key(self._genesis, "round", path, round_), body)

    def _result(self, row: RecordedRow, first: int, tail: str) -> PendingRecord:
        """Build a result body by hand: the texts in it are canonical already."""
        id_, state, key, function, args, value, error = row
        if state not in FINAL:
            raise ManifestDamaged(f"manifest.sqlite: task {id_} is recorded but {state}")
        if error is None:
            self.completed += 1
            middle = f'"function":"{function}","index":{id_ - first},{tail}'
            return PendingRecord("result", key, f'{{"args":{args},{middle},"value":{value}}}')
        self.failed += 1
        self.timing_dependent |= TaskError.from_text(error).type in TIMING_TYPES
        middle = f'"function":"{function}","index":{id_ - first},{tail}'
        return PendingRecord("result", key, f'{{"args":{args},"error":{error},{middle}}}')

    def _answer_body(self, answer: str, path: str) -> str:
        if path:
            return answer
        totals = {
            "completed": self.completed,
            "failed": self.failed,
            "timing_dependent": self.timing_dependent,
        }
        return canonical({**json.loads(answer), **totals})

"""Checks which record may follow which: the order of docs/ledger-format.md §5, the keys of §6.

Knows the meaning of bodies, but not the hashes between lines (those are in `ledger.chain`). The
ledger is depth first, so a stack of lanes determines what may come next.
"""

from __future__ import annotations

from dataclasses import dataclass

from weft.errors import LedgerDamaged
from weft.ledger.records import Record
from weft.ledger.resultlines import RoundPlace
from weft.model.keys import record_key, task_key
from weft.model.results import TIMING_TYPES
from weft.model.values import JsonValue, canonical
from weft.runs.prior import FIELD

_RESULT_FIELDS = 6  # args, function, index, lane, round, and value or error
_GENESIS = {"config", "format", "inputs", "libraries", "search", "seed", "version"}
_ERROR = {"exit_code", "stage", "type"}


@dataclass(slots=True)
class _Lane:
    path: str
    round: int = 0
    recorded: int = 0
    """Number of results of the open round so far."""


class Grammar:
    """Checks the records of one ledger in order and rejects the first that is out of place."""

    def __init__(self) -> None:
        self.completed = 0
        self.failed = 0
        self.timing_dependent = False
        self._genesis = ""
        self._stack = [_Lane("")]

    @property
    def ended(self) -> bool:
        """Whether the root's answer has been accepted."""
        return not self._stack

    def place(self) -> RoundPlace | None:
        """Return the position of the next result; None before the genesis and after the answer."""
        if not self._genesis or not self._stack:
            return None
        lane = self._stack[-1]
        return RoundPlace(self._genesis, lane.path, lane.round, lane.recorded)

    def skip(self, results: int) -> None:
        """Advance past completed results that `accept_results` has checked at `place()`."""
        self._stack[-1].recorded += results
        self.completed += results

    def take(self, record: Record) -> None:
        """Accept the next record; raises `LedgerDamaged` without a `seq`."""
        try:
            if record.kind == "result":
                self._result(record)
            elif record.kind == "round":
                self._round(record)
            elif record.kind == "lanes":
                self._lanes(record)
            elif record.kind == "answer":
                self._answer(record)
            else:
                self._genesis = record.key
                fields = record.body.keys() - {FIELD}
                _require(fields == _GENESIS, "its fields are not a genesis's")
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            raise LedgerDamaged(
                f"its body is not that of kind {record.kind}: {error!s:.80}"
            ) from None

    def _result(self, record: Record) -> None:
        body, lane = record.body, self._stack[-1]
        place = (body["lane"], body["round"], body["index"])
        if place != (lane.path, lane.round, lane.recorded):
            expected = f"task {lane.recorded} of round {lane.round} in lane {lane.path or '/'}"
            raise LedgerDamaged(f"it should be the result of {expected}")
        args = canonical(body["args"])
        key = task_key(self._genesis, *place, body["function"], args)
        _require(record.key == key, "its key is not that of its task")
        lane.recorded += 1
        self._count(body)

    def _count(self, body: dict[str, JsonValue]) -> None:
        """Count an outcome, the one field besides those of the call."""
        _require(len(body) == _RESULT_FIELDS, "it has no outcome")
        if "value" in body:
            self.completed += 1
            return
        error = body.get("error")
        if not isinstance(error, dict) or error.keys() != _ERROR:
            raise LedgerDamaged("it has no outcome")
        self.failed += 1
        self.timing_dependent |= error["type"] in TIMING_TYPES

    def _round(self, record: Record) -> None:
        body, lane = record.body, self._stack[-1]
        self._check_key(record, lane)
        _require(body["recorded"] == lane.recorded, f"{lane.recorded} results stand before it")
        whole = body["recorded"] == body["tasks"]
        stopped = body["stopped"] is True and body["recorded"] <= body["tasks"]
        _require(whole or stopped, "it ends a round that is not over")
        lane.round, lane.recorded = lane.round + 1, 0

    def _lanes(self, record: Record) -> None:
        lane = self._stack[-1]
        self._check_key(record, lane)
        _require(lane.recorded == 0, "the round before it has no end")
        lane.round += 1
        paths = [f"{lane.path}/{name}" for name in record.body["names"]]
        self._stack.extend(_Lane(path) for path in reversed(paths))

    def _answer(self, record: Record) -> None:
        body, lane = record.body, self._stack.pop()
        self._check_key(record, lane)
        _require(lane.recorded == 0, "the round before it has no end")
        _require(body["status"] in ("answered", "unknown"), "it has no status")
        if not lane.path:
            recorded = (body["completed"], body["failed"], body["timing_dependent"])
            totals = (self.completed, self.failed, self.timing_dependent)
            _require(recorded == totals, f"its totals are not those of the ledger, {totals}")

    def _check_key(self, record: Record, lane: _Lane) -> None:
        """Check that a record other than a result names the lane and round that come next."""
        _require(record.body["lane"] == lane.path, f"lane {lane.path or '/'} is not over")
        key = record_key(self._genesis, record.kind, lane.path, lane.round)
        _require(record.key == key, f"its key is not that of {record.kind} {lane.round}")


def _require(holds: bool, reason: str) -> None:
    if not holds:
        raise LedgerDamaged(reason)

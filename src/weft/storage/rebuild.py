"""Rebuilds a manifest that is missing or older than its ledger from the ledger's records.

What the ledger does not contain (rows of later lanes, attempts, times) is lost; the replay that
follows queues those tasks again. Nothing that the ledger records is run twice.
"""

from __future__ import annotations

from collections.abc import Iterable

from weft.ledger.records import Record
from weft.model.values import canonical
from weft.storage.manifest import ROOT_LANE, Manifest
from weft.storage.rows import RoundRow, TaskRow


def rebuild(manifest: Manifest, records: Iterable[Record]) -> int:
    """Update the manifest from the records; return how many results were restored.

    Records must come from a checked ledger whose genesis is the manifest's. The caller commits.
    """
    return _Rebuild(manifest).run(records)


class _Rebuild:
    """One pass over the records. The ledger is depth first, so one round is open at a time."""

    def __init__(self, manifest: Manifest) -> None:
        self._manifest = manifest
        self._lanes = dict[str, int]({"": ROOT_LANE})
        for lane, path in manifest.query("SELECT id, path FROM lanes"):
            self._lanes[path] = lane
        self._open: RoundRow | None = None
        self._restored = 0

    def run(self, records: Iterable[Record]) -> int:
        for record in records:
            if record.kind == "result":
                self._result(record)
            elif record.kind == "round":
                self._close(record)
            elif record.kind == "lanes":
                self._open_lanes(record)
            elif record.kind == "answer":
                self._answer(record)
        if self._open:
            self._manifest.update_round(self._open)
        return self._restored

    def _result(self, record: Record) -> None:
        row = self._open = self._open or self._round(record)
        self._manifest.restore(_task_row(record, row.first))
        if record.body["index"] >= row.recorded:
            row.recorded = record.body["index"] + 1
            self._restored += 1

    def _close(self, record: Record) -> None:
        body = record.body
        row = self._open or self._round(record)
        if row.size is None:
            self._manifest.learn_size(row, body["tasks"])
        row.closed, row.stopped = True, body["stopped"]
        self._manifest.update_round(row)
        if row.recorded < body["tasks"]:
            self._manifest.drop(row.first + row.recorded, row.first + body["tasks"])
        self._open = None

    def _round(self, record: Record) -> RoundRow:
        """Find or open a round; a new one has the last range of ids, which can grow."""
        body = record.body
        lane = self._lanes[body["lane"]]
        row = self._manifest.find_round(lane, body["round"])
        return row or self._manifest.add_round(lane, body["round"], "tasks", None)

    def _open_lanes(self, record: Record) -> None:
        body = record.body
        path, round_ = body["lane"], body["round"]
        parent = self._lanes[path]
        if self._manifest.find_round(parent, round_) is None:
            self._manifest.add_round(parent, round_, "lanes", len(body["names"]))
            children = [f"{path}/{name}" for name in body["names"]]
            self._manifest.add_lanes(parent, round_, children)
        for lane, child in self._manifest.lanes_of(parent, round_):
            self._lanes[child] = lane

    def _answer(self, record: Record) -> None:
        body = record.body
        totals = ("completed", "failed", "timing_dependent")
        fields = {name: value for name, value in body.items() if name not in totals}
        self._manifest.set_answer(self._lanes[body["lane"]], canonical(fields))


def _task_row(record: Record, first: int) -> TaskRow:
    body = record.body
    error = canonical(body["error"]) if "error" in body else None
    return TaskRow(
        id=first + body["index"],
        state="completed" if error is None else "failed",
        key=record.key,
        function=body["function"],
        args=canonical(body["args"]),
        value=None if error else canonical(body["value"]),
        error=error,
        attempt=1,
    )

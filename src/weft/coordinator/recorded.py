"""Compares the records of earlier sessions with what the search asks for now.

Resume is replay: the search asks for everything again. A recorded round or task is returned, one
that is not recorded is new, and one that differs from its record raises `ReplayDiverged`. Writes
nothing, except that it deletes what changed code does not ask for and no decision depends on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from weft.coordinator.steps import Close, LiveTask, OpenLanes, OpenRound, Queue
from weft.errors import ReplayDiverged, RunMismatch
from weft.model.tasks import FORMER_COMMAND
from weft.storage.manifest import Manifest
from weft.storage.rows import FinalRow, RoundRow, TaskRow

_HINT = "the search changed: raise its version and use a new --out, or restore the old code"


class RecordedWork:
    """The rounds and tasks that the manifest had before the search asked for them."""

    def __init__(self, manifest: Manifest, note: Callable[[str, str], None]) -> None:
        self.code_is_new = False
        """Whether changed code was accepted, which may replace what no decision depends on."""
        self._manifest = manifest
        self._note = note
        """Logs an event, given its kind and what happened."""
        self._fresh: set[int] = set()
        """Rounds opened in this session: they have no recorded rows to look for."""
        self._reopened: set[int] = set()
        """Rounds that no decision depended on before the code changed: their tasks may differ."""
        self._beyond: set[int] = set()
        """Lanes that have gone beyond everything recorded of them."""

    # -- rounds and lanes -----------------------------------------------------------------

    def round(self, lane: int, c: OpenRound) -> RoundRow | None:
        """Return the row of a round that is asked for; None if it is new."""
        row = None if lane in self._beyond else self._manifest.find_round(lane, c.round)
        is_same = row is not None and (
            row.size is None or (row.kind, row.size) == ("tasks", c.size)
        )
        if row is None or (not is_same and self._forget(row, c.lane, c.round)):
            self._check_going_on(lane, c)
            return None
        if row.size is None:
            if c.size < row.recorded:
                raise diverged(
                    c.lane, c.round, f"{row.recorded} results recorded, {c.size} tasks asked"
                )
            self._manifest.learn_size(row, c.size)
        elif not is_same:
            raise diverged(c.lane, c.round, f"{row.size} {row.kind} recorded, {c.size} tasks asked")
        elif self._is_undecided(row):
            self._reopened.add(row.id)
        return row

    def lanes(self, lane: int, c: OpenLanes) -> RoundRow | None:
        """Return the row of a set of lanes that is asked for; None if it is new."""
        row = self._manifest.find_round(lane, c.round)
        if row is None or self._forget(row, c.lane, c.round):
            self._check_going_on(lane, c)
            return None
        return row

    def note_new(self, row: RoundRow) -> None:
        """Note a round that is opened for the first time."""
        self._fresh.add(row.id)

    def is_closed(self, row: RoundRow, c: Close) -> bool:
        """Whether the end of a round is recorded; raises ReplayDiverged if it ended differently."""
        if row.closed and (row.recorded, row.stopped) != (c.recorded, c.stopped):
            raise diverged(
                c.lane, c.round, f"it ended after {row.recorded} results, now after {c.recorded}"
            )
        if c.recorded < row.recorded:
            raise diverged(
                c.lane,
                c.round,
                f"{row.recorded} results are recorded, now it ends after {c.recorded}",
            )
        return row.closed

    def check_end(self, lane: int, path: str, rounds: int) -> None:
        """Refuse a lane that ends before its recorded rounds do."""
        further = self._manifest.find_round(lane, rounds)
        if further is not None and not self._forget(further, path, rounds):
            raise diverged(path, rounds, "a further round is recorded, the search ended")

    def _forget(self, row: RoundRow, lane: str, round_: int) -> bool:
        """Delete a round that new code does not ask for; False if a decision depends on it.

        None of its results was accepted, so the ledger and the search know nothing of it.
        """
        if not self._is_undecided(row):
            return False
        self._manifest.forget_round(row)
        self._note("round-forgotten", f"lane {lane or '/'}, round {round_}: the new code differs")
        return True

    def _is_undecided(self, row: RoundRow) -> bool:
        """Whether new code may ask for something else in place of an open round."""
        return self.code_is_new and row.kind == "tasks" and not (row.closed or row.recorded)

    def _check_going_on(self, lane: int, c: OpenRound | OpenLanes) -> None:
        if lane in self._beyond:
            return
        if self._manifest.lane_answer(lane) is not None:
            raise diverged(c.lane, c.round, "the lane ended here, now it asks for more")
        self._beyond.add(lane)

    # -- tasks ----------------------------------------------------------------------------

    def tasks(self, row: RoundRow, c: Queue) -> dict[int, TaskRow]:
        """Return the recorded rows of the tasks that are asked for, by id."""
        if row.id in self._fresh:
            return {}
        first, last = row.first + c.tasks[0].index, row.first + c.tasks[-1].index
        rows = {task.id: task for task in self._manifest.tasks(first, last + 1)}
        if row.id in self._reopened:
            self._forget_others(c, row, rows)
        return rows

    def final_rows(self, row: RoundRow, start: int, end: int) -> list[FinalRow]:
        """Return the calls recorded in a round from `start` on, up to the first not final."""
        if row.id in self._fresh:
            return []
        return self._manifest.final_calls(row.first + start, row.first + end)

    def pairs(
        self, c: Queue, row: RoundRow, rows: dict[int, TaskRow]
    ) -> Iterator[tuple[LiveTask, TaskRow]]:
        """Yield each task that is asked for and recorded, with its row; raises if they differ."""
        for task in c.tasks:
            old = rows.get(row.first + task.index)
            if old is None:
                continue
            if old.function == FORMER_COMMAND:
                raise RunMismatch(
                    "the run was started by Weft 0.1, which recorded commands under another name",
                    hint="finish it with that version, or start again with a new --out",
                )
            if old.key != task.key:
                requested = f"{task.function}({task.args[:80]})"
                raise diverged(
                    c.lane, c.round, f"task {task.index} was {old.function}({old.args[:80]}),"
                    f" now {requested}"
                )  # fmt: skip
            yield task, old

    def _forget_others(self, c: Queue, row: RoundRow, rows: dict[int, TaskRow]) -> None:
        """Delete tasks that new code no longer asks for."""
        for task in c.tasks:
            id_ = row.first + task.index
            if id_ in rows and rows[id_].key != task.key:
                self._manifest.forget_tasks(id_, id_ + 1)
                del rows[id_]


def diverged(lane: str, round_: int, difference: str) -> ReplayDiverged:
    """Return the error for a search that asks for something other than what is recorded."""
    return ReplayDiverged(f"replay diverged in lane {lane or '/'}, round {round_}: {difference}",
                          hint=_HINT)  # fmt: skip

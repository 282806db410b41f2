"""Replays the results of a lazy round block by block, as far as they are recorded.

The search's `make` is still called for every task, and each call is compared with the row that
was recorded for it: same function, same arguments, same key. A task that agrees needs no queue,
no event and no result object. The first that does not agree, or has no final row, is left with
all that follow to the plain path, which reports the reason.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Protocol

from weft.coordinator.lane import OpenRoundState
from weft.errors import WeftError
from weft.model.keys import task_keys
from weft.model.tasks import COMMAND, Code, TaskCall, import_path
from weft.model.values import encode_args
from weft.storage.rows import FinalRow

BLOCK = 1024
"""Tasks that are replayed at a time."""


class Recall(Protocol):
    """Reads what earlier sessions recorded."""

    def final_rows(self, lane: str, round_: int, start: int, end: int) -> Sequence[FinalRow]:
        """Return a round's rows from index `start` to `end`, or to the first that is not final."""

    def use(self, name: str, path: str) -> None:
        """Note a function that a task runs; raises `CodeChanged` if its code changed."""


class Replay:
    """Advances lazy rounds to the end of their records; in strict runs, to the first failure."""

    def __init__(self, genesis: str, recall: Recall, *, strict: bool) -> None:
        self.failed = 0
        """How many of the accepted results are of failed tasks."""
        self._genesis = genesis
        self._recall = recall
        self._strict = strict
        self._used: tuple[str, Code] | None = None

    def advance(self, state: OpenRoundState, make: Callable[[int], TaskCall], reach: int) -> bool:
        """Accept the next recorded results of a round; False if the plain path must continue.

        Also True if nothing can be accepted now: an earlier task has no result yet, and `reach`
        is the maximum distance to it.
        """
        step = min(BLOCK, max(1, reach // 2))
        while state.made < state.size:
            end = min(state.size, state.made + step)
            if end > state.recorded + reach:
                return True
            count = self._agreeing(state, make, end)
            self._take(state, count)
            if state.made < end:
                return False
        return True

    def _take(self, state: OpenRoundState, count: int) -> None:
        """Accept recorded results, or let them wait for those before them."""
        start, state.made = state.made, state.made + count
        state.kinds[0] += count
        if state.recorded == start:
            state.recorded += count
        else:
            state.waiting.update(dict.fromkeys(range(start, state.made)))

    def _agreeing(self, state: OpenRoundState, make: Callable[[int], TaskCall], end: int) -> int:
        """Return how many of the next tasks agree with their rows, and are over."""
        lane, round_, start = state.lane.path, state.number, state.made
        rows = self._recall.final_rows(lane, round_, start, end)
        calls = self._same_calls(rows, make, start)
        count = 0
        for function, group in groupby(rows[: len(calls)], key=itemgetter(1)):
            alike = list(group)
            texts = [row[2] for row in alike]
            keys = task_keys(self._genesis, lane, round_, start + count, function, texts)
            agreeing = [key == row[0] for key, row in zip(keys, alike, strict=True)]
            count += (*agreeing, False).index(False)
            if not all(agreeing):
                break
        for call in calls[:count]:
            self._use(call)
        self.failed += sum([row[3] for row in rows[:count]])
        return count

    def _same_calls(
        self, rows: Sequence[FinalRow], make: Callable[[int], TaskCall], start: int
    ) -> list[TaskCall]:
        """Create calls for as long as they agree with the rows."""
        calls, strict = list[TaskCall](), self._strict
        for index, (_, function, args, failed) in enumerate(rows, start):
            call = _plain_call(make, index)
            if call is None or call.function != function or (failed and strict):
                break
            if _encoded(call) != args:
                break
            calls.append(call)
        return calls

    def _use(self, call: TaskCall) -> None:
        """Note the code of a call, unless it is that of the call before."""
        used = (call.function, call.code)
        if used != self._used:
            self._recall.use(call.function, import_path(call.code, call.function))
            self._used = used


def _plain_call(make: Callable[[int], TaskCall], index: int) -> TaskCall | None:
    """Return the call; None for one that the plain path must check further or refuse."""
    try:
        call = make(index)
    except Exception:  # whatever a search raises: the plain path reports it
        return None
    plain = isinstance(call, TaskCall) and call.function != COMMAND and not call.limits.gpu
    return call if plain else None


def _encoded(call: TaskCall) -> str | None:
    try:
        return encode_args(call.args)
    except WeftError:
        return None

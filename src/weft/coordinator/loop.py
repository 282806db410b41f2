"""The thin loop: dispatch, commit, poll, apply. One thread, one writer.

One commit rule: at 1,024 results, 50 ms after the first result since the last commit, and
immediately after a command and before one may start. Function tasks do not wait for commits:
results are committed in the order in which decisions used them, and what a crash loses would be
computed again with the same outcome.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

from weft.backends.contract import Backend
from weft.coordinator.journal import Clock, Journal
from weft.coordinator.machine import Counts, Machine
from weft.coordinator.steps import Command, Kill, RecordResult
from weft.errors import BugError, SearchInvalid, ValueInvalid, WorldError
from weft.model.attempts import NodeEvent
from weft.model.tasks import COMMAND
from weft.storage.ledgerwriter import LedgerWriter
from weft.storage.reserve import Reserve

COMMIT_RESULTS = 1024
COMMIT_AFTER_S = 0.05
SHOW_AFTER_S = 0.5
"""Without results, starts are committed after this long, so that readers see what is running."""
POLL_S = 0.2


def _is_command_result(command: Command) -> bool:
    """Whether to commit at once: commands are expensive and may not give the same result again."""
    return isinstance(command, RecordResult) and command.task.function == COMMAND


class Watcher(Protocol):
    """Receives progress."""

    def update(self, counts: Counts) -> None:
        """Called at most once per turn of the loop."""


@dataclass(slots=True)
class Coordinator:
    """Runs one machine to its end, or until `stop` returns True."""

    machine: Machine
    journal: Journal
    writer: LedgerWriter
    backend: Backend
    clock: Clock
    stop: Callable[[], bool]
    watcher: Watcher | None = None
    reserve: Reserve | None = None
    """Checked before each commit, and released when space is short."""
    _now_s: float = 0.0
    """Monotonic time of the last poll."""
    _first_pending_s: float | None = None
    _urgent: bool = False

    def run(self) -> bool:
        """Return True if the search has its answer, False if it was stopped before."""
        try:
            return self._run()
        except (SearchInvalid, ValueInvalid):
            self._save_results()
            raise

    def _run(self) -> bool:
        self._execute(self.machine.advance())
        self._commit()
        while not self.machine.done:
            if self.machine.broken or self.machine.paused or self.stop():
                self._interrupt()
                return False
            self._turn()
        self._commit()
        return True

    def _turn(self) -> None:
        if self.machine.dispatch.holds_back:
            self._commit()
            return
        due = self._commit_is_due()
        self._dispatch()
        if due:  # only now, so that workers are busy meanwhile
            self._commit()
            if self.machine.broken:
                return  # space is short, and all workers are gone
        if self.machine.makes_ahead:
            self._execute(self.machine.make_ahead())
        self._take_in(0.0 if self.machine.dispatch.has_any_new else self._wait_s())
        deadline_s = self.machine.dispatch.next_deadline_s()
        now_s = self._now_s
        if deadline_s is not None and now_s >= deadline_s:
            self._take_in(0.0)  # results that have arrived count before deadlines are checked
            self._execute(self.machine.expire(now_s))
        if self.watcher is not None:
            self.watcher.update(self.machine.counts())

    def _take_in(self, wait_s: float) -> None:
        """Poll for up to `wait_s` and apply the events."""
        events = self.backend.poll(wait_s)
        now_s = self._now_s = self.clock.monotonic()
        for event in events:
            if isinstance(event, NodeEvent):
                self.journal.event(event.kind, event.detail)
                self._urgent = True  # readers should see it soon
            else:
                self._execute(self.machine.apply(event, now_s))

    def _dispatch(self) -> None:
        try:
            assignments = self.machine.dispatch.take(self.backend.capacity())
        except WorldError:  # no slot is left for a task: keep the reasons on record
            self._commit()
            raise
        if assignments:
            self.backend.submit(assignments)
        elif (
            self.machine.dispatch.idle
            and not self.machine.dispatch.holds_back
            and not self.machine.done
        ):
            raise BugError("the search waits for something that nobody runs")

    def _execute(self, commands: Iterable[Command]) -> None:
        """Execute commands and everything that follows from them, until every lane waits."""
        waiting = deque(commands)
        while waiting or (waiting := deque(self._advance())):
            command = waiting.popleft()
            if isinstance(command, Kill):
                self.backend.cancel(command.tickets)
                continue
            self._urgent |= _is_command_result(command)
            for recalled in self.journal.execute(command):
                waiting.extend(self.machine.apply(recalled))

    def _advance(self) -> list[Command]:
        """Advance the search; commit a command's result first, since a decision may take long."""
        if self._urgent and self.machine.can_advance:
            self._commit()
        return self.machine.advance()

    def _commit_is_due(self) -> bool:
        if self._urgent or self.journal.pending >= COMMIT_RESULTS:
            return True
        if self._first_pending_s is None:
            if self.journal.pending == 0 and not self.journal.has_unwritten_starts:
                return False
            self._first_pending_s = self._now_s
        return self._now_s - self._first_pending_s >= self._patience_s()

    def _patience_s(self) -> float:
        """Return how long pending rows may wait for a commit."""
        return COMMIT_AFTER_S if self.journal.pending else SHOW_AFTER_S

    def _commit(self) -> None:
        if self.reserve is not None:
            self._check_room(self.reserve)
        self.journal.commit()
        self.writer.extend(self.clock.monotonic(), self.clock.wall())
        self.machine.dispatch.release()
        self._first_pending_s, self._urgent = None, False

    def _check_room(self, reserve: Reserve) -> None:
        """Stop the run while there is still space to commit what has arrived.

        Running tasks are ended before the reserve is released, or they would fill that, too.
        """
        if reason := reserve.shortage():
            self.machine.stop(reason, exhausted=True)
        if self.machine.exhausted:
            self.backend.close()
            reserve.release()

    def _wait_s(self) -> float:
        """Return how long to wait for events: until a commit or a deadline is due."""
        now_s, wait_s = self.clock.monotonic(), POLL_S
        if self._first_pending_s is not None:
            wait_s = min(wait_s, self._first_pending_s + self._patience_s() - now_s)
        deadline_s = self.machine.dispatch.next_deadline_s()
        if deadline_s is not None:
            wait_s = min(wait_s, deadline_s - now_s)
        return max(0.0, wait_s)

    def _save_results(self) -> None:
        """Commit results that arrived before the search raised, so that a fixed one reuses them."""
        for result in self.machine.results_left():
            self.journal.execute(result)
        self._commit()

    def _interrupt(self) -> None:
        self.backend.close()
        self._execute(self.machine.interrupt())
        self.journal.event("interrupted")
        self._commit()
        self.writer.checkpoint(self.clock.wall())

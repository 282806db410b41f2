"""What waits to run and what runs: rounds with ready tasks, attempts that are out, slots.

    hold(round, start, end) ─► release() ─► take(rooms) ─► assignments ─► end(task)
         queued in this batch    committed     first lane first, then by index

It knows when a task may start and where, and nothing of results, rounds' ends or lanes.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence

from weft.coordinator.lane import OpenRoundState
from weft.coordinator.placement import Placement
from weft.coordinator.policy import Policy, runs_alone
from weft.coordinator.steps import LiveTask
from weft.errors import WorldError
from weft.model.attempts import Assignment, Worker

ReadyRound = tuple[tuple[int, ...], int, OpenRoundState]
"""A round with tasks to hand out, by the order of its lane."""
PLACE_AHEAD = 1024
"""How many tasks that must wait may be passed over to find one that fits."""


class Dispatch:
    """The tasks of one run that wait or run. Every method is deterministic."""

    def __init__(self, placement: Placement, policy: Policy) -> None:
        self.placement = placement
        self._policy = policy
        self._unreleased: list[tuple[OpenRoundState, int, int]] = []
        self._ready: list[ReadyRound] = []
        self._pushes = 0
        self.out: dict[int, LiveTask] = {}
        """Attempts that were handed out, by ticket."""
        self._limited: dict[int, LiveTask] = {}
        """Those of `out` that have a time limit."""
        self._next_ticket = 1
        self._alone: int | None = None
        self.trouble = ""
        """The last loss that was a machine's fault, for error messages."""

    @property
    def idle(self) -> bool:
        """Whether nothing runs and nothing waits to be dispatched."""
        return not self.out and not self._ready

    @property
    def holds_back(self) -> bool:
        """Whether queued tasks wait for a commit before they may be dispatched."""
        return bool(self._unreleased)

    # -- what may start -------------------------------------------------------------------

    def hold(self, state: OpenRoundState, start: int, end: int) -> None:
        """Keep tasks of a round back until they are queued durably."""
        self._unreleased.append((state, start, end))

    def release(self) -> None:
        """After a commit: allow everything queued before it to be dispatched."""
        for state, start, end in self._unreleased:
            state.ready.extend(i for i in range(start, end) if i in state.tasks)
            self._push(state)
        self._unreleased.clear()

    def put_back(self, state: OpenRoundState, task: LiveTask) -> None:
        """Let a task whose attempt has ended start again, before the others of its round."""
        task.started_s = None
        state.ready.appendleft(task.index)
        self._push(state)

    def _push(self, state: OpenRoundState) -> None:
        self._pushes += 1
        heapq.heappush(self._ready, (state.lane.order, self._pushes, state))

    # -- who starts where -----------------------------------------------------------------

    def take(self, capacity: Sequence[int]) -> list[Assignment]:
        """Hand out attempts for the slots that have room, first lane first, then by index."""
        rooms = list(capacity)
        self._retire(rooms)
        total_room = sum(room for room in rooms if room > 0)
        assignments: list[Assignment] = []
        skipped: list[ReadyRound] = []
        must_wait = False  # a task that must run alone lets nothing behind it start before it
        while (
            total_room > len(assignments) and self._ready and self._alone is None and not must_wait
        ):
            state = self._ready[0][2]
            if not state.closed and state.ready:
                must_wait = self._take_from(state, rooms, assignments, total_room)
                if state.ready:  # what is left of it must wait; others may fit
                    skipped.append(self._ready[0])
            heapq.heappop(self._ready)
        for entry in skipped:
            heapq.heappush(self._ready, entry)
        if not assignments and not self.out:
            self._check_placeable(skipped or self._without_slots(rooms))
        return assignments

    def _without_slots(self, rooms: Sequence[int]) -> list[ReadyRound]:
        """What waits although every slot is out of service."""
        waiting = (entry for entry in self._ready if entry[2].ready and not entry[2].closed)
        return list(itertools.islice(waiting, 1)) if max(rooms) < 0 else []

    def _check_placeable(self, waiting: Sequence[ReadyRound]) -> None:
        """Raise when nothing runs and what waits can never be placed."""
        if not waiting:
            return
        state = waiting[0][2]
        task = state.tasks[state.ready[0]]
        if not self.placement.fits(task):
            kind = "GPU" if task.limits.gpu else "CPU"
            why = f": {self.trouble}" if self.trouble else ""
            raise WorldError(
                f"no {kind} slot is left for {task.function}{why}",
                hint="fix the nodes or name others with --nodes, then resume",
            )

    def _take_from(
        self,
        state: OpenRoundState,
        rooms: list[int],
        assignments: list[Assignment],
        total_room: int,
    ) -> bool:
        """Place one round's ready tasks, in order, as far as slots and caps allow.

        True when the next one waits for everything else to end, because it must run alone.
        """
        waiting: list[int] = []
        must_wait = False
        while state.ready and len(assignments) < total_room and len(waiting) < PLACE_AHEAD:
            task = state.tasks[state.ready[0]]
            must_wait = runs_alone(task) and bool(self.out)
            if must_wait:
                break
            slot = self.placement.choose(task, rooms)
            state.ready.popleft()
            if slot is None:
                waiting.append(task.index)
                continue
            rooms[slot] -= 1
            if runs_alone(task):
                self._alone = self._next_ticket
                total_room = 0
            assignments.append(self._assign(task, slot))
        state.ready.extendleft(reversed(waiting))
        return must_wait

    def _retire(self, rooms: list[int]) -> None:
        """Take note of slots that are out of service, and of those that are back."""
        for slot, room in enumerate(rooms):
            if room < 0:
                self.placement.retire(slot)
            else:
                self.placement.restore(slot)

    # -- attempts -------------------------------------------------------------------------

    def _assign(self, task: LiveTask, slot: int) -> Assignment:
        self.placement.hold(task, slot)
        ticket, self._next_ticket = self._next_ticket, self._next_ticket + 1
        task.ticket, task.started_s, task.worker = ticket, None, Worker()
        task.attempt += 1
        self.out[ticket] = task
        t = task
        timeout_s = self._policy.limit_s(task)
        if timeout_s is not None:
            self._limited[ticket] = task
        return Assignment(
            ticket, t.function, t.args, t.lane, t.round, t.index, t.key, t.attempt, slot,
            timeout_s, t.limits.memory_mb, t.code,
        )  # fmt: skip

    def end(self, task: LiveTask) -> None:
        """An attempt is over, however it ended: its slot is free."""
        assert task.ticket is not None
        del self.out[task.ticket]
        self._limited.pop(task.ticket, None)
        self.placement.free(task)
        if task.ticket == self._alone:
            self._alone = None
        task.ticket = None

    def late(self, now_s: float) -> list[LiveTask]:
        """Return the tasks whose attempts are past their time limit."""
        limits = [(task, self._policy.deadline_s(task)) for task in self._limited.values()]
        return [
            task for task, deadline_s in limits if deadline_s is not None and now_s >= deadline_s
        ]

    def next_deadline_s(self) -> float | None:
        """Return the earliest time at which an attempt will be late."""
        deadlines = (self._policy.deadline_s(task) for task in self._limited.values())
        return min((d for d in deadlines if d is not None), default=None)

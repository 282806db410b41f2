"""Waiting and running tasks: rounds with ready tasks, attempts in flight, slots.

    hold(round, start, end) ─► release() ─► take(rooms) ─► assignments ─► end(task)
                     commands: at a commit     by lane order, then by index

Function tasks may start at once; a command only once everything it was decided from is durable.

Knows when and where a task may start; knows nothing of results, lanes or the ends of rounds.
"""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Sequence
from itertools import repeat

from weft.coordinator.lane import OpenRoundState
from weft.coordinator.placement import UNLIMITED, FairShare, Placement
from weft.coordinator.policy import Policy, runs_alone
from weft.coordinator.rooms import Rooms
from weft.coordinator.steps import LiveTask
from weft.errors import WorldError
from weft.model.attempts import MAX_BLOCK, Assignment, Worker

HeldRange = tuple[OpenRoundState, int, int]
"""Tasks of a round, from one index to before another."""
ReadyRound = tuple[tuple[int, ...], int, OpenRoundState]
"""A round with ready tasks, sorted by the order of its lane and a counter."""
NOBODY = Worker()
TAIL_BLOCKS = 2
"""Number of blocks in which a slot gets its share of the last tasks of a round: results are
reported earlier, and the remaining tasks can be shared more evenly."""
TAIL_SLOTS = range(4, 33)
"""Numbers of slots with `TAIL_BLOCKS`: fewer slots end together anyway; for more slots twice the
messages cost more than they save."""
PLACE_AHEAD = 1024
"""How many waiting tasks may be skipped to find one that fits."""


class Dispatch:
    """The tasks of one run that wait or run. Every method is deterministic."""

    def __init__(self, placement: Placement, policy: Policy) -> None:
        self.placement = placement
        self._policy = policy
        self._unreleased: list[HeldRange] = []
        """Commands, which wait until they are queued durably."""
        self._made: list[HeldRange] = []
        """Other tasks, which wait until their recorded outcomes have been recalled."""
        self._ready: list[ReadyRound] = []
        self._pushes = 0
        self.out: dict[int, LiveTask] = {}
        """Tasks with an attempt in flight, by ticket."""
        self._limited: dict[int, LiveTask] = {}
        """Those of `out` that have a time limit."""
        self._next_ticket = 1
        self._alone: int | None = None
        self.trouble = ""
        """The last loss that was caused by a machine, for error messages."""

    @property
    def idle(self) -> bool:
        """Whether nothing runs and nothing waits to be dispatched."""
        return not self.out and not self._ready and not self._made

    @property
    def holds_back(self) -> bool:
        """Whether queued tasks wait for a commit before they may be dispatched."""
        return bool(self._unreleased)

    # -- what may start -------------------------------------------------------------------

    def hold(self, state: OpenRoundState, start: int, end: int, *, durable: bool) -> None:
        """Add tasks of a round; with `durable` they start only after the next commit."""
        (self._unreleased if durable else self._made).append((state, start, end))

    @property
    def has_any_new(self) -> bool:
        """Whether tasks were created since slots were last filled."""
        return bool(self._made)

    def has_new(self, state: OpenRoundState) -> bool:
        """Whether some of these belong to a round that still has tasks without an outcome."""
        return bool(state.tasks) and any(held[0] is state for held in self._made)

    def release(self) -> None:
        """Make ready the commands that were held for the commit just made."""
        self._let_go(self._unreleased)

    def _let_go(self, ranges: list[HeldRange]) -> None:
        for state, start, end in ranges:
            state.ready.extend(i for i in range(start, end) if i in state.tasks)
            self._push(state)
        ranges.clear()

    def put_back(self, state: OpenRoundState, task: LiveTask) -> None:
        """Requeue a task whose attempt has ended, ahead of the others of its round."""
        task.started_s = None
        state.ready.appendleft(task.index)
        self._push(state)

    def _push(self, state: OpenRoundState) -> None:
        self._pushes += 1
        heapq.heappush(self._ready, (state.lane.order, self._pushes, state))

    # -- who starts where -----------------------------------------------------------------

    def take(self, capacity: Sequence[int]) -> list[Assignment]:
        """Return assignments for the slots that have room, by lane order, then by index."""
        self._let_go(self._made)
        self.placement.set_in_service(capacity)
        rooms = Rooms(capacity)
        if not rooms.total and self.out:
            return []
        assignments: list[Assignment] = []
        skipped: list[ReadyRound] = []
        must_wait = False  # nothing may overtake a task that waits to run alone
        while rooms.total > 0 and self._ready and self._alone is None and not must_wait:
            state = self._ready[0][2]
            if not state.closed and state.ready:
                must_wait = self._take_from(state, rooms, assignments)
                if state.ready:  # its other tasks must wait; those of other rounds may fit
                    skipped.append(self._ready[0])
            heapq.heappop(self._ready)
        for entry in skipped:
            heapq.heappush(self._ready, entry)
        if not assignments and not self.out:
            self._check_placeable(skipped or self._without_slots(capacity))
        return assignments

    def _without_slots(self, rooms: Sequence[int]) -> list[ReadyRound]:
        """Return a round that waits although every slot is out of service, if there is one."""
        waiting = (entry for entry in self._ready if entry[2].ready and not entry[2].closed)
        return list(itertools.islice(waiting, 1)) if max(rooms) < 0 else []

    def _check_placeable(self, waiting: Sequence[ReadyRound]) -> None:
        """Raise `WorldError` if the waiting tasks can never be placed; called when nothing runs."""
        if not waiting:
            return
        state = waiting[0][2]
        task = state.tasks[state.ready[0]]
        if not self.placement.fits(gpu=task.limits.gpu > 0):
            kind = "GPU" if task.limits.gpu else "CPU"
            why = f": {self.trouble}" if self.trouble else ""
            raise WorldError(
                f"no {kind} slot is left for {task.function}{why}",
                hint="fix the nodes or name others with --nodes, then resume",
            )

    def _take_from(
        self, state: OpenRoundState, rooms: Rooms, assignments: list[Assignment]
    ) -> bool:
        """Place one round's ready tasks, in order, as far as slots and caps allow.

        Returns True if the next one must run alone and waits for all running tasks to end.
        """
        waiting: list[int] = []
        must_wait = False
        if len(state.ready) == 1 and not self.out:
            fair, share = UNLIMITED, 1  # the only task, as in a round of one: nothing to share
        else:
            fair, share = self._fair(state, rooms), _share(len(state.ready), rooms)
        while state.ready and len(waiting) < PLACE_AHEAD and self._alone is None:
            task = state.tasks[state.ready[0]]
            must_wait = runs_alone(task) and bool(self.out)
            if must_wait or rooms.total <= 0:
                break
            slot = self.placement.choose(task, rooms, fair)
            state.ready.popleft()
            if slot is None:
                waiting.append(task.index)
                if state.classes <= rooms.full_for:
                    break  # nothing of this round fits anywhere
                continue
            if runs_alone(task):
                self._alone = self._next_ticket
            block = [task]
            may_travel = task.kind.is_plain and self._alone is None and bool(state.ready)
            if may_travel and not self.placement.is_static:
                self._fill(block, state, min(share, self._block_room(slot, rooms, fair)))
            rooms.take(slot, len(block))
            assignments.append(self._assign(block, slot))
        state.ready.extendleft(reversed(waiting))
        return must_wait

    def _fair(self, state: OpenRoundState, rooms: Rooms) -> FairShare:
        """Return how many tasks a slot may hold so that all slots end the last round together.

        This is its share of all running and waiting tasks, created or not; early in a round it
        exceeds the capacity of a slot.
        """
        others = (entry[2] for entry in self._ready if entry[2] is not state)
        if self.placement.is_static or any(other.ready for other in others):
            return UNLIMITED
        left = len(state.ready) + len(self.out)
        if state.width is None:
            left += state.size - state.made
        share = -(-left // max(1, rooms.in_service))
        return FairShare(share, share - share // 4 if rooms.in_service > 1 else share)

    def _block_room(self, slot: int, rooms: Rooms, fair: FairShare) -> int:
        """Return how many tasks a slot may be given in one block."""
        room, part = rooms.left[slot], self.placement.share_left(slot, fair)
        if part >= room:
            return room
        return -(-part // TAIL_BLOCKS) if rooms.in_service in TAIL_SLOTS else part

    @staticmethod
    def _fill(block: list[LiveTask], state: OpenRoundState, size: int) -> None:
        """Extend a block by the tasks after its first that may travel with it."""
        first, ready, tasks = block[0], state.ready, state.tasks
        kind, attempt, index = first.kind, first.attempt, first.index
        for next_index in range(index + 1, index + min(size, 1 + len(ready))):
            task = tasks[next_index] if ready[0] == next_index else None
            if (
                task is None
                or task.kind is not kind
                or task.attempt != attempt
                or (task.losses and runs_alone(task))
            ):
                return
            ready.popleft()
            block.append(task)

    # -- attempts -------------------------------------------------------------------------

    def _assign(self, block: Sequence[LiveTask], slot: int) -> Assignment:
        """Assign a block to a slot; its tasks get consecutive tickets."""
        first, out = block[0], self.out
        self.placement.hold(first, slot, len(block))
        ticket = self._next_ticket
        self._next_ticket += len(block)
        timeout_s = self._policy.limit_s(first)
        attempt = first.attempt + 1
        for number, task in enumerate(block, start=ticket):
            task.ticket, task.slot, task.attempt = number, slot, attempt
            out[number] = task
        if attempt > 1:
            for task in block:
                task.worker = NOBODY
        if timeout_s is not None:
            self._limited.update(zip(range(ticket, self._next_ticket), block, strict=True))
        kind = first.kind
        return Assignment(
            ticket, kind.function, first.args, kind.lane, kind.round, first.index, first.key,
            attempt, slot, timeout_s, kind.limits.memory_mb, kind.code,
            tuple([task.args for task in block[1:]]),
        )  # fmt: skip

    def end(self, task: LiveTask) -> None:
        """End an attempt, whatever its outcome, and free its slot."""
        assert task.ticket is not None
        del self.out[task.ticket]
        self._limited.pop(task.ticket, None)
        self.placement.free(task)
        if task.ticket == self._alone:
            self._alone = None
        task.ticket = None

    def end_block(self, ticket: int, count: int) -> list[LiveTask | None]:
        """End attempts with consecutive tickets; return their tasks, None where nobody waits."""
        tickets = range(ticket, ticket + count)
        tasks = list(map(self.out.pop, tickets, repeat(None)))
        waiting = [task for task in tasks if task is not None]
        for task in waiting:
            task.ticket = None
        if self._limited:
            for number in tickets:
                self._limited.pop(number, None)
        if self._alone in tickets:
            self._alone = None
        if waiting:
            self.placement.free(waiting[0], len(waiting))
        return tasks

    def late(self, now_s: float) -> list[LiveTask]:
        """Return the tasks whose attempts are past their time limit."""
        limits = [(task, self._policy.deadline_s(task)) for task in self._limited.values()]
        return [
            task for task, deadline_s in limits if deadline_s is not None and now_s >= deadline_s
        ]

    def next_deadline_s(self) -> float | None:
        """Return the earliest time at which an attempt will be late."""
        if not self._limited:
            return None
        deadlines = (self._policy.deadline_s(task) for task in self._limited.values())
        return min((d for d in deadlines if d is not None), default=None)


def _share(ready: int, rooms: Rooms) -> int:
    """Return how many tasks a slot may get at once, so that every slot with room gets some."""
    return min(MAX_BLOCK, -(-ready // max(1, rooms.open_slots)))

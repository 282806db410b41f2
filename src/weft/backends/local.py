"""Worker processes on this machine, one per slot, each killed and replaced independently.

    coordinator ── socketpair ──► python -m weft.worker   (no re-import of the script)

Small tasks are sent in blocks. A worker marks each start in a shared page, so a worker that dies
costs one attempt of the task it had started, and the others come back uncharged. Tasks that wait
behind a long one are requested back when another slot is idle.
`serial` is this backend with one slot and one task at a time.
"""

from __future__ import annotations

import selectors
import time
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import count

from weft.backends.orphans import Orphans
from weft.backends.process import (
    WorkerProcess,
    WorkerSeat,
    WorkerSetup,
    assignment_row,
    finished_event,
    killed_from_outside,
)
from weft.backends.protocol import check_message
from weft.errors import WorldError
from weft.model.attempts import (
    MAX_BLOCK,
    Assignment,
    BackendEvent,
    Completed,
    Entered,
    GivenBack,
    Lost,
    NodeEvent,
    Started,
)
from weft.model.slots import Slot
from weft.worker.frames import EndMessage, FromWorker, ProtocolError, TaskMessage
from weft.worker.page import Mark

MAX_CREDIT = 2 * MAX_BLOCK
BATCH_S = 0.2
"""A worker holds about this much work and reports every 50 ms; it is refilled while it has enough
left to bridge a commit, or the creation of a round's next tasks."""
LEARN = 0.3
"""Minimum weight of the newest block in the estimate of a task's run time."""
NOTICE_S = 0.02
"""A task that runs for this long is reported as started, others only when they end."""
WATCH_S = 0.005
"""How often the workers' pages are read; doing so at every message would cost more than it."""
START_FAILURES = 3
"""Limit on consecutive failed starts: of the run if no worker is ready, else of one slot."""
START_KILLS = 50
"""Limit on consecutive workers killed from outside before they were ready."""
SLOT_LOSSES = 20
"""Consecutive losses, with no result between them, after which a slot is retired."""
MACHINE_FAULTS = 3
"""Consecutive losses caused by the machine after which a slot is retired, whatever others do."""
CANCEL_GRACE_S = 0.25
"""A new worker costs about this much, so a cancelled task has this long to end by itself."""
LONG_S = 0.1
"""A task that runs this long does not keep others waiting behind it."""


@dataclass(slots=True)
class WorkerSlot:
    """A slot and the worker that currently serves it."""

    slot: Slot
    worker: WorkerSeat | None = None
    losses: int = 0
    faults: int = 0
    """Consecutive attempts that the machine could not run."""
    failed_starts: int = 0
    """Consecutive workers that ended by themselves before they were ready."""
    retired: bool = False
    most: int = MAX_CREDIT
    """Maximum load; small again after a death, so that the next one loses few results."""

    def load(self) -> int:
        """Return how many tasks the worker holds."""
        return len(self.worker.tickets) if self.worker else 0


def _room(place: WorkerSlot, credit: int) -> int:
    if place.retired:
        return -1
    load = len(place.worker.tickets) if place.worker else 0
    limit = place.most if place.most < credit else credit
    return 0 if load > limit * 3 // 4 else limit - load


class LocalBackend:
    """One worker process per slot; `max_credit` limits how many tasks each holds at a time.

    A worker receives about `batch_s` of work at a time. Workers of one node start at least
    `stagger_s` apart.
    """

    def __init__(
        self,
        setup: WorkerSetup,
        slots: Sequence[Slot],
        max_credit: int = MAX_CREDIT,
        stagger_s: float = 0.0,
        batch_s: float = BATCH_S,
    ) -> None:
        self._setup = setup
        self._places = [WorkerSlot(slot) for slot in slots]
        self._max_credit = max_credit
        self._batch_s = batch_s
        self._stagger_s = stagger_s
        self._next_start_s: dict[str, float] = {}
        """When the next worker of a node may start, with a stagger."""
        self._selector = selectors.DefaultSelector()
        self._events: list[BackendEvent] = []
        self._failed_starts = self._killed_starts = 0
        self._task_s = batch_s
        """Estimate of a task's run time."""
        self._blocks_of: dict[str, int] = {}
        """How many blocks of a function have been timed."""
        self._watches = False
        """Whether a running task may become a long one."""
        self._next_watch_s = 0.0
        self._numbers = 0
        self._last_log = ""
        self._orphans = Orphans()

    def capacity(self) -> list[int]:
        """Return the room per slot; a GPU slot accepts one task at a time.

        A worker is refilled only when a quarter of its tasks are done: fewer, fuller messages.
        """
        credit = self._credit()
        return [
            0
            if place.worker is None and not place.retired and self._may_not_start(place)
            else _room(place, credit if place.slot.gpu is None else 1)
            for place in self._places
        ]

    def _may_not_start(self, place: WorkerSlot) -> bool:
        """Whether a slot gets no worker now: after a failed start it waits for the others' starts.

        These show whether it is the slot or the machine that cannot start workers.
        """
        others_start = place.failed_starts and any(not w.ready for w, _ in self._serving())
        return bool(others_start) or self._must_wait(place)

    def submit(self, assignments: Sequence[Assignment]) -> None:
        """Send each slot its assignments, in order, in one message."""
        batches: dict[int, list[Assignment]] = {}
        for assignment in assignments:
            batches.setdefault(assignment.slot, []).append(assignment)
        early: list[BackendEvent] = []
        for slot, batch in batches.items():
            if self._must_wait(self._places[slot]):  # another start of its node came first
                early += [GivenBack(ticket) for a in batch for ticket in a.tickets]
                continue
            worker = self._places[slot].worker or self._start(self._places[slot])
            for assignment in batch:
                worker.tickets.update(dict.fromkeys(assignment.tickets, assignment.function))
            worker.send(("run", [assignment_row(a) for a in batch]))
            self._watch(worker, self._places[slot])
            self._watches = True
        self._events += reversed(early)  # each goes back to the front of the queue

    def poll(self, timeout_s: float) -> list[BackendEvent]:
        """Read from and write to the workers; wait only when nothing has happened yet."""
        self._orphans.clear()
        now_s = time.monotonic()
        if now_s >= self._next_watch_s:
            self._next_watch_s = now_s + WATCH_S
            self._watches = self._watch_starts(now_s)
        ready = self._selector.select(self._wait_s(timeout_s))
        for key, mask in ready:
            place: WorkerSlot = key.data
            worker = place.worker
            if worker is None or worker.channel is not key.fileobj:
                continue  # replaced while this batch was handled
            if mask & selectors.EVENT_WRITE and worker.flush():
                self._watch(worker, place)
            if mask & selectors.EVENT_READ:
                self._read(worker, place)
        events, self._events = self._events, []
        return events

    def cancel(self, tickets: Sequence[int]) -> None:
        """Cancel tasks: drop those that wait in a worker, kill the worker of one still running."""
        cancelled = frozenset(tickets)
        now_s = time.monotonic()
        for worker, place in self._serving():
            if dropped := [ticket for ticket in worker.tickets if ticket in cancelled]:
                worker.cancelled.update(dict.fromkeys(dropped, now_s))
                worker.send(("drop", dropped))
                self._watch(worker, place)
        self._events = [
            rest
            for event in self._events
            for rest in (_without(event, cancelled) if isinstance(event, Completed) else [event])
            if rest.ticket not in cancelled
        ]

    def close(self) -> None:
        """Kill every worker and wait until it and all that it started are gone."""
        workers = [worker for worker, _ in self._serving()]
        for worker, place in self._serving():
            self._selector.unregister(worker.channel)
            worker.kill()
            place.worker = None
        for worker in workers:
            worker.wait()
        self._orphans.expect(*(worker.orphans() for worker in workers))
        self._orphans.finish()

    # -- workers --------------------------------------------------------------------------

    def _serving(self) -> Iterator[tuple[WorkerSeat, WorkerSlot]]:
        for place in self._places:
            if place.worker is not None:
                yield place.worker, place

    def _watch_starts(self, now_s: float) -> bool:
        """Report long tasks, request back those waiting behind them, kill cancelled ones.

        Return True if a running task may become a long one.
        """
        idle = any(not place.load() and not place.retired for place in self._places)
        watches = False
        for worker, place in list(self._serving()):
            mark = worker.mark() if worker.tickets else None
            if mark is None or mark.ticket not in worker.tickets:
                watches |= bool(worker.tickets)
                continue
            ran_s = now_s - mark.started_s
            if mark.ticket in worker.cancelled:
                self._end_cancelled(worker, place, mark.ticket, now_s)
            elif ran_s < NOTICE_S:
                watches = True
            else:
                self._report_start(worker, mark)
                if ran_s >= LONG_S and worker.asked != mark.ticket:
                    self._ask_back(worker, place, mark.ticket, idle=idle)
        return watches

    def _report_start(self, worker: WorkerSeat, mark: Mark) -> None:
        if worker.reported != mark.ticket:
            worker.reported = mark.ticket
            self._events.append(Started(mark.ticket, worker.identity, mark.started_s))

    def _ask_back(self, worker: WorkerSeat, place: WorkerSlot, ticket: int, *, idle: bool) -> None:
        """Request the results waiting behind a long task; if a slot is idle, the tasks too."""
        if len(worker.tickets) == 1:
            return
        if idle:
            worker.asked = ticket
            worker.send(("return",))
        elif next(iter(worker.tickets)) != ticket:
            worker.send(("flush",))
        self._watch(worker, place)

    def _wait_s(self, timeout_s: float) -> float:
        """Return how long to wait for workers: 0 if something has happened already."""
        if self._events:
            return 0.0
        return min(NOTICE_S, timeout_s) if self._watches else self._until_start_s(timeout_s)

    def _credit(self) -> int:
        return max(1, min(self._max_credit, int(self._batch_s / max(self._task_s, 1e-6))))

    def _start(self, place: WorkerSlot) -> WorkerSeat:
        futile = self._failed_starts >= START_FAILURES or self._killed_starts >= START_KILLS
        if futile and not self._any_ready():
            tail = self._last_log[-300:].strip().replace("\n", " | ")
            raise WorldError(
                f"workers cannot start: {tail or 'they end at once'}",
                hint="`weft doctor` looks for the cause",
            )
        self._numbers += 1
        place.worker = self._launch(self._numbers, place.slot)
        self._next_start_s[place.slot.node] = time.monotonic() + self._stagger_s
        self._watch(place.worker, place)
        return place.worker

    def _launch(self, number: int, slot: Slot) -> WorkerSeat:
        """Start a worker on a slot."""
        return WorkerProcess(number, self._setup, slot)

    def _must_wait(self, place: WorkerSlot) -> bool:
        """Whether a slot without a worker has to wait because its node has just started one."""
        if not self._stagger_s or place.worker is not None or place.retired:
            return False
        return time.monotonic() < self._next_start_s.get(place.slot.node, 0.0)

    def _until_start_s(self, timeout_s: float) -> float:
        """Shorten a wait so that the next worker can start as soon as it may."""
        if not self._stagger_s:
            return timeout_s
        waiting = {place.slot.node for place in self._places if self._must_wait(place)}
        now_s = time.monotonic()
        return max(0.0, min([timeout_s, *(self._next_start_s[n] - now_s for n in sorted(waiting))]))

    def _any_ready(self) -> bool:
        return any(worker.ready for worker, _ in self._serving())

    def _watch(self, worker: WorkerSeat, place: WorkerSlot) -> None:
        mask = selectors.EVENT_READ | (selectors.EVENT_WRITE if worker.outbox else 0)
        if not worker.watched:
            self._selector.register(worker.channel, mask, place)
        elif worker.watched != mask:
            self._selector.modify(worker.channel, mask, place)
        worker.watched = mask

    def _read(self, worker: WorkerSeat, place: WorkerSlot) -> None:
        try:
            messages = worker.receive()
            if messages is None:
                self._died(worker, place)
                return
            for message in messages:
                check_message(message, worker.tickets)
                self._message(worker, place, message)
        except ProtocolError as refusal:
            self._distrust(worker, place, str(refusal))

    def _message(self, worker: WorkerSeat, place: WorkerSlot, message: FromWorker) -> None:
        if message[0] == "ready":
            worker.ready = True
            place.failed_starts = 0
            self._failed_starts = self._killed_starts = 0
        elif message[0] == "dropped":
            self._dropped(worker, message[1])
        else:
            self._task_event(worker, place, message)

    def _dropped(self, worker: WorkerSeat, tickets: list[int]) -> None:
        for ticket in reversed(tickets):  # each goes back to the front of the queue
            del worker.tickets[ticket]
            if worker.cancelled.pop(ticket, 0.0) == 0.0:
                self._events.append(GivenBack(ticket))

    def _task_event(self, worker: WorkerSeat, place: WorkerSlot, message: TaskMessage) -> None:
        ticket = message[1]
        if ticket not in worker.tickets:
            return
        if message[0] == "started":  # of a command, or of a task on another machine
            if ticket not in worker.cancelled and worker.reported != ticket:
                self._events.append(Started(ticket, worker.identity))
            worker.reported = ticket
        elif message[0] == "entered":
            if ticket not in worker.cancelled:
                self._events.append(Entered(ticket))
        elif message[0] == "completed":
            self._completed(worker, place, Completed(*message[1:], worker.identity))
        else:
            self._ended(worker, place, message)

    def _completed(self, worker: WorkerSeat, place: WorkerSlot, block: Completed) -> None:
        count = len(block.values)
        function = worker.tickets[block.ticket]
        for ticket in range(block.ticket, block.ticket + count):
            del worker.tickets[ticket]
        place.losses = place.faults = 0
        place.most = min(MAX_CREDIT, 2 * place.most)
        self._learn(function, sum(block.run_us) / 1e6 / count)
        self._events += _without(block, worker.cancelled) if worker.cancelled else [block]
        for ticket in range(block.ticket, block.ticket + count) if worker.cancelled else ():
            worker.cancelled.pop(ticket, None)

    def _ended(self, worker: WorkerSeat, place: WorkerSlot, message: EndMessage) -> None:
        """Process the end of a task that was reported in a separate message."""
        ticket = message[1]
        function = worker.tickets.pop(ticket)
        if message[0] == "finished":
            place.losses = place.faults = 0
            place.most = min(MAX_CREDIT, 2 * place.most)
        if worker.cancelled.pop(ticket, 0.0):
            return
        if worker.reported != ticket:
            self._report_start(worker, Mark(ticket, time.monotonic()))
        if message[0] == "finished":
            end = finished_event(ticket, message[2])
            self._learn(function, end.run_s)
            self._events.append(end)
            return
        loss = Lost(*message[1:])
        self._events.append(loss)
        if loss.cause == "machine":
            self._count_fault(place, loss)

    def _learn(self, function: str, task_s: float) -> None:
        """Update the estimate of run times; the first blocks of a function weigh more."""
        blocks = self._blocks_of[function] = self._blocks_of.get(function, 0) + 1
        self._task_s += max(LEARN, 1 / blocks) * (task_s - self._task_s)

    def _end_cancelled(
        self, worker: WorkerSeat, place: WorkerSlot, ticket: int, now_s: float
    ) -> None:
        """Kill a worker that is still running a cancelled task after the grace period."""
        if now_s - worker.cancelled[ticket] < CANCEL_GRACE_S:
            return
        self._selector.unregister(worker.channel)
        worker.kill()
        worker.wait()
        self._orphans.expect(worker.orphans())
        place.worker = None
        self._give_back(worker)

    def _died(self, worker: WorkerSeat, place: WorkerSlot) -> None:
        """Handle the end of a worker; charge only the task that it had started."""
        self._selector.unregister(worker.channel)
        code = worker.ended()
        self._orphans.expect(worker.orphans())
        place.worker = None
        self._last_log = worker.log_tail()
        if not worker.ready:
            place.failed_starts += not killed_from_outside(code)
            self._failed_starts += not killed_from_outside(code)
            self._killed_starts += killed_from_outside(code)
        self._count_loss(place)
        place.most = 1
        mark = worker.mark()
        if mark is not None and mark.ticket in worker.tickets:
            del worker.tickets[mark.ticket]
            if mark.ticket not in worker.cancelled:
                self._report_start(worker, mark)
                self._events.append(worker.end_of(mark.ticket, code))
        self._give_back(worker)

    def _distrust(self, worker: WorkerSeat, place: WorkerSlot, refusal: str) -> None:
        """Kill a worker whose messages are invalid; the task it ran, or was to run, is lost."""
        self._selector.unregister(worker.channel)
        worker.kill()
        worker.wait()
        self._orphans.expect(worker.orphans())
        place.worker = None
        place.most = 1
        self._last_log = refusal
        place.failed_starts += not worker.ready
        self._failed_starts += not worker.ready
        self._count_loss(place)
        mark = worker.mark()
        current = (
            mark.ticket if mark and mark.ticket in worker.tickets else next(iter(worker.tickets), 0)
        )
        if worker.tickets.pop(current, None) is not None and current not in worker.cancelled:
            self._events.append(Lost(current, "worker-not-believed", refusal))
        self._give_back(worker)

    def _count_loss(self, place: WorkerSlot) -> None:
        """Count a loss; retire a slot that only ever loses its workers, if others do not."""
        place.losses += 1
        healthy = any(p.losses == 0 and not p.retired for p in self._places)
        cannot_start = place.failed_starts >= START_FAILURES and self._any_ready()
        if cannot_start or (healthy and place.losses >= SLOT_LOSSES):
            place.retired = True
            self._events.append(NodeEvent("slot-retired", f"{place.slot.name} only loses workers"))

    def _count_fault(self, place: WorkerSlot, loss: Lost) -> None:
        """Count a fault of the machine; retire its slot if it cannot run what it receives."""
        place.faults += 1
        if place.faults >= MACHINE_FAULTS and not place.retired:
            place.retired = True
            self._events.append(NodeEvent("slot-retired", f"{place.slot.name}: {loss.reason}"))

    def _give_back(self, worker: WorkerSeat) -> None:
        for ticket in reversed(worker.tickets):  # each goes back to the front of the queue
            if ticket not in worker.cancelled:
                self._events.append(GivenBack(ticket))


def _without(block: Completed, tickets: Container[int]) -> list[Completed]:
    """Split a block's results into the consecutive parts that remain without some tickets."""
    parts: list[Completed] = []
    values, times = list[str](), list[int]()
    for ticket, value, run_us in zip(count(block.ticket), block.values, block.run_us):
        if ticket not in tickets:
            values.append(value)
            times.append(run_us)
            continue
        if values:
            parts.append(Completed(ticket - len(values), values, times, block.worker))
        values, times = [], []
    end = block.ticket + len(block.values)
    return [*parts, Completed(end - len(values), values, times, block.worker)] if values else parts

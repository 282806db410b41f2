"""The worker's main loop: receives blocks, runs tasks one by one, sends results by block.

    socket ── queue of tasks ──► main thread ── waiting results ──► socket
           ── requests while a task runs ──► listener thread

The main thread reads the socket itself while idle; waking it from another thread would cost more
than a tiny task. Starts are marked in a page that the parent reads; only commands also send a
message. Results wait for the end of their block, at most 50 ms, or until they are requested.
"""

from __future__ import annotations

import json
import os
import select
import socket
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from itertools import count, repeat
from pathlib import Path
from time import monotonic_ns, sleep
from typing import Any, TypeAlias

from weft.model.attempts import Assignment, Finished, Lost
from weft.model.keys import task_key
from weft.model.tasks import COMMAND
from weft.model.values import Value, canonical, encode, from_wire
from weft.worker.execute import TYPED, Executor, restoring, unprepared
from weft.worker.frames import (
    AssignmentRow,
    FromWorker,
    Hello,
    ResultBody,
    ToWorker,
    Unpacker,
    pack,
)
from weft.worker.output import OwnOutput
from weft.worker.page import NOTHING, StartPage

FLUSH_NS = 50_000_000
"""Maximum time that results wait while tasks are running."""
US = 1000
"""Nanoseconds in a microsecond."""
TICK_S = 0.02
"""The listener reads the socket during stretches of work longer than this."""
LISTEN_MS = 1000
"""How long the listener waits before it checks whether the main thread is still working."""
PARK_TICKS = 50
"""Ticks without work after which the listener sleeps until there is some."""


class HeldBlock:
    """A waiting or running block; its function is imported when its first task starts."""

    __slots__ = ("args_text", "around", "assignment", "call", "is_command", "last", "needs_seed")

    def __init__(self, row: AssignmentRow, size: int) -> None:
        self.assignment = Assignment(*row)
        self.args_text = row[2]
        self.last = self.assignment.ticket + size - 1
        self.is_command = self.assignment.function == COMMAND
        self.call: Callable[..., Value] | None = None
        self.needs_seed = False

    def load(self, executor: Executor) -> Callable[..., Value]:
        """Import the function and create the context shared by the block's tasks."""
        task = executor.load(self.assignment)
        self.around = executor.around(self.assignment)
        self.needs_seed = task.needs_seed
        self.call = restoring(task, self.around) if TYPED in self.args_text else task.function
        return self.call

    def recorded_args(self, offset: int) -> str:
        """Return a task's arguments as recorded; the task may have changed its own copy."""
        return canonical(json.loads(self.args_text)[offset])


Item: TypeAlias = tuple[int, int, dict[str, Value], HeldBlock]
"""A waiting task: ticket, offset in its block, arguments, block."""
Outgoing: TypeAlias = tuple[int, str, int] | FromWorker
"""A ticket with its value and run time in microseconds, or a separate message."""


class WorkerLoop:
    """One connection to the coordinator and the tasks not yet started.

    While tasks run, a listener thread reads the socket, so that tasks can be taken back and the
    end of the coordinator is noticed; while the main thread is idle, the listener does not read.
    The two share only deques, whose operations at either end are atomic: the main thread takes
    tasks from the left, the listener from the right.
    """

    def __init__(self, channel: socket.socket) -> None:
        self._channel = channel
        self._unpacker = Unpacker[ToWorker]()
        self._queue: deque[Item] = deque()
        self._results: deque[Outgoing] = deque()
        self._sending = threading.Lock()
        self._reading = threading.Lock()
        self._resting = False
        """Whether the main thread is waiting for messages; only that thread changes this."""
        self._stretches = 0
        """How often the main thread has resumed work."""
        self._parked = False
        self._unparked = threading.Event()
        self._flushed_ns = monotonic_ns()

    def serve(self) -> None:
        """Run tasks until the coordinator closes the socket."""
        messages = self._receive()
        while not messages:
            messages = self._receive()
        first, *rest = messages
        assert first[0] == "hello", "the coordinator introduces the run first"
        self._introduce(first[1])
        self._send(("ready",))
        for message in rest:
            self._take(message)
        threading.Thread(target=self._listen, daemon=True).start()
        self._work()

    def _introduce(self, hello: Hello) -> None:
        sys.path[:] = hello["path"]
        self._genesis = hello["genesis"]
        self._executor = Executor.from_hello(hello, self._enter)
        self._output = OwnOutput(Path(hello["logs"]))
        self._page = StartPage(hello["page"])

    # -- the main thread ------------------------------------------------------------------

    def _work(self) -> None:
        """Run waiting tasks one after the other, reading the clock once between two tasks."""
        cells, queue, results = self._page.cells, self._queue, self._results
        output, run_in, lseek, here = self._output, self._executor.run_in, os.lseek, os.SEEK_CUR
        self._arrivals = _arrivals(self._channel)
        now_ns = monotonic_ns()
        while True:
            try:
                ticket, offset, args, block = queue.popleft()
            except IndexError:
                cells[0] = NOTHING
                self._rest()
                now_ns = self._flushed_ns = monotonic_ns()  # nothing is waiting to be sent
                continue
            cells[1] = now_ns
            cells[0] = ticket
            call = block.call or self._load(block, ticket)
            if call is None:
                continue
            if block.needs_seed:
                seed = self._executor.seed(
                    block.assignment, block.assignment.index + offset, encode(args)
                )
                args["seed"] = seed
            block.around.begin()
            end = run_in(block.around, ticket, call, args)
            start_ns, now_ns = now_ns, monotonic_ns()
            run_us = (now_ns - start_ns) // US
            printed = lseek(1, 0, here) != output.end
            if printed or type(end) is not str:
                results.append(self._report(block, ticket, offset, end, run_us, printed=printed))
            else:
                results.append((ticket, end, run_us))
            if ticket == block.last or now_ns - self._flushed_ns > FLUSH_NS:
                self._flush(now_ns)
                now_ns = monotonic_ns()  # the coordinator may answer with the next task at once

    def _rest(self) -> None:
        """Send waiting results and wait for tasks."""
        self._flush(monotonic_ns())
        self._resting = True
        with self._reading:
            pass  # the listener has processed what it read, and reads nothing from here on
        while not self._queue:
            self._arrivals.poll()
            self._take_arrived()
        self._stretches += 1
        self._resting = False
        if self._parked:
            self._unparked.set()

    def _load(self, block: HeldBlock, ticket: int) -> Callable[..., Value] | None:
        """Import a block's function; a task whose function cannot be imported is lost."""
        try:
            call = block.load(self._executor)
        except Exception as error:
            self._send(_lost(unprepared(ticket, error)))
            return None
        if block.is_command:
            self._send(("started", ticket))
        return call

    def _report(
        self,
        block: HeldBlock,
        ticket: int,
        offset: int,
        end: str | Finished | Lost,
        run_us: int,
        *,
        printed: bool,
    ) -> FromWorker:
        """Return the message of a task that did more than return a value."""
        log = self._save_log(block, offset) if printed else None
        if isinstance(end, Lost):
            return _lost(end)
        if isinstance(end, str):
            end = Finished(ticket, end)
        return ("finished", ticket, _result_body(end, run_us, log))

    def _save_log(self, block: HeldBlock, offset: int) -> str:
        a = block.assignment
        key = a.key if not offset else ""
        args = "" if key else block.recorded_args(offset)
        key = key or task_key(self._genesis, a.lane, a.round, a.index + offset, a.function, args)
        return self._output.save(key, a.attempt)

    def _enter(self, assignment: Assignment) -> None:
        self._send(("entered", assignment.ticket))

    # -- the listener thread --------------------------------------------------------------

    def _listen(self) -> None:
        """Read what arrives during long stretches of work; short ones end within a tick."""
        quiet_ticks, arrivals = 0, _arrivals(self._channel)
        while True:
            stretch = self._stretches
            sleep(TICK_S)
            if self._resting:
                quiet_ticks += 1
                if quiet_ticks >= PARK_TICKS:
                    self._park()
                    quiet_ticks = 0
            elif self._stretches == stretch:
                quiet_ticks = 0
                arrivals.poll(LISTEN_MS)
                with self._reading:
                    if not self._resting and arrivals.poll(0):
                        self._take_arrived()

    def _park(self) -> None:
        """Sleep until there is work."""
        self._unparked.clear()
        self._parked = True
        if self._resting:  # read after `_parked` is set: a main thread that resumes now sees it
            self._unparked.wait()
        self._parked = False

    def _take_arrived(self) -> None:
        for message in self._receive():
            self._take(message)

    def _receive(self) -> list[ToWorker]:
        try:
            messages = self._unpacker.receive(self._channel)
        except OSError:
            messages = None
        if messages is None:
            os._exit(0)
        return messages

    def _take(self, message: ToWorker) -> None:
        if message[0] == "run":
            for row in message[1]:
                self._queue.extend(_items(row))
        elif message[0] == "drop":
            self._give_back(frozenset(message[1]))
        elif message[0] == "return":
            self._give_back(None)
        else:
            assert message[0] == "flush"
            self._flush(monotonic_ns())

    def _give_back(self, tickets: frozenset[int] | None) -> None:
        """Remove unstarted tasks from the queue, all or those named, and report which."""
        waiting: list[Item] = []
        while True:
            try:
                waiting.append(self._queue.pop())
            except IndexError:
                break
        waiting.reverse()
        dropped = [item[0] for item in waiting if tickets is None or item[0] in tickets]
        if tickets is not None:
            self._queue.extend(item for item in waiting if item[0] not in tickets)
        self._flush(monotonic_ns())
        self._send(("dropped", dropped))

    # -- both threads ---------------------------------------------------------------------

    def _flush(self, now_ns: int) -> None:
        """Send the waiting results."""
        self._flushed_ns = now_ns
        with self._sending:
            outgoing = [self._results.popleft() for _ in range(len(self._results))]
            if outgoing:
                self._channel.sendall(b"".join(pack(message) for message in _messages(outgoing)))

    def _send(self, message: FromWorker) -> None:
        """Send a message after all waiting results."""
        self._results.append(message)
        self._flush(monotonic_ns())


def _arrivals(channel: socket.socket) -> select.poll:
    """Return a poll object for incoming messages; each thread has its own.

    A blocked recv also wakes when the other side reads, once per result; poll does not.
    """
    arrivals = select.poll()
    arrivals.register(channel, select.POLLIN)
    return arrivals


def _items(row: AssignmentRow) -> Iterator[Item]:
    """Return the tasks of a block, whose arguments arrive as one JSON array."""
    raw: list[Any] = json.loads(row[2])
    args: list[Any] = [from_wire(item) for item in raw] if '"$' in row[2] else raw
    block = HeldBlock(row, len(args))
    return zip(range(row[0], row[0] + len(args)), count(), args, repeat(block))


def _messages(outgoing: list[Outgoing]) -> Iterator[FromWorker]:
    """Yield the messages, merging values of consecutive tickets into one."""
    first, values, run_us = 0, list[str](), list[int]()
    for item in outgoing:
        is_value = type(item[0]) is int
        if values and not (is_value and item[0] == first + len(values)):
            yield ("completed", first, values, run_us)
            values, run_us = [], []
        if not is_value:
            message: Any = item
            yield message
            continue
        value: Any = item
        if not values:
            first = value[0]
        values.append(value[1])
        run_us.append(value[2])
    if values:
        yield ("completed", first, values, run_us)


def _lost(loss: Lost) -> FromWorker:
    return ("lost", loss.ticket, loss.reason, loss.detail, loss.cause)


def _result_body(end: Finished, run_us: int, log: str | None) -> ResultBody:
    """Return the body with only the fields that are set."""
    body: ResultBody = {"run_s": run_us / 1e6}
    if end.error is None:
        body["value"] = end.value
    else:
        body["error"] = (end.error.type, end.error.stage, end.error.exit_code)
        body["detail"], body["retriable"] = end.detail, end.retriable
    if end.staged:
        body["staged"] = [(s.digest, s.name) for s in end.staged]
    if end.notes is not None:
        body["notes"] = end.notes
    if log is not None:
        body["log"] = log
    return body

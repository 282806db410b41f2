"""The suite that every backend must pass. Call each of `CHECKS` with a function that creates one.

    @pytest.mark.parametrize("check", conformance.CHECKS, ids=lambda check: check.__name__)
    def test_my_backend(check, tmp_path):
        check(lambda: MyBackend(...))

`PROCESS_CHECKS` are for backends whose tasks run in separate processes.
"""

from __future__ import annotations

import contextlib
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

from weft.backends.contract import Backend
from weft.model.attempts import (
    Assignment,
    BackendEvent,
    Completed,
    Finished,
    GivenBack,
    Lost,
    Started,
)
from weft.model.keys import task_seed
from weft.model.results import TaskError
from weft.model.tasks import TaskCall
from weft.model.values import Object, decode, encode
from weft.testing import tasks

Make = Callable[[], Backend]
PATIENCE_S = 120.0
RUN_SEED = 7
"""Backends under test are created for a run with this seed."""


def runs_a_task(make: Make) -> None:
    """A task starts, then finishes with its value."""
    with _open(make) as backend:
        events = _run(backend, [tasks.echo({"a": [1, "x", None, 0.5]})])
        assert [type(e) for e in events if not isinstance(e, Started)] == [Finished]
        assert decode(_value(events[-1])) == {"a": [1, "x", None, 0.5]}


def finishes_each_once(make: Make) -> None:
    """Many tasks end once each, whatever the order and the blocks in which they are sent."""
    with _open(make) as backend:
        events = _run(backend, [tasks.echo(i) for i in range(300)])
        ends = {e.ticket: decode(_value(e)) for e in events if isinstance(e, Finished)}
        assert ends == {i + 1: i for i in range(300)}
        assert sum(isinstance(e, Finished) for e in events) == 300
        started = [e.ticket for e in events if isinstance(e, Started)]
        assert len(started) == len(set(started)), "one start was reported twice"


def reports_an_exception(make: Make) -> None:
    """An exception is the task's fault, reported with its traceback."""
    with _open(make) as backend:
        end, error = _failure(backend, tasks.fail("no good"))
        assert (error.type, end.retriable) == ("exception", False)
        assert "ValueError: no good" in end.detail


def reports_a_temporary_failure(make: Make) -> None:
    """`weft.Temporary` is a retriable failure."""
    with _open(make) as backend:
        end, error = _failure(backend, tasks.temporary())
        assert (error.type, end.retriable) == ("temporary", True)


def reports_an_invalid_result(make: Make) -> None:
    """A result that is not a value fails the task, as `result-invalid`."""
    with _open(make) as backend:
        assert _failure(backend, tasks.invalid())[1].type == "result-invalid"


def reports_a_polite_exit(make: Make) -> None:
    """`sys.exit` inside a task ends the task, not the worker."""
    with _open(make) as backend:
        _, error = _failure(backend, tasks.leave(3))
        assert (error.type, error.exit_code) == ("exit", 3)


def loses_what_cannot_be_imported(make: Make) -> None:
    """A missing function is a loss: another worker may have it."""
    with _open(make) as backend:
        for name in ("weft.testing.nowhere:task", "weft.testing.tasks:nothing"):
            end = _end(backend, TaskCall(name, {}))
            assert isinstance(end, Lost)
            assert end.reason == "import-failed"


def loses_what_lacks_an_object(make: Make) -> None:
    """A missing object is a loss, not the task's fault."""
    with _open(make) as backend:
        end = _end(backend, tasks.fetch(Object("0" * 64)))
        assert isinstance(end, Lost)
        assert end.reason == "object-damaged"


def gives_the_seed(make: Make) -> None:
    """A task that requests a seed gets the one that its place and arguments determine."""
    with _open(make) as backend:
        end = _end(backend, tasks.seeded(5))
        expected = task_seed(RUN_SEED, "", 0, 0, tasks.seeded.name, encode({"x": 5}))
        assert decode(_value(end)) == expected


def stages_objects_and_notes(make: Make) -> None:
    """The result names new objects, and carries the notes separately."""
    with _open(make) as backend:
        end = _end(backend, tasks.stored("some bytes"))
        assert isinstance(end, Finished)
        assert [s.digest for s in end.staged] == [decode(_value(end)).digest]  # type: ignore[union-attr] # an object, or the test fails
        assert end.notes == '{"length": 10}'


def carries_large_values(make: Make) -> None:
    """Megabytes sent both ways at once do not block each other."""
    with _open(make) as backend:
        big = "x" * 1_000_000
        events = _run(backend, [tasks.echo(big) for _ in range(12)])
        assert sum(len(_value(e)) for e in events if isinstance(e, Finished)) > 12_000_000


def forgets_a_cancelled_task(make: Make) -> None:
    """After cancel, no event of the ticket follows, and the slot runs other tasks again."""
    with _open(make) as backend:
        before = sum(backend.capacity())
        backend.submit([_assignment(1, tasks.nap(0.3)), *_rest(backend, tasks.nap(0.01), 2)])
        _until(backend, lambda e: isinstance(e, Started))
        backend.cancel([1])
        end = _end(backend, tasks.echo(9), ticket=1000)
        assert decode(_value(end)) == 9
        assert sum(backend.capacity()) <= max(before, 256 * 4)


def closes_twice(make: Make) -> None:
    """Closing is final and may be repeated."""
    backend = make()
    backend.submit([_assignment(1, tasks.nap(0.01))])
    backend.close()
    backend.close()


def charges_only_the_task_that_ran(make: Make) -> None:
    """A worker's end costs one attempt; the tasks that it had not started come back."""
    with _open(make) as backend:
        first = [_assignment(1, tasks.vanish(3)), *_rest(backend, tasks.echo(0), 2)]
        backend.submit(first)
        ends: dict[int, BackendEvent] = {}
        while len(ends) < len(first):
            for event in _patient_poll(backend):
                if not isinstance(event, Started):
                    ends[event.ticket] = event
        crash = ends.pop(1)
        assert isinstance(crash, Finished)
        assert crash.error is not None
        assert (crash.error.type, crash.error.exit_code) == ("worker-died", 3)
        assert all(isinstance(e, Finished | GivenBack) for e in ends.values())


def charges_only_the_task_of_a_block_that_ran(make: Make) -> None:
    """A worker ends in the middle of a block: one task is charged, the others have values."""
    with _open(make) as backend:
        numbers = (1, 3, 5, 8, 7, 9, 11, 13)
        events = _run(backend, [tasks.odd_or_gone(x) for x in numbers])
        ends = {e.ticket: e for e in events if isinstance(e, Finished)}
        assert sorted(ends) == list(range(1, 9)), "every task ends once"
        crash = ends.pop(4)
        assert crash.error is not None
        assert (crash.error.type, crash.error.exit_code) == ("worker-died", 3)
        assert [decode(_value(ends[t])) for t in sorted(ends)] == [x for x in numbers if x != 8]
        assert not any(isinstance(e, Lost) for e in events)


def tells_crash_from_kill(make: Make) -> None:
    """A segmentation fault is the task's own fault; a KILL comes from outside."""
    with _open(make) as backend:
        _, error = _failure(backend, tasks.kill_self(int(signal.SIGSEGV)))
        assert (error.type, error.exit_code) == ("worker-died", 139)
        kill = _end(backend, tasks.kill_self(int(signal.SIGKILL)), ticket=2)
        assert isinstance(kill, Lost)
        after = _end(backend, tasks.echo(1), ticket=3)
        assert decode(_value(after)) == 1


def kills_a_cancelled_task_that_goes_on(make: Make) -> None:
    """A task that would run for an hour is gone soon after it is cancelled."""
    with _open(make) as backend:
        backend.submit([_assignment(1, tasks.nap(3600.0))])
        _until(backend, lambda e: isinstance(e, Started))
        backend.cancel([1])
        start_s = time.monotonic()
        assert isinstance(_end(backend, tasks.echo(1), ticket=2), Finished)
        assert time.monotonic() - start_s < PATIENCE_S / 2


CHECKS: tuple[Callable[[Make], None], ...] = (
    runs_a_task,
    finishes_each_once,
    reports_an_exception,
    reports_a_temporary_failure,
    reports_an_invalid_result,
    reports_a_polite_exit,
    loses_what_cannot_be_imported,
    loses_what_lacks_an_object,
    gives_the_seed,
    stages_objects_and_notes,
    carries_large_values,
    forgets_a_cancelled_task,
    closes_twice,
)
PROCESS_CHECKS: tuple[Callable[[Make], None], ...] = (
    charges_only_the_task_that_ran,
    charges_only_the_task_of_a_block_that_ran,
    tells_crash_from_kill,
    kills_a_cancelled_task_that_goes_on,
)


@contextlib.contextmanager
def _open(make: Make) -> Iterator[Backend]:
    backend = make()
    try:
        yield backend
    finally:
        backend.close()


def _assignment(ticket: int, call: TaskCall, index: int = 0) -> Assignment:
    args = encode(dict(call.args))
    return Assignment(ticket, call.function, args, "", 0, index, code=call.code)


def _rest(backend: Backend, call: TaskCall, first: int) -> list[Assignment]:
    """Return more assignments, as many as still fit."""
    return [_assignment(first + i, call) for i in range(min(8, backend.capacity()[0] - 1))]


def _run(backend: Backend, calls: Sequence[TaskCall]) -> list[BackendEvent]:
    """Run calls as tickets 1, 2, … as capacity allows; return the events until all have ended.

    Tasks that come back unstarted are submitted again under their tickets.
    """
    assignments = [_assignment(i + 1, call, i) for i, call in enumerate(calls)]
    waiting = list(assignments)
    events: list[BackendEvent] = []
    ended = 0
    while ended < len(calls):
        placed = []
        for slot, room in enumerate(backend.capacity()):
            submitted = 0
            while submitted < room and waiting:
                block = _block(waiting, room - submitted)
                placed.append(replace(block, slot=slot))
                submitted += len(block.tickets)
        if placed:
            backend.submit(placed)
        for event in _patient_poll(backend):
            if isinstance(event, GivenBack):
                waiting.insert(0, assignments[event.ticket - 1])
                continue
            events.append(event)
            ended += not isinstance(event, Started)
    return events


def _block(waiting: list[Assignment], room: int) -> Assignment:
    """Take a block from the front of the waiting tasks: one function, consecutive tickets."""
    first = waiting.pop(0)
    more: list[str] = []
    while (
        waiting
        and 1 + len(more) < room
        and waiting[0].function == first.function
        and waiting[0].ticket == first.ticket + 1 + len(more)
    ):
        more.append(waiting.pop(0).args)
    return replace(first, more=tuple(more))


def _end(backend: Backend, call: TaskCall, ticket: int = 1) -> BackendEvent:
    """Run one call and return how it ended."""
    end_s = time.monotonic() + PATIENCE_S
    while max(backend.capacity()) < 1:
        assert time.monotonic() < end_s, "no slot became free"
        backend.poll(0.05)
    rooms = backend.capacity()
    backend.submit([replace(_assignment(ticket, call), slot=rooms.index(max(rooms)))])
    return _until(backend, lambda e: e.ticket == ticket and not isinstance(e, Started))


def _failure(backend: Backend, call: TaskCall) -> tuple[Finished, TaskError]:
    """Run one call that fails; return its end and its error."""
    end = _end(backend, call)
    assert isinstance(end, Finished)
    assert end.error is not None
    return end, end.error


def _until(backend: Backend, predicate: Callable[[BackendEvent], bool]) -> BackendEvent:
    while True:
        for event in _patient_poll(backend):
            if predicate(event):
                return event


def _patient_poll(backend: Backend) -> list[BackendEvent]:
    """Poll until something happens; raises AssertionError if nothing does."""
    end_s = time.monotonic() + PATIENCE_S
    while time.monotonic() < end_s:
        if events := backend.poll(0.05):
            return [single for event in events for single in _each(event)]
    raise AssertionError(f"nothing happened for {PATIENCE_S} s")


def _each(event: BackendEvent) -> list[BackendEvent]:
    """Return the results of a block one by one, other events unchanged."""
    if not isinstance(event, Completed):
        return [event]
    return [Finished(event.ticket + i, value) for i, value in enumerate(event.values)]


def _value(event: BackendEvent) -> str:
    assert isinstance(event, Finished)
    assert event.value is not None, event.detail
    return event.value

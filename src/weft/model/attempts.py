"""One attempt of a task: what a worker is asked, and what may become of it.

A ticket names one attempt; it is never used again, so a late event of an attempt that was
given up names a ticket nobody waits for and is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from weft.model.results import TaskError
from weft.model.tasks import Code, import_path

LossCause: TypeAlias = Literal["worker", "machine", "resource", "command"]
"""What an attempt was lost to, which decides what happens next.

worker    the process that ran it: counts against the task if it happens several times in a row
machine   a fault of the machine, such as a missing interpreter: never counts against the task,
          and a slot where it repeats is retired
resource  something the machine ran out of, such as disk space: the run stops with exit 75
command   something that would fail on every machine until a person fixes it: the run stops
"""


MAX_BLOCK = 1024
"""The most tasks that travel together."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One attempt of one task with all that a worker needs to know, or a block of them.

    A block is several tasks of one round in a row, alike in all but their arguments.
    """

    ticket: int
    function: str
    args: str
    lane: str
    round: int
    index: int
    key: str = ""
    attempt: int = 1
    slot: int = 0
    timeout_s: float | None = None
    """For commands, whose supervisor measures it; the coordinator keeps its own watch."""
    memory_mb: int | None = None
    code: Code = ()
    more: tuple[str, ...] = ()
    """Arguments of the tasks behind the first: each has the next ticket and the next index."""

    @property
    def tickets(self) -> range:
        """One for each task."""
        return range(self.ticket, self.ticket + 1 + len(self.more))

    def each(self) -> Iterator[Assignment]:
        """Give the tasks one by one; only the first one's key is known here."""
        yield replace(self, more=()) if self.more else self
        for offset, args in enumerate(self.more, start=1):
            ticket, index = self.ticket + offset, self.index + offset
            yield replace(self, ticket=ticket, index=index, args=args, key="", more=())

    def import_path(self, name: str) -> str:
        """Where to import a function that the task names: `module:function`."""
        return import_path(self.code, name)


@dataclass(frozen=True, slots=True)
class Worker:
    """Who runs an attempt; the start time distinguishes a reused pid."""

    pid: int | None = None
    started: float | None = None
    node: str | None = None
    gpu: int | None = None


@dataclass(frozen=True, slots=True)
class Staged:
    """New object bytes that a worker left in the staging folder under `name`."""

    digest: str
    name: str


@dataclass(frozen=True, slots=True)
class Started:
    """The attempt's function body runs. Of short tasks of a block only the end is reported."""

    ticket: int
    worker: Worker
    at_s: float | None = None
    """Monotonic time of the start, where the backend knows it; else it is now."""


@dataclass(frozen=True, slots=True)
class Entered:
    """The attempt goes on to its next stage, and its time limit begins anew."""

    ticket: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The attempt ended by itself: a value, or an error that is the task's own fault."""

    ticket: int
    value: str | None = None
    error: TaskError | None = None
    retriable: bool = False
    detail: str = ""
    """Traceback or log tail, for people; goes to the manifest only."""
    staged: tuple[Staged, ...] = ()
    notes: str | None = None
    run_s: float = 0.0


@dataclass(frozen=True, slots=True)
class Completed:
    """Attempts with consecutive tickets ended one after the other, each with a plain value."""

    ticket: int
    """Of the first."""
    values: Sequence[str]
    run_us: Sequence[int]
    """How long each ran."""
    worker: Worker


@dataclass(frozen=True, slots=True)
class Lost:
    """The attempt was lost through no fault of the task: requeue it, uncharged."""

    ticket: int
    reason: str
    detail: str = ""
    cause: LossCause = "worker"


@dataclass(frozen=True, slots=True)
class GivenBack:
    """The attempt never started and its worker no longer holds it; not even a loss."""

    ticket: int


@dataclass(frozen=True, slots=True)
class NodeEvent:
    """A node or slot was lost, refused, retired or is back: an event of the run itself."""

    kind: str
    """`node-lost`, `node-returned`, `node-refused` or `slot-retired`."""
    detail: str
    ticket: int = 0
    """Of no attempt."""


TicketEvent = Started | Entered | Finished | Completed | Lost | GivenBack
BackendEvent = TicketEvent | NodeEvent

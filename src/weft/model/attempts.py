"""One attempt at a task: what a worker is asked to run, and the events that may follow.

A ticket identifies one attempt and is never reused, so a late event of an abandoned attempt
names a ticket that nobody waits for, and is dropped.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from weft.model.results import TaskError
from weft.model.tasks import Code, import_path

LossCause: TypeAlias = Literal["worker", "machine", "resource", "command"]
"""The cause of a loss, which determines what happens next.

worker    the process that ran it died: counts against the task if it happens several times in a row
machine   a defect of the machine, such as a missing interpreter: never counts against the task,
          and a slot where it repeats is retired
resource  the machine ran out of a resource, such as disk space: the run stops with exit 75
command   a command that would fail on every machine until someone fixes it: the run stops
"""


MAX_BLOCK = 1024
"""Maximum number of tasks in a block."""


@dataclass(frozen=True, slots=True)
class Assignment:
    """One attempt at a task, with everything that a worker needs to run it, or a block of them.

    A block is consecutive tasks of one round that differ only in their arguments.
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
    """For commands, whose supervisor enforces it; the coordinator also watches the limit."""
    memory_mb: int | None = None
    code: Code = ()
    more: tuple[str, ...] = ()
    """Arguments of the tasks after the first, each with the next ticket and the next index."""

    @property
    def tickets(self) -> range:
        """The ticket of each task, in order."""
        return range(self.ticket, self.ticket + 1 + len(self.more))

    def each(self) -> Iterator[Assignment]:
        """Yield an assignment for each task; only the first has its key."""
        yield replace(self, more=()) if self.more else self
        for offset, args in enumerate(self.more, start=1):
            ticket, index = self.ticket + offset, self.index + offset
            yield replace(self, ticket=ticket, index=index, args=args, key="", more=())

    def import_path(self, name: str) -> str:
        """Return where to import a function that the task names: `module:function`."""
        return import_path(self.code, name)


@dataclass(frozen=True, slots=True)
class Worker:
    """The process that runs an attempt; the start time distinguishes a reused pid."""

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
    """The attempt's function has started. For short tasks of a block only the end is reported."""

    ticket: int
    worker: Worker
    at_s: float | None = None
    """Monotonic time of the start, if the backend knows it; None means now."""


@dataclass(frozen=True, slots=True)
class Entered:
    """The attempt enters its next stage, and its time limit starts again."""

    ticket: int


@dataclass(frozen=True, slots=True)
class Finished:
    """The attempt ended with a value, or with an error that is the task's own fault."""

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
    """Attempts with consecutive tickets ended one after another, each with just a value."""

    ticket: int
    """The first ticket."""
    values: Sequence[str]
    run_us: Sequence[int]
    """The run time of each."""
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
    """The attempt never started and its worker no longer holds it; this is not a loss."""

    ticket: int


@dataclass(frozen=True, slots=True)
class NodeEvent:
    """A node or slot was lost, refused, retired or has returned: an event of the run itself."""

    kind: str
    """`node-lost`, `node-returned`, `node-refused` or `slot-retired`."""
    detail: str
    ticket: int = 0
    """Always 0: no attempt is concerned."""


TicketEvent = Started | Entered | Finished | Completed | Lost | GivenBack
BackendEvent = TicketEvent | NodeEvent

"""Events that reach the machine and commands that leave it. Frozen data, no behaviour."""

from __future__ import annotations

from dataclasses import dataclass, field

from weft.model.attempts import Staged, Worker
from weft.model.results import TaskError
from weft.model.tasks import Code, Limits


@dataclass(slots=True)
class LiveTask:
    """One task of an open round, while it is queued or running."""

    lane: str
    round: int
    index: int
    key: str
    function: str
    args: str
    limits: Limits
    code: Code = ()
    attempt: int = 0
    charged: int = 0
    """Attempts that failed in a way worth retrying; only these count against `retries`."""
    losses: int = 0
    """Workers lost in a row while running it."""
    ticket: int | None = None
    started_s: float | None = None
    entered_s: float = 0.0
    """When its present stage began; a command has three, a function one."""
    worker: Worker = field(default_factory=Worker)
    slot: int = 0
    ordinal: int = 0
    """Its number among the tasks of its kind, GPU or CPU, in its round."""
    peers: int | None = None
    """How many its round has of its kind; None when that is not known beforehand."""
    dealt: int | None = None
    """The slot that the static deal gave it, once it was asked for."""


@dataclass(frozen=True, slots=True)
class Recalled:
    """The journal already holds this task's final outcome, from an earlier session."""

    lane: str
    round: int
    index: int
    value: str | None
    error: TaskError | None


@dataclass(frozen=True, slots=True)
class OpenRound:
    """A search yielded a round of `size` tasks."""

    lane: str
    round: int
    size: int


@dataclass(frozen=True, slots=True)
class Queue:
    """Tasks of an open round were made; recall or persist them before any is dispatched."""

    lane: str
    round: int
    tasks: tuple[LiveTask, ...]


@dataclass(frozen=True, slots=True)
class OpenLanes:
    """A search yielded a set of lanes."""

    lane: str
    round: int
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Begin:
    """An attempt of the task is running."""

    task: LiveTask


@dataclass(frozen=True, slots=True)
class RecordResult:
    """The task's final outcome."""

    task: LiveTask
    value: str | None
    error: TaskError | None
    detail: str
    staged: tuple[Staged, ...]
    notes: str | None
    run_s: float


@dataclass(frozen=True, slots=True)
class Requeue:
    """An attempt did not succeed and the task waits again."""

    task: LiveTask
    reason: str
    detail: str
    started_s: float | None
    """Monotonic time at which the attempt started, if it did."""


@dataclass(frozen=True, slots=True)
class Advance:
    """The first `recorded` results of the round are accepted, in task order."""

    lane: str
    round: int
    recorded: int


@dataclass(frozen=True, slots=True)
class Close:
    """The round is over; with `stopped`, what is beyond `recorded` is dropped."""

    lane: str
    round: int
    recorded: int
    stopped: bool


@dataclass(frozen=True, slots=True)
class Answer:
    """A lane ended; `rounds` is how many it had."""

    lane: str
    rounds: int
    body: str


@dataclass(frozen=True, slots=True)
class Kill:
    """Give up a running attempt."""

    ticket: int


Command = (
    OpenRound | Queue | OpenLanes | Begin | RecordResult | Requeue | Advance | Close | Answer | Kill
)

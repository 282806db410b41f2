"""Commands that leave the machine, the event `Recalled`, and their tasks. Data, no behaviour."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.model.attempts import Staged, Worker
from weft.model.plan import Plan
from weft.model.results import TaskError
from weft.model.tasks import COMMAND, Code, Limits

TaskClass = tuple[bool, bool]
"""Whether a task needs a GPU, and whether it is a command: all that decides where it fits."""


class TaskKind:
    """What tasks of one round have in common if they call one function with the same limits."""

    __slots__ = ("code", "function", "is_plain", "lane", "limits", "round", "task_class")

    def __init__(self, lane: str, round_: int, function: str, limits: Limits, code: Code) -> None:
        self.lane, self.round = lane, round_
        self.function, self.limits, self.code = function, limits, code
        self.is_plain = function != COMMAND and not limits.gpu and limits.group is None
        """Whether its tasks may travel in blocks and need no durable row before they start."""
        self.task_class: TaskClass = (limits.gpu > 0, function == COMMAND)


class LiveTask:
    """One task of an open round, while it is queued or running.

    Most tasks are assigned once and end; attributes that they never need stay class defaults.
    """

    attempt = 0
    charged = 0
    """Attempts that failed in a way worth retrying; only these count against `retries`."""
    losses = 0
    """Consecutive workers lost while running it."""
    ticket: int | None = None
    started_s: float | None = None
    entered_s = 0.0
    """When its current stage began; a command has three, a function one."""
    worker = Worker()
    slot = 0
    peers: int | None = None
    """Number of tasks of its kind, GPU or CPU, in its round; None if not known in advance."""
    dealt: int | None = None
    """The slot that the static deal gave it, once it was determined."""

    def __init__(self, kind: TaskKind, index: int, key: str, args: str, ordinal: int = 0) -> None:
        self.kind = kind
        self.index = index
        self.key = key
        self.args = args
        self.ordinal = ordinal
        """Its number among the GPU tasks of its round, or among the CPU tasks."""

    @property
    def lane(self) -> str:
        """The path of its lane."""
        return self.kind.lane

    @property
    def round(self) -> int:
        """The number of its round."""
        return self.kind.round

    @property
    def function(self) -> str:
        """The name of what it calls."""
        return self.kind.function

    @property
    def limits(self) -> Limits:
        """What an attempt may use."""
        return self.kind.limits

    @property
    def code(self) -> Code:
        """Where to import what it calls."""
        return self.kind.code


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
    """Tasks of an open round were created: recall what is recorded of them, note the rest."""

    lane: str
    round: int
    tasks: Sequence[LiveTask]
    kinds: Sequence[TaskKind]
    """The kinds of the tasks, each once."""


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
class RecordValues:
    """Values of tasks of one round, as one worker sent them."""

    tasks: Sequence[LiveTask]
    values: Sequence[str]
    run_us: Sequence[int]
    worker: Worker


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
class Declare:
    """A lane declared its plan, for progress displays."""

    lane: str
    plan: Plan


@dataclass(frozen=True, slots=True)
class Kill:
    """Abandon attempts in flight."""

    tickets: tuple[int, ...]


Command = (
    OpenRound
    | Queue
    | OpenLanes
    | Begin
    | RecordResult
    | RecordValues
    | Requeue
    | Advance
    | Close
    | Answer
    | Declare
    | Kill
)

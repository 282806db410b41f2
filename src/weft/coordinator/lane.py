"""One lane: a search's generator, its state, and the round or lanes it waits for."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias, TypeVar, overload

from weft.coordinator.runvalues import RunValues
from weft.coordinator.steps import LiveTask, TaskClass
from weft.errors import SearchInvalid, WeftError
from weft.model.plan import Plan
from weft.model.results import Result, TaskError, TaskFailed
from weft.model.tasks import (
    Lanes,
    LazyRound,
    Milestone,
    Proposals,
    Round,
    SearchBody,
    StreamRound,
    TaskCall,
    Unknown,
    Until,
    make_round,
)
from weft.model.values import (
    Argument,
    Value,
    canonical,
    decode_trusted,
    encode,
    parse_trusted,
)

Fetch = Callable[[str, int, int, int], Sequence[Result]]
"""Recorded results of (lane, round) from index `start` to `end`, for lazy rounds."""

AnyRound: TypeAlias = Round | LazyRound | StreamRound
Step = AnyRound | Lanes | Milestone | Plan
LaneAnswer: TypeAlias = Value | Unknown
LaneInput: TypeAlias = Sequence[Result] | Sequence[LaneAnswer] | None
"""What a search's generator is sent: results, answers of its lanes, or nothing at its start."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Ended:
    """The generator returned: the lane's answer body, and what its parent sees."""

    body: str
    value: LaneAnswer


class Lane:
    """A running sub-search. `order` sorts lanes as the ledger lists them."""

    def __init__(
        self,
        path: str,
        order: tuple[int, ...],
        body: SearchBody,
        values: RunValues | None = None,
    ) -> None:
        self.path = path
        self.values = values
        """Reads the typed values of its results and stores those of its answer."""
        self.order = order
        self.next_round = 0
        self.open: OpenRoundState | None = None
        self.parent: Lane | None = None
        self.ordinal = 0
        self.waiting_for = 0
        self.answers: list[LaneAnswer] = []
        self.names: set[str] = set()
        self._body = body

    def resume(self, value: LaneInput) -> Step | Ended:
        """Send results or answers to the generator; return its next step, or how the lane ended."""
        return self._run(self._body.send, value)

    def fail(self, result: Result) -> Step | Ended:
        """Raise `TaskFailed` for a failed task inside the search; return as `resume` does."""
        return self._run(self._body.throw, TaskFailed(result))

    def _run(self, resume_body: Callable[[T], object], value: T) -> Step | Ended:
        try:
            return _checked_step(resume_body(value), self.path)
        except StopIteration as stop:
            return self._ended(stop.value)
        except TaskFailed as failed:
            return self._ended(_incomplete(failed.result))
        except WeftError:
            raise
        except Exception as error:
            raise SearchInvalid(
                f"the search raised {type(error).__name__}: {error}{_place(error)}"
                f" (lane {self.path or '/'}, round {self.next_round})",
                hint="fix the search",
            ) from error

    def _ended(self, value: Argument | Unknown) -> Ended:
        """Return the answer body for the ledger, and the value as a parent or caller sees it."""
        if isinstance(value, Unknown):
            text, detail = self._passed_on(value.detail)
            body = {"detail": parse_trusted(text), "lane": self.path, "reason": value.reason}
            return Ended(canonical({**body, "status": "unknown"}), Unknown(value.reason, detail))
        text, answer = self._passed_on(value)
        body = {"lane": self.path, "status": "answered", "value": parse_trusted(text)}
        return Ended(canonical(body), answer)

    def _passed_on(self, value: object) -> tuple[str, Value]:
        """Return an answer's text, and its value as the recipient sees it."""
        if self.values is not None:
            return self.values.pass_on(value)
        text = encode(value)
        return text, decode_trusted(text)


class StreamEnded(Exception):  # noqa: N818 - an outcome of asking for the next call
    """A stream has no more proposals."""


class OpenRoundState:
    """An open round: its live tasks, the results that have arrived, and how many are accepted."""

    __slots__ = (
        "classes",
        "failure",
        "kinds",
        "lane",
        "lazy",
        "made",
        "noted",
        "number",
        "planned",
        "ready",
        "recorded",
        "replaying",
        "results",
        "size",
        "stopped",
        "tasks",
        "totals",
        "until",
        "waiting",
        "width",
    )  # fmt: skip

    def __init__(self, lane: Lane, number: int, step: AnyRound) -> None:
        self.lane = lane
        self.number = number
        self.size = self.planned = _size(step)
        """Number of tasks; for a stream an upper limit until it has ended."""
        self.lazy = isinstance(step, LazyRound)
        self.width = step.width if isinstance(step, StreamRound) else None
        self.until: Until | None = None if isinstance(step, StreamRound) else step.until
        self.made = 0
        self.kinds = [0, 0]
        """Numbers of CPU and GPU tasks created so far."""
        self.classes: set[TaskClass] = set()
        """Classes of the tasks created so far."""
        self.totals = _by_kind(step.tasks) if isinstance(step, Round) else None
        """Total numbers of CPU and GPU tasks; unknown for a lazy round or a stream."""
        self.recorded = self.noted = 0
        """How many results are accepted, and how many of them the journal knows."""
        self.replaying = self.lazy and self.until is None
        """Whether results recorded in earlier sessions may be accepted block by block."""
        self.stopped = False
        self.failure: Result | None = None
        self.ready: deque[int] = deque()
        self.tasks: dict[int, LiveTask] = {}
        self.waiting: dict[int, Result | None] = {}
        """Results beyond the accepted prefix; None where only their arrival matters (lazy)."""
        self.results: list[Result] = []

    @property
    def cut_short(self) -> bool:
        """Whether it has fewer tasks than planned."""
        return self.stopped or self.size < self.planned

    @property
    def closed(self) -> bool:
        """Whether every result that counts has been accepted."""
        return self.stopped or self.recorded == self.size

    def arrive(self, result: Result) -> None:
        """Add a final result; results may arrive in any order."""
        self.waiting[result.index] = result if self.keeps_values or not result.ok else None

    @property
    def keeps_values(self) -> bool:
        """Whether values are needed in memory: by `until`, or to be passed to the search."""
        return not self.lazy or self.until is not None

    def arrive_block(self, tasks: Sequence[LiveTask], values: Sequence[str]) -> None:
        """Add the values of tasks, in order of index."""
        if self.keeps_values:
            source = self.lane.values
            for task, value in zip(tasks, values, strict=True):
                index = task.index
                self.waiting[index] = Result(
                    index, task.key, task.function, task.args, value, None, source
                )
        elif tasks[0].index == self.recorded and not self.waiting:
            self.recorded += len(tasks)
        else:
            self.waiting.update(dict.fromkeys([task.index for task in tasks]))

    def judge(self, strict: bool) -> None:
        """Accept results in task order, as far as they have arrived."""
        while not self.closed and self.recorded in self.waiting:
            result = self.waiting.pop(self.recorded)
            self.recorded += 1
            if result is None:
                continue
            if not self.lazy:
                self.results.append(result)
            if strict and not result.ok:
                self.failure, self.stopped = result, True
            elif self.until is not None:
                self._ask(self.until, result)

    def fail(self, failed: TaskFailed) -> None:
        """End the round because the search used the value of a failed task."""
        self.failure, self.stopped = failed.result, True

    def _ask(self, until: Until, result: Result) -> None:
        """Call `until`; as elsewhere, using the value of a failed task fails the lane."""
        try:
            self.stopped = bool(until(result))
        except TaskFailed as failed:
            self.fail(failed)
        except WeftError:
            raise
        except Exception as error:
            raise SearchInvalid(
                f"`until` raised {type(error).__name__}: {error}{_place(error)}"
                f" (lane {self.lane.path or '/'}, round {self.number})"
            ) from error


class StoredResults(Sequence[Result]):
    """Results of a lazy round, read from stored rows: indexable, re-iterable, bounded memory."""

    CHUNK = 1024

    def __init__(self, fetch: Fetch, lane: str, round_: int, size: int) -> None:
        self._fetch, self._lane, self._round, self._size = fetch, lane, round_, size
        self._start, self._rows = 0, list[Result]()

    def __len__(self) -> int:
        return self._size

    def __repr__(self) -> str:
        return f"<{self._size} results>"

    @overload
    def __getitem__(self, index: int) -> Result: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Result]: ...
    def __getitem__(self, index: int | slice) -> Result | Sequence[Result]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self._size))]
        place = index + self._size if index < 0 else index
        if not 0 <= place < self._size:
            raise IndexError(index)
        return self._chunk(place)[place - self._start]

    def __iter__(self) -> Iterator[Result]:
        for start in range(0, self._size, self.CHUNK):
            yield from self._chunk(start)

    def _chunk(self, place: int) -> list[Result]:
        """Return the chunk of results that contains an index; the last chunk read is cached."""
        if not self._start <= place < self._start + len(self._rows):
            self._start = place - place % self.CHUNK
            end = min(self._start + self.CHUNK, self._size)
            self._rows = list(self._fetch(self._lane, self._round, self._start, end))
        return self._rows


def proposed(tasks: Proposals, state: OpenRoundState) -> Callable[[int], TaskCall]:
    """Return a function that creates the calls of a stream, each from the result `width` before."""

    def make(index: int) -> TaskCall:
        assert state.width is not None
        known = index - state.width
        try:
            return tasks.send(state.results[known] if known >= 0 else None)
        except StopIteration:
            raise StreamEnded from None
        except TaskFailed as failed:
            state.fail(failed)
            raise StreamEnded from None

    return make


def _size(step: AnyRound) -> int:
    if isinstance(step, Round):
        return len(step.tasks)
    return step.most if isinstance(step, StreamRound) else step.size


def _by_kind(calls: Sequence[TaskCall]) -> tuple[int, int]:
    gpus = sum(1 for call in calls if isinstance(call, TaskCall) and call.limits.gpu)
    return len(calls) - gpus, gpus


def _checked_step(step: object, path: str) -> Step:
    if isinstance(step, list | tuple):
        return make_round(step)
    if isinstance(step, Round | LazyRound | StreamRound | Lanes | Milestone | Plan):
        return step
    if isinstance(step, TaskCall):
        return Round((step,))
    raise SearchInvalid(
        f"the search yielded {type(step).__name__} (lane {path or '/'})",
        hint="yield a list of task calls, weft.round, weft.lazy, weft.stream or weft.lanes",
    )


def _incomplete(result: Result) -> Unknown:
    assert isinstance(result.error, TaskError)
    detail = f"{result.function} #{result.index} failed: {result.error.type}"
    return Unknown("incomplete", detail)


def _place(error: BaseException) -> str:
    """Return the file and line where an error was raised, for a one-line message."""
    frame = error.__traceback__
    assert frame is not None  # it was caught a moment ago
    while frame.tb_next is not None:
        frame = frame.tb_next
    code = frame.tb_frame.f_code
    return f" at {code.co_filename.rpartition('/')[2]}:{frame.tb_lineno}"

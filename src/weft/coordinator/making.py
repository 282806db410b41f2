"""Creates the tasks of open rounds: asks the search for calls and computes each task's key.

Tasks are created as they can be used. A lazy round never has more than a window of them, a stream
only as many as its width allows, and any round begins with a few, so that workers start early.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count, repeat

from weft.coordinator.lane import AnyRound, OpenRoundState, StreamEnded, proposed
from weft.coordinator.placement import Placement
from weft.coordinator.runvalues import RunValues
from weft.coordinator.steps import LiveTask, TaskKind
from weft.errors import SearchInvalid, UsageError, WeftError
from weft.model.keys import task_keys
from weft.model.tasks import LazyRound, StreamRound, TaskCall, check_call, import_path
from weft.model.values import MAX_ARGS_CHARS, encode_args

TASKS_PER_SLOT = 320
"""More than the 1 ms tasks that a slot holds at a time; shorter tasks do not matter."""
STEP_PER_SLOT = 64
"""How many tasks per slot are created at a time, at least, so that many slots get whole blocks:
with blocks of a few tasks, messages cost more than tasks."""
GROWTH = 4
"""Above that minimum, at most 1/GROWTH of a round's tasks so far are created at a time, so that
workers do not have to wait for it."""


@dataclass(frozen=True, slots=True)
class LazyLimits:
    """How many tasks of a lazy round may exist at a time, and with how many any round begins."""

    window: int = 4096
    """Maximum number of tasks created but not finished."""
    reach: int = 32768
    """Maximum distance from the first unfinished task to the last one created."""
    first: int = 256
    """Minimum number of tasks a round begins with; workers start while the rest is created."""

    @staticmethod
    def for_slots(count: int) -> LazyLimits:
        """Return limits under which no slot waits for tasks to be created."""
        window = max(LAZY_LIMITS.window, TASKS_PER_SLOT * count)
        return LazyLimits(window, 8 * window)


LAZY_LIMITS = LazyLimits()


class TaskMaker:
    """Creates the tasks of each open round."""

    def __init__(
        self,
        genesis: str,
        limits: LazyLimits,
        placement: Placement,
        values: RunValues | None = None,
    ) -> None:
        self.limits = limits
        self._values = values
        self._genesis = genesis
        self._placement = placement
        self._makers: dict[tuple[str, int], Callable[[int], TaskCall]] = {}

    def open(self, state: OpenRoundState, step: AnyRound) -> None:
        """Add a round that a search has yielded."""
        self._makers[state.lane.path, state.number] = _maker(step, state)

    def close(self, state: OpenRoundState) -> None:
        """Forget a round that has ended."""
        self._makers.pop((state.lane.path, state.number), None)

    def of(self, state: OpenRoundState) -> Callable[[int], TaskCall]:
        """Return the function that creates the call of each task of a round."""
        return self._makers[state.lane.path, state.number]

    def make_more(self, state: OpenRoundState) -> tuple[LiveTask, ...]:
        """Create as many tasks of a round as may be created now, and add them to `state`."""
        end = self._end(state)
        if end <= state.made:
            return ()
        start, calls = state.made, self._calls(state, end)
        tasks = self._tasks(state, start, calls)
        state.made += len(tasks)
        state.tasks.update(zip(range(start, state.made), tasks, strict=True))
        return tasks

    def _end(self, state: OpenRoundState) -> int:
        """Return the index up to which tasks may be created now.

        A lazy round waits until a quarter of its window is free.
        """
        limits, unfinished, end = self.limits, len(state.tasks), state.size
        if state.lazy and unfinished > limits.window * 3 // 4:
            return state.made
        if state.width is not None:
            return min(end, state.recorded + state.width)
        if state.lazy:
            end = min(end, state.recorded + limits.reach, state.made + limits.window - unfinished)
        per_slot = STEP_PER_SLOT if state.made else 2
        least = max(limits.first, per_slot * len(self._placement.slots))
        return min(end, state.made + max(least, state.made // GROWTH))

    def _calls(self, state: OpenRoundState, end: int) -> list[TaskCall]:
        """Ask the search for the calls of a round's next tasks."""
        lane, calls, make = state.lane.path, list[TaskCall](), self.of(state)
        try:
            for index in range(state.made, end):
                call = make(index)
                calls.append(call if type(call) is TaskCall else check_call(call, index))
        except StreamEnded:
            state.size = state.made + len(calls)
        except WeftError:
            raise
        except Exception as error:
            raise SearchInvalid(
                f"task {state.made + len(calls)} of round {state.number} (lane {lane or '/'}):"
                f" make raised {type(error).__name__}: {error}"
            ) from error
        return calls

    def _tasks(
        self, state: OpenRoundState, start: int, calls: Sequence[TaskCall]
    ) -> tuple[LiveTask, ...]:
        """Create the tasks of calls; consecutive ones of one kind are encoded and keyed at once."""
        tasks, place, values = list[LiveTask](), 0, self._values
        while place < len(calls):
            kind = self._kind(state, calls[place])
            end = _end_of_kind(calls, place, kind)
            tasks += self._alike(state, start + place, calls[place:end], kind)
            place = end
        if values is not None and values.has_records:
            _check_records(state, values, tasks, calls)
        return tuple(tasks)

    def _alike(
        self, state: OpenRoundState, start: int, calls: Sequence[TaskCall], kind: TaskKind
    ) -> list[LiveTask]:
        """Create the tasks of calls of one kind, the first with index `start`."""
        texts, values, gpu = list[str](), self._values, kind.limits.gpu
        try:
            for call in calls:
                texts.append(encode_args(call.args, MAX_ARGS_CHARS, values))
        except WeftError as error:
            place = len(texts)
            raise _refused(state, start + place, calls[place], error) from None
        keys = task_keys(self._genesis, kind.lane, kind.round, start, kind.function, texts)
        state.classes.add(kind.task_class)
        ordinal = state.kinds[gpu]
        state.kinds[gpu] = ordinal + len(calls)
        tasks = list(map(LiveTask, repeat(kind), count(start), keys, texts, count(ordinal)))
        if state.totals:
            for task in tasks:
                task.peers = state.totals[gpu]
        return tasks

    def _kind(self, state: OpenRoundState, call: TaskCall) -> TaskKind:
        kind = TaskKind(state.lane.path, state.number, call.function, call.limits, call.code)
        if self._values is not None:
            self._values.note(call.function, import_path(call.code, call.function))
        if call.limits.gpu and not self._placement.fits(gpu=True):
            raise UsageError(
                f"{call.function} needs a GPU and no node has one", hint="name nodes with --nodes"
            )
        return kind


def _maker(step: AnyRound, state: OpenRoundState) -> Callable[[int], TaskCall]:
    if isinstance(step, StreamRound):
        return proposed(step.tasks, state)
    return step.make if isinstance(step, LazyRound) else step.tasks.__getitem__


def _check_records(
    state: OpenRoundState,
    values: RunValues,
    tasks: Sequence[LiveTask],
    calls: Sequence[TaskCall],
) -> None:
    """Refuse dataclasses in arguments that the tasks' annotations do not restore."""
    for task, call in zip(tasks, calls, strict=True):
        try:
            values.check_args(call.function, call.args, task.args)
        except WeftError as error:
            raise _refused(state, task.index, call, error) from None


def _refused(state: OpenRoundState, index: int, call: TaskCall, error: WeftError) -> SearchInvalid:
    place = f"task {index} of round {state.number} (lane {state.lane.path or '/'})"
    return SearchInvalid(f"{place}, {call.function}: {error}")


def _end_of_kind(calls: Sequence[TaskCall], start: int, kind: TaskKind) -> int:
    """Return where the calls of one kind end; they mostly share the same objects."""
    function, limits, code = kind.function, kind.limits, kind.code
    for place in range(start + 1, len(calls)):
        call = calls[place]
        if (
            call.function != function
            or (call.limits is not limits and call.limits != limits)
            or (call.code is not code and call.code != code)
        ):
            return place
    return len(calls)

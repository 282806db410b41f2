"""The coordinator's transitions: state + event → state + commands. No clock, no I/O.

    apply(event) ─► commands ─► the journal executes them and recalls what is recorded
    advance()  resumes the next lane whose results have all arrived
    `making` creates the tasks of each round; `dispatch` has the waiting and running tasks

Results may arrive in any order; they are judged and passed to the search in task order only,
so nothing that the search sees depends on which task finished first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import compress

from weft.coordinator.dispatch import Dispatch
from weft.coordinator.lane import (
    AnyRound,
    Ended,
    Fetch,
    Lane,
    LaneAnswer,
    LaneInput,
    OpenRoundState,
    Step,
    StoredResults,
)
from weft.coordinator.making import LAZY_LIMITS, LazyLimits, TaskMaker
from weft.coordinator.outlook import Outlook
from weft.coordinator.placement import Placement
from weft.coordinator.policy import TIMED_OUT, WORKER_DIED, Policy, gives_up
from weft.coordinator.replay import Recall, Replay
from weft.coordinator.runvalues import RunValues
from weft.coordinator.steps import (
    Advance,
    Answer,
    Begin,
    Close,
    Command,
    Declare,
    Kill,
    LiveTask,
    OpenLanes,
    OpenRound,
    Queue,
    Recalled,
    RecordResult,
    RecordValues,
    Requeue,
)
from weft.errors import SearchInvalid
from weft.model.attempts import (
    Completed,
    Entered,
    Finished,
    GivenBack,
    Lost,
    Started,
    TicketEvent,
)
from weft.model.plan import Plan
from weft.model.results import Result, TaskError
from weft.model.slots import local_nodes
from weft.model.tasks import (
    COMMAND,
    Lanes,
    Milestone,
    SearchBody,
    SearchCall,
    SearchContext,
)


@dataclass(frozen=True, slots=True)
class Counts:
    """Progress in numbers: `planned` counts every task of every round opened so far."""

    planned: int = 0
    finished: int = 0
    failed: int = 0
    running: int = 0
    milestone: Milestone | None = None
    """The last milestone that the search has passed, if it sets any."""
    outlook: Outlook | None = field(default=None, compare=False)
    """Additional progress information to display; always up to date."""


@dataclass(frozen=True, slots=True)
class Move:
    """A lane whose generator can resume, with its input: results, answers, or a failure."""

    lane: Lane
    value: LaneInput = None
    failed: Result | None = None


class Machine:
    """The state of one run. Every public method is deterministic."""

    def __init__(
        self,
        genesis: str,
        root: SearchCall,
        context: SearchContext,
        policy: Policy,
        fetch: Fetch,
        lazy: LazyLimits = LAZY_LIMITS,
        placement: Placement | None = None,
        pause_at: str | None = None,
        recall: Recall | None = None,
        values: RunValues | None = None,
    ) -> None:
        self._values = values
        self._replay = Replay(genesis, recall, strict=policy.strict) if recall else None
        self._pause_at = pause_at
        self._milestone: Milestone | None = None
        self.dispatch = Dispatch(placement or Placement(local_nodes(1)), policy)
        """The waiting and running tasks; the loop takes assignments from it."""
        self.outlook = Outlook(self.dispatch)
        self._making = TaskMaker(genesis, lazy, self.dispatch.placement, values)
        self._context = context
        self._policy = policy
        self._fetch = fetch
        self._root = Lane("", (), root.start(context), values)
        self._open: dict[tuple[str, int], OpenRoundState] = {}
        self._partial: dict[tuple[str, int], OpenRoundState] = {}
        """Open rounds whose tasks are not all created yet."""
        self._commands: list[Command] = []
        self._moves: deque[Move] = deque([Move(self._root)])
        self._planned = self._finished = self._failed = 0
        self.broken = ""
        """Why the run cannot continue until someone fixes it; empty while the run is healthy."""
        self.exhausted = False
        """Whether the reason is a resource that ran out, such as disk space."""
        self.first_failure: RecordResult | None = None
        """The first task that failed for good in this session, for progress displays."""
        self.answer: str | None = None
        self.value: LaneAnswer = None

    # -- called by the loop ---------------------------------------------------------------

    @property
    def done(self) -> bool:
        """Whether the root search has its answer."""
        return self.answer is not None

    @property
    def can_advance(self) -> bool:
        """Whether a lane has all results that it waits for."""
        return bool(self._moves)

    def counts(self) -> Counts:
        """Return the progress of the run."""
        counts = (self._planned, self._finished, self._failed, len(self.dispatch.out))
        return Counts(*counts, self._milestone, self.outlook)

    @property
    def paused(self) -> bool:
        """Whether the search has reached the milestone where it is to pause."""
        return self._milestone is not None and self._milestone.name == self._pause_at

    def advance(self) -> list[Command]:
        """Resume one lane whose results have all arrived; return no commands if there is none.

        Call only after all earlier commands were executed: the search may read stored rows.
        """
        if self._moves:
            self._advance(self._moves.popleft())
        return self._drain()

    def make_ahead(self) -> list[Command]:
        """Create more tasks of open rounds while workers are busy with others."""
        for place, state in list(self._partial.items()):
            if state.made == state.size:
                del self._partial[place]
            else:
                self._make_more(state)
        return self._drain()

    @property
    def makes_ahead(self) -> bool:
        """Whether an open round has tasks that are not created yet."""
        return bool(self._partial)

    def apply(self, event: TicketEvent | Recalled, now_s: float = 0.0) -> list[Command]:
        """Apply one event; events of tickets that nobody waits for are ignored."""
        if isinstance(event, Completed):
            self._finish_block(event)
        elif isinstance(event, Recalled):
            self._recalled(event)
        elif (task := self.dispatch.out.get(event.ticket)) is None:
            pass
        elif isinstance(event, Started):
            task.started_s = task.entered_s = now_s if event.at_s is None else event.at_s
            task.worker = event.worker
            self._commands.append(Begin(task))
        elif isinstance(event, Entered):
            task.entered_s = now_s
        elif isinstance(event, Finished):
            self.dispatch.end(task)
            self._finish_attempt(task, event)
        elif isinstance(event, Lost):
            self.dispatch.end(task)
            self._lost(task, event)
        else:
            assert isinstance(event, GivenBack)
            self.dispatch.end(task)
            task.attempt -= 1
            self._requeue(task)
        return self._drain()

    def expire(self, now_s: float) -> list[Command]:
        """End attempts that are past their time limit."""
        for task in self.dispatch.late(now_s):
            if task.ticket is None:  # a task before it ended its round
                continue
            self._commands.append(Kill((task.ticket,)))
            late = Finished(
                task.ticket,
                error=TIMED_OUT,
                retriable=True,
                run_s=now_s - (task.started_s or now_s),
            )
            self.dispatch.end(task)
            self._finish_attempt(task, late)
        return self._drain()

    def results_left(self) -> list[RecordResult | RecordValues]:
        """Return the results of the event during which the search raised, if there was one."""
        return [each for each in self._drain() if isinstance(each, RecordResult | RecordValues)]

    def interrupt(self) -> list[Command]:
        """Abandon all running attempts, uncharged; the tasks run again when the run is resumed."""
        for task in list(self.dispatch.out.values()):
            self.dispatch.end(task)
            if task.started_s is not None:  # else it was no attempt yet
                self._commands.append(Requeue(task, "interrupted", "", task.started_s))
        return self._drain()

    def stop(self, reason: str, *, exhausted: bool) -> None:
        """Stop the run; only the first reason is reported."""
        if not self.broken:
            self.broken, self.exhausted = reason, exhausted

    # -- attempts -------------------------------------------------------------------------

    def _finish_attempt(self, task: LiveTask, end: Finished) -> None:
        if end.error is not None and end.retriable and self._policy.may_retry(task):
            task.charged += 1
            task.losses = 0  # only consecutive losses count against the task
            self._commands.append(Requeue(task, end.error.type, end.detail, task.started_s))
            self._requeue(task)
            return
        self._record(
            RecordResult(task, end.value, end.error, end.detail, end.staged, end.notes, end.run_s)
        )

    def _record(self, result: RecordResult) -> None:
        if result.error is not None and self.first_failure is None:
            self.first_failure = result
        self._commands.append(result)
        self._settle(result.task, result.value, result.error)

    def _finish_block(self, block: Completed) -> None:
        """Record the values of a block, except those that nobody waits for."""
        values, run_us = block.values, block.run_us
        ended = self.dispatch.end_block(block.ticket, len(values))
        tasks = [task for task in ended if task is not None]
        if len(tasks) == len(ended) == 1:  # the search may be waiting for just this task
            self._take_values(RecordValues(tasks, values, run_us, block.worker))
            return
        if len(tasks) < len(ended):
            waited_for = [task is not None for task in ended]
            values = list(compress(values, waited_for))
            run_us = list(compress(run_us, waited_for))
        for start, end in _ranges(tasks):
            part = RecordValues(
                tasks[start:end], values[start:end], run_us[start:end], block.worker
            )
            self._take_values(part)

    def _take_values(self, part: RecordValues) -> None:
        """Accept the values of consecutive tasks of one kind."""
        first = part.tasks[0]
        state = self._open.get((first.lane, first.round))
        if state is None:
            return  # the values before these ended the round
        self._commands.append(part)
        for task in part.tasks:
            del state.tasks[task.index]
        self._finished += len(part.tasks)
        state.arrive_block(part.tasks, part.values)
        self._judge(state)

    def _lost(self, task: LiveTask, loss: Lost) -> None:
        if loss.cause in ("command", "resource"):
            self.stop(loss.reason, exhausted=loss.cause == "resource")
            self._commands.append(Requeue(task, loss.reason, loss.detail, task.started_s))
            self._requeue(task)
            return
        if loss.cause == "machine":
            self.dispatch.trouble = loss.reason
        else:
            task.losses += 1
        if gives_up(task):
            self._record(RecordResult(task, None, WORKER_DIED, loss.detail, (), None, 0.0))
            return
        self._commands.append(Requeue(task, loss.reason, loss.detail, task.started_s))
        self._requeue(task)

    def _requeue(self, task: LiveTask) -> None:
        self.dispatch.put_back(self._open[task.lane, task.round], task)

    def _recalled(self, event: Recalled) -> None:
        state = self._open.get((event.lane, event.round))
        if state is not None and (task := state.tasks.get(event.index)) is not None:
            self._settle(task, event.value, event.error)

    # -- rounds ---------------------------------------------------------------------------

    def _settle(self, task: LiveTask, value: str | None, error: TaskError | None) -> None:
        """Set the final outcome of a task and judge its round as far as possible."""
        state = self._open[task.lane, task.round]
        del state.tasks[task.index]
        self._finished += 1
        self._failed += error is not None
        result = Result(task.index, task.key, task.function, task.args, value, error, self._values)
        state.arrive(result)
        self._judge(state)

    def _judge(self, state: OpenRoundState) -> None:
        state.judge(self._policy.strict)
        if state.closed:
            self._close(state)
            return
        if state.recorded > state.noted:
            state.noted = state.recorded
            self._commands.append(Advance(state.lane.path, state.number, state.recorded))
        if state.made < state.size and not self._waits_for_slots(state):
            self._make_more(state)

    def _close(self, state: OpenRoundState) -> None:
        lane = state.lane
        if out := [task for task in state.tasks.values() if task.ticket is not None]:
            self._commands.append(Kill(tuple(t.ticket for t in out if t.ticket is not None)))
            for task in out:
                self.dispatch.end(task)
        self._plan_tasks(lane.path, state.recorded + len(state.waiting) - state.size)
        self._commands.append(Close(lane.path, state.number, state.recorded, state.cut_short))
        del self._open[lane.path, state.number]
        self._partial.pop((lane.path, state.number), None)
        self._making.close(state)
        lane.open = None
        results: Sequence[Result] = state.results
        if state.lazy:
            results = StoredResults(self._fetch, lane.path, state.number, state.recorded)
        self._moves.append(Move(lane, results, state.failure))

    def _start_round(self, lane: Lane, step: AnyRound) -> None:
        state = OpenRoundState(lane, lane.next_round, step)
        lane.open, lane.next_round = state, lane.next_round + 1
        self._open[lane.path, state.number] = state
        self._plan_tasks(lane.path, state.size)
        self._commands.append(OpenRound(lane.path, state.number, state.size))
        self._making.open(state, step)
        self._judge(state)  # an empty round is over at once; others get their first tasks
        if state.made < state.size and not state.closed:
            self._partial[lane.path, state.number] = state

    def _waits_for_slots(self, state: OpenRoundState) -> bool:
        """Whether slots should be filled before more tasks of a round are created.

        Many results may arrive at once, and no worker waits for the tasks that each of them makes
        possible. A stream's next tasks are few, and a worker does wait for them.
        """
        return state.width is None and self.dispatch.has_new(state)

    def _make_more(self, state: OpenRoundState) -> None:
        """Create and queue a round's next tasks, or accept their recorded results."""
        if state.made and state.replaying and self._replay and self._take_recorded(state):
            return
        start, size = state.made, state.size
        if tasks := self._making.make_more(state):
            kinds = (*dict.fromkeys([task.kind for task in tasks]),)
            durable = any(kind.function == COMMAND for kind in kinds)
            self.dispatch.hold(state, start, state.made, durable=durable)
            self._commands.append(Queue(state.lane.path, state.number, tasks, kinds))
        if size != state.size:  # a stream that proposes no more tasks is shorter
            self._plan_tasks(state.lane.path, state.size - size)
        if state.closed:
            self._close(state)

    def _take_recorded(self, state: OpenRoundState) -> bool:
        """Replay the recorded results of a lazy round; False if its next tasks must be created."""
        assert self._replay is not None
        made, recorded, failed = state.made, state.recorded, self._replay.failed
        making = self._making
        state.replaying = self._replay.advance(state, making.of(state), making.limits.reach)
        self._finished += state.made - made
        self._failed += self._replay.failed - failed
        if state.recorded > recorded:
            state.noted = state.recorded
            self._commands.append(Advance(state.lane.path, state.number, state.recorded))
            if state.closed:
                self._close(state)
                return True
        return state.replaying

    def _plan_tasks(self, lane: str, count: int) -> None:
        self._planned += count
        self.outlook.plan_tasks(lane, count)

    # -- lanes ----------------------------------------------------------------------------

    def _advance(self, move: Move) -> None:
        """Run a lane's generator up to its next step or its end."""
        lane = move.lane
        step = lane.fail(move.failed) if move.failed else lane.resume(move.value)
        if isinstance(step, Ended):
            self._end_lane(lane, step)
        else:
            self._start_step(lane, step)

    def _start_step(self, lane: Lane, step: Step) -> None:
        if isinstance(step, Milestone):
            self._milestone = step
            if not self.paused:
                self._advance(Move(lane))
            return
        if isinstance(step, Plan):
            self.outlook.declare(lane.path, step)
            self._commands.append(Declare(lane.path, step))
            self._moves.appendleft(Move(lane))
            return
        if not isinstance(step, Lanes):
            self._start_round(lane, step)
            return
        children = [self._child(lane, i, *item) for i, item in enumerate(step.bodies)]
        paths = tuple(child.path for child in children)
        self._commands.append(OpenLanes(lane.path, lane.next_round, paths))
        self.outlook.open_lanes(len(children))
        lane.next_round += 1
        lane.answers, lane.waiting_for = [None] * len(children), len(children)
        self._moves.extend(Move(child) for child in children)
        if not children:
            self._moves.append(Move(lane, []))

    def _child(self, lane: Lane, ordinal: int, name: str, body: SearchCall | SearchBody) -> Lane:
        if name in lane.names:
            raise SearchInvalid(
                f"lane {lane.path}/{name} was opened before",
                hint="give the lanes of a later set other names",
            )
        lane.names.add(name)
        order = (*lane.order, lane.next_round, ordinal)
        start = body.start(self._context) if isinstance(body, SearchCall) else body
        child = Lane(f"{lane.path}/{name}", order, start, self._values)
        child.parent, child.ordinal = lane, ordinal
        return child

    def _end_lane(self, lane: Lane, end: Ended) -> None:
        self._commands.append(Answer(lane.path, lane.next_round, end.body))
        if lane.parent is None:
            self.answer, self.value = end.body, end.value
            return
        self.outlook.end_lane(lane.path, end.value)
        parent = lane.parent
        parent.answers[lane.ordinal] = end.value
        parent.waiting_for -= 1
        if parent.waiting_for == 0:
            self._moves.append(Move(parent, parent.answers))

    def _drain(self) -> list[Command]:
        commands, self._commands = self._commands, []
        return commands


def _ranges(tasks: Sequence[LiveTask]) -> Iterator[tuple[int, int]]:
    """Yield start and end of each range of tasks of one kind with consecutive indices.

    Consecutive tickets are mostly one block, but several blocks may have been assigned in a row.
    """
    if not tasks:
        return
    kind, first, count = tasks[0].kind, tasks[0].index, len(tasks)
    indices, kinds = [task.index for task in tasks], [task.kind for task in tasks]
    if indices == [*range(first, first + count)] and kinds.count(kind) == count:
        yield 0, count  # nearly always
        return
    start = 0
    for place in range(1, len(tasks) + 1):
        if place < len(tasks):
            before, task = tasks[place - 1], tasks[place]
            if task.index == before.index + 1 and task.kind is before.kind:
                continue
        yield start, place
        start = place

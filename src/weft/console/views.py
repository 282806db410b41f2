"""Readable output of the commands that inspect runs; `--json` prints the same data."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from weft.console.render import out
from weft.inspect.report.text import counted, value_text

if TYPE_CHECKING:
    from weft.inspect.diff import Difference
    from weft.inspect.explain import TaskHistory
    from weft.inspect.status import Event, SlotView, Status, WorkerView
    from weft.inspect.verify import Verdict

KEY_CHARS = 12
"""Enough of a key to find its task again with `weft explain`."""
MAX_WORKERS = 16
"""Maximum number of workers listed; `--json` has them all."""


def show_status(status: Status, lines: Sequence[str] = ()) -> None:
    """Print the status of a run, with the lines of its search; events, if any, come first."""
    for event in status.events:
        out(event_line(event))
    _row("search", status.search)
    _row("state", status.state)
    counts = [f"{count} {state}" for state, count in status.counts.items() if count]
    _row("tasks", f"{status.finished} of {status.planned} ({', '.join(counts) or 'none yet'})")
    if status.progress is not None:
        _row("so far", status.progress.words())
    if status.rate_per_s is not None:
        _row("speed", f"{status.rate_per_s:,.1f} tasks a second")
    if status.lanes:
        _row("lanes", f"{status.lanes_answered} of {status.lanes} answered")
    for round_ in status.rounds:
        size = "?" if round_.size is None else round_.size
        place = f"{round_.round} of lane {round_.lane or '/'}"
        _row("round", f"{place}: {round_.recorded} of {size} recorded")
    for slot in status.slots:
        since = "" if slot.since is None else f", since {_time(slot.since)}"
        _row("slot", f"{slot_name(slot)}  {task_name(slot)}{since}")
    for worker in status.workers[:MAX_WORKERS]:
        share = "" if worker.busy_share is None else f", {worker.busy_share:.0%} of its time"
        tasks = counted(worker.tasks, "task")
        spent = f"{tasks}, {duration(worker.busy_s)} busy{share}"
        _row("worker", f"{slot_name(worker)}  {spent}")
    if len(status.workers) > MAX_WORKERS:
        _row("", f"and {len(status.workers) - MAX_WORKERS} more workers")
    more = [*(("summary", x) for x in lines), *(("note", x) for x in status.notes)]
    more += [("tags", ", ".join(status.tags))] * bool(status.tags)
    for name, text in more:
        _row(name, text)
    _row("head", f"{status.size} {status.head}" if status.head else "none yet")


def slot_name(slot: SlotView | WorkerView) -> str:
    """Identify a worker: node, gpu if it has one, process."""
    gpu = "" if slot.gpu is None else f" gpu {slot.gpu}"
    return f"{slot.node or '?'}{gpu} pid {slot.worker_pid}"


def task_name(slot: SlotView) -> str:
    """Identify a worker's task: enough of its key to find it again, position, function."""
    attempt = f" (attempt {slot.attempt})" if slot.attempt > 1 else ""
    place = f"{slot.lane}:{slot.round}:{slot.index}"
    return f"{slot.key[:KEY_CHARS]} {place} {slot.function}{attempt}"


def show_verdict(verdict: Verdict) -> None:
    """Print a verdict, the head last."""
    _row("status", verdict.status)
    if verdict.past_checkpoint:
        _row("past", f"{counted(verdict.past_checkpoint, 'record')} past the checkpoint")
    timing = " (including timeouts or lost workers)" if verdict.timing_dependent else ""
    _row("tasks", f"{verdict.completed} completed, {verdict.failed} failed{timing}")
    _row("objects", str(verdict.objects))
    _row("outside", verdict.outside)
    if verdict.signature:
        _row("signed", verdict.signature)
    for note in verdict.notes:
        _row("note", note)
    _row("head", f"{verdict.size} {verdict.root}")


def show_difference(difference: Difference | None, names: tuple[str, str]) -> None:
    """Print where two ledgers diverge."""
    if difference is None:
        out("equal   the ledgers are the same, byte for byte")
        return
    width = max(map(len, names)) + 2
    out(f"differs at record {difference.seq}: {difference.what}")
    out(f"  {names[0]:{width}}{difference.a}")
    out(f"  {names[1]:{width}}{difference.b}")


def show_life(life: TaskHistory) -> None:
    """Print one task's history, oldest first."""
    _row("task", f"{life.index} of round {life.round}, lane {life.lane or '/'}")
    _row("key", life.key)
    _row("call", f"{life.function} {_readable(life.args)}")
    _row("state", f"{life.state}; {life.why}")
    for name, at in (("queued", life.queued_at), ("started", life.started_at)):
        if at is not None:
            _row(name, _time(at))
    for attempt in life.attempts:
        when = "" if attempt.finished_at is None else f"{_time(attempt.finished_at)}  "
        _row("attempt", f"{when}{attempt.attempt} {attempt.outcome}: {attempt.reason}")
        _block(attempt.detail)
    if life.finished_at is not None:
        took = "" if life.run_s is None else f" after {duration(life.run_s)}"
        who = "" if life.worker_pid is None else f" in process {life.worker_pid} on {life.node}"
        _row("ended", f"{_time(life.finished_at)}{took}{who}")
    if life.value is not None:
        _row("value", _readable(life.value))
    if life.error is not None:
        _row("error", life.error)
    for name, value in life.notes.items():
        _row("note", f"{name} = {value:.6g}" if type(value) is float else f"{name} = {value}")
    first, _, rest = life.log_tail.strip("\n").partition("\n")
    if first:
        _row("log", first)
        _block(rest)


def event_line(event: Event) -> str:
    """Format one event: when, what, which task, why."""
    place = ""
    if event.key:
        place = f"  {event.key[:KEY_CHARS]} {event.lane}:{event.round}:{event.index}"
    return f"{_time(event.at)}  {event.kind:10}{place}  {event.detail}".rstrip()


def _row(name: str, text: str) -> None:
    out(f"{name:8}{text}".replace("\n", "\\n"))


def _block(text: str) -> None:
    for line in text.rstrip().splitlines():
        out(f"        {line}")


def _time(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%S.%f")[:-3] + "Z"


def _readable(recorded: str) -> str:
    """Return a recorded value, with typed values such as arrays in readable form."""
    return value_text(recorded) if '"$t"' in recorded else recorded


def duration(seconds: float) -> str:
    """Return a duration in a suitable unit."""
    if seconds < 0.001:
        return f"{seconds * 1e6:.0f} µs"
    if seconds < 1:
        return f"{seconds * 1e3:.0f} ms"
    if seconds < 600:
        return f"{seconds:.1f} s"
    minutes, whole = divmod(int(seconds), 60)
    return f"{minutes // 60}:{minutes % 60:02}:{whole:02} h"

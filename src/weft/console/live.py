"""The live view of a run on a terminal: each status is drawn over the previous one.

Imports rich, so it is loaded only if there is a terminal.
"""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.text import Text

from weft.console import render, views
from weft.inspect.status import Status
from weft.runs.world import RealClock

BAR_CHARS = 40


def show(readings: Iterable[Status], console: Console) -> str:
    """Draw each reading over the previous one; return the state at the last one."""
    clock, state = RealClock(), ""
    with Live(console=console, auto_refresh=False) as live:
        for status in readings:
            live.update(picture(status, clock.wall(), console), refresh=True)
            state = status.state
    return state


def picture(status: Status, wall_s: float, console: Console) -> RenderableType:
    """Lay out a status for a terminal; long lines are truncated, never wrapped."""
    room = max(1, (console.height - 12) // 2)
    rows: list[RenderableType] = [
        _line("search", status.search),
        _line("state", _state(status), _STYLES[status.state]),
        _progress(status),
        *([] if status.progress is None else [_line("so far", status.progress.words())]),
        _line("tasks", ", ".join(f"{n} {s}" for s, n in status.counts.items() if n) or "none yet"),
    ]
    rows += [_line("slot", text) for text in _slots(status, wall_s)[:room]]
    if len(status.slots) > room:
        rows.append(_line("", f"and {len(status.slots) - room} more"))
    rows += [_line("note", note, "yellow") for note in status.notes]
    rows += [_line("event", views.event_line(event)) for event in status.events[-room:]]
    head = f"{status.size} {status.head}" if status.head else "none yet"
    return Group(*rows, _line("head", head))


_STYLES = {"running": "green", "interrupted": "yellow", "finished": "bold"}


def _line(name: str, text: str, style: str = "") -> Text:
    line = Text(f"{name:8}", no_wrap=True, overflow="ellipsis")
    return line.append(render.one_line(text), style=style)


def _state(status: Status) -> str:
    if status.state == "interrupted":
        return "interrupted: no coordinator is running"
    return status.state


def _progress(status: Status) -> Text:
    """Return a bar over all expected tasks; without a plan, further rounds raise the total."""
    total = status.planned if status.progress is None else status.progress.total
    fraction = min(1.0, status.finished / total) if total else 0.0
    full = int(fraction * BAR_CHARS)
    bar = "━" * full + "╌" * (BAR_CHARS - full)
    return _line("", f"{bar} {status.finished:,} of {total:,} ({fraction:.0%})")


def _slots(status: Status, wall_s: float) -> list[str]:
    """Return a line per worker: its busy share so far, the task it runs and for how long."""
    shares = {(w.node, w.gpu, w.worker_pid): w.busy_share for w in status.workers}
    lines = []
    for slot in status.slots:
        share = shares.get((slot.node, slot.gpu, slot.worker_pid or 0))
        busy = "" if share is None else f"  {share:.0%} busy"
        age = "" if slot.since is None else f"  {views.duration(max(0.0, wall_s - slot.since))}"
        lines.append(f"{views.slot_name(slot)}{busy}{age}  {views.task_name(slot)}")
    return lines

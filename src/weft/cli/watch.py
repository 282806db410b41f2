"""`weft watch`: a run as it goes on. Looks again and again, changes nothing.

On a terminal a live view, elsewhere one JSON line per look. It ends when the run is finished,
or when no coordinator has held it for a while.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.console import options, render, views
from weft.errors import Interrupted, WorldError

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.text import Text

    from weft.inspect.status import Status

EVENTS = 8
BAR_CHARS = 40
IDLE_SHARE = 4
"""A look may take a second on a run of millions: rest at least this many times as long."""
FAILED_LOOKS = 3
"""A look may meet the coordinator folding its files; so many in a row are an error."""


def watch(
    run: options.RunArgument,
    interval: Annotated[float, typer.Option(metavar="S", help="Seconds between readings.")] = 1.0,
    patience: Annotated[
        float,
        typer.Option(metavar="S", help="Exit when no process has worked on the run for S seconds."),
    ] = 10.0,
    once: Annotated[bool, typer.Option("--once", help="Read once and exit.")] = False,
    as_json: options.AsJsonLines = False,
    verbose: options.Verbose = 0,  # noqa: ARG001 - main looks for -vv
) -> None:
    """Follow a run while it works: progress, slots, latest events.

    On a terminal it redraws one view; on a pipe, and with --json, it prints one JSON object per
    look, as `weft status --json` does. It reads only; Ctrl-C leaves the run alone.
    Exit code 0 when the run is finished, and after --once or Ctrl-C; 130 when it was left
    interrupted.
    """
    options.check_seconds("--interval", interval)
    options.check_seconds("--patience", patience)
    try:
        looks = _once(run) if once else _looks(run, interval, patience)
        live = render.is_terminal(sys.stdout) and not as_json
        state = _show_live(looks) if live else _print_lines(looks)
    except KeyboardInterrupt:
        return
    if state == "interrupted" and not once:
        raise Interrupted(
            f"no coordinator has worked on {run} for {patience:g} s",
            hint=render.command("resume", run),
        )


def _once(run: Path) -> Iterator[Status]:
    from weft.inspect.status import status as read  # noqa: PLC0415 - slow to import

    yield read(run, latest=EVENTS)


def _looks(run: Path, interval_s: float, patience_s: float) -> Iterator[Status]:
    """Look at the run until it is finished or deserted; the last look is given too."""
    from weft.inspect.status import status as read  # noqa: PLC0415 - slow to import

    seen_at_work_s, failed = time.monotonic(), 0
    while True:
        start_s = time.monotonic()
        try:
            now = read(run, latest=EVENTS)
        except WorldError:
            failed += 1
            if failed >= FAILED_LOOKS:
                raise
        else:
            failed = 0
            yield now
            if now.state == "running":
                seen_at_work_s = start_s
            if now.state == "finished" or start_s - seen_at_work_s >= patience_s:
                return
        taken_s = time.monotonic() - start_s
        time.sleep(max(interval_s - taken_s, IDLE_SHARE * taken_s))


def _print_lines(looks: Iterator[Status]) -> str:
    """Print each look; return the state at the last one."""
    state = ""
    for now in looks:
        render.print_json(now.to_dict())
        sys.stdout.flush()
        state = now.state
    return state


def _show_live(looks: Iterator[Status]) -> str:
    """Draw each look over the one before; return the state at the last one."""
    from rich.live import Live  # noqa: PLC0415 - slow to import

    from weft.runs.world import RealClock  # noqa: PLC0415

    console, clock, state = render.console(sys.stdout), RealClock(), ""
    with Live(console=console, auto_refresh=False) as live:
        for now in looks:
            live.update(picture(now, clock.wall(), console), refresh=True)
            state = now.state
    return state


def picture(status: Status, wall_s: float, console: Console) -> RenderableType:
    """Lay a status out for a terminal; long lines are cut, never wrapped."""
    from rich.console import Group  # noqa: PLC0415 - slow to import

    room = max(1, (console.height - 12) // 2)
    rows: list[RenderableType] = [
        _line("search", status.search),
        _line("state", _state(status), _STYLES[status.state]),
        _progress(status),
        _line("tasks", ", ".join(f"{n} {s}" for s, n in status.counts.items() if n) or "none yet"),
    ]
    if status.lanes:
        rows.append(_line("lanes", f"{status.lanes_answered} of {status.lanes} answered"))
    rows += [_line("slot", text) for text in _slots(status, wall_s)[:room]]
    if len(status.slots) > room:
        rows.append(_line("", f"and {len(status.slots) - room} more"))
    rows += [_line("note", note, "yellow") for note in status.notes]
    rows += [_line("event", views.event_line(event)) for event in status.events[-room:]]
    head = f"{status.size} {status.head}" if status.head else "none yet"
    return Group(*rows, _line("head", head))


_STYLES = {"running": "green", "interrupted": "yellow", "finished": "bold"}


def _line(name: str, text: str, style: str = "") -> Text:
    from rich.text import Text  # noqa: PLC0415 - slow to import

    line = Text(f"{name:8}", no_wrap=True, overflow="ellipsis")
    return line.append(render.one_line(text), style=style)


def _state(status: Status) -> str:
    if status.state == "interrupted":
        return "interrupted: no coordinator is at work"
    rate = "" if status.rate_per_s is None else f", {status.rate_per_s:,.1f} tasks a second"
    return status.state + rate


def _progress(status: Status) -> Text:
    """A bar over all tasks planned so far; further rounds make it longer."""
    done = status.finished / status.planned if status.planned else 0.0
    full = int(done * BAR_CHARS)
    bar = "━" * full + "╌" * (BAR_CHARS - full)
    left = "" if status.eta_s is None else f", about {views.duration(status.eta_s)} left"
    return _line("", f"{bar} {status.finished:,} of {status.planned:,} ({done:.0%}){left}")


def _slots(status: Status, wall_s: float) -> list[str]:
    """What each worker runs and for how long, next to its busy share so far."""
    shares = {(w.node, w.gpu, w.worker_pid): w.busy_share for w in status.workers}
    lines = []
    for slot in status.slots:
        share = shares.get((slot.node, slot.gpu, slot.worker_pid or 0))
        busy = "" if share is None else f"  {share:.0%} busy"
        age = "" if slot.since is None else f"  {views.duration(max(0.0, wall_s - slot.since))}"
        lines.append(f"{views.slot_name(slot)}{busy}{age}  {views.task_name(slot)}")
    return lines

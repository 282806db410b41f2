"""`weft watch`: follow a run while it executes. Reads it repeatedly and changes nothing.

Shows a live view on a terminal, elsewhere one JSON line per reading. Ends when the run is finished,
or when no coordinator has worked on it for a while.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from weft.console import options, render
from weft.console.groups import with_groups
from weft.errors import Interrupted, WorldError
from weft.lazy_imports import lazy_imports

with lazy_imports():
    from weft.console import live
    from weft.inspect import status
    from weft.runs import world

EVENTS = 8
IDLE_SHARE = 4
"""A reading may take a second on a run of millions: pause at least this many times as long."""
MAX_FAILED_READINGS = 3
"""Failures in a row that are an error; one may be the coordinator replacing its files."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinesOptions:
    """Output options of a command that prints one line per reading."""

    as_json: options.AsJsonLines = False
    verbose: options.Verbose = 0


@with_groups
def watch(
    run: options.RunArgument,
    interval: Annotated[float, typer.Option(metavar="S", help="Seconds between readings.")] = 1.0,
    patience: Annotated[
        float,
        typer.Option(metavar="S", help="Exit if no process has worked on the run for S seconds."),
    ] = 10.0,
    once: Annotated[bool, typer.Option("--once", help="Read once and exit.")] = False,
    *,
    output: LinesOptions,
) -> None:
    """Follow a run live: progress, slots, latest events.

    On a terminal it redraws one view; on a pipe, or with --json, it prints one JSON object per
    reading, like `weft status --json`. It only reads; Ctrl-C does not affect the run.
    Exit code 0 if the run is finished, or after --once or Ctrl-C; 130 if the run was left
    interrupted.
    """
    options.check_seconds("--interval", interval)
    options.check_seconds("--patience", patience)
    try:
        readings = _once(run) if once else _readings(run, interval, patience)
        drawn = render.is_terminal(sys.stdout) and not output.as_json
        state = live.show(readings, render.console(sys.stdout)) if drawn else _print_lines(readings)
    except KeyboardInterrupt:
        return
    if state == "interrupted" and not once:
        raise Interrupted(
            f"no coordinator has worked on {run} for {patience:g} s",
            hint=render.command("resume", run),
        )


def _once(run: Path) -> Iterator[status.Status]:
    yield status.status(run, latest=EVENTS, now_s=world.RealClock().wall())


def _readings(run: Path, interval_s: float, patience_s: float) -> Iterator[status.Status]:
    """Read the run until it is finished or abandoned; yield the last reading too."""
    active_s, failed = time.monotonic(), 0
    while True:
        start_s = time.monotonic()
        try:
            now = status.status(run, latest=EVENTS, now_s=world.RealClock().wall())
        except WorldError:
            failed += 1
            if failed >= MAX_FAILED_READINGS:
                raise
        else:
            failed = 0
            yield now
            if now.state == "running":
                active_s = start_s
            if now.state == "finished" or start_s - active_s >= patience_s:
                return
        taken_s = time.monotonic() - start_s
        time.sleep(max(interval_s - taken_s, IDLE_SHARE * taken_s))


def _print_lines(readings: Iterator[status.Status]) -> str:
    """Print each reading; return the state at the last one."""
    state = ""
    for now in readings:
        render.print_json(now.to_dict())
        sys.stdout.flush()
        state = now.state
    return state

"""Progress of a run on stderr: a bar on a terminal, a line now and then with -v elsewhere.

What there is to wait for before the tasks, such as compiling, is said unless --quiet.

A `Watcher` gets the counts at every turn of the loop, often thousands of times a second;
most of those calls only compare two numbers.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from weft.console import render
from weft.errors import Interrupted
from weft.lazy_imports import lazy_imports

with lazy_imports():
    from weft.console import terminal

if TYPE_CHECKING:
    from rich.progress import Progress

    from weft.coordinator.loop import Watcher
    from weft.coordinator.machine import Counts

BAR_EVERY_S = 0.1
LINE_EVERY_S = 3.0
FIRST_LINE_AFTER_S = 1.0
NEVER_S = float("inf")


class Throttled:
    """A watcher that shows what it gets at most every `every_s` seconds."""

    def __init__(
        self, show: Callable[[Counts, float], None], every_s: float, first_after_s: float
    ) -> None:
        self._show = show
        self._every_s = every_s
        self._start_s = time.monotonic()
        self._next_s = self._start_s + first_after_s

    def say(self, line: str) -> None:
        """Print what there is to wait for before the tasks."""
        render.message(line)

    def update(self, counts: Counts) -> None:
        """Take the newest counts."""
        now_s = time.monotonic()
        if now_s >= self._next_s:
            self._next_s = now_s + self._every_s
            self._show(counts, now_s - self._start_s)


@contextmanager
def watching(quiet: bool, verbosity: int) -> Iterator[Watcher | None]:
    """Give the watcher that suits where stderr goes, or None."""
    if quiet:
        yield None
    elif render.is_terminal(sys.stderr):
        with bar() as progress:
            yield _bar_watcher(progress)
    else:
        first_after_s = FIRST_LINE_AFTER_S if verbosity > 0 else NEVER_S
        yield Throttled(_print_line, LINE_EVERY_S, first_after_s)


@contextmanager
def resumable(out: Path) -> Iterator[None]:
    """Say how to continue after a second Ctrl-C, or one that came before the run listened."""
    try:
        yield
    except Interrupted:
        raise
    except KeyboardInterrupt:
        hint = render.command("resume", out) if (out / "run.toml").is_file() else ""
        raise Interrupted("interrupted; nothing completed is lost", hint=hint) from None


def line(counts: Counts, elapsed_s: float) -> str:
    """Say the counts in words, with the time left for what is planned so far.

    >>> from weft.coordinator.machine import Counts
    >>> line(Counts(planned=200, finished=50, failed=1, running=2), 10.0)
    '50 of 200 tasks, 1 failed, 2 running, about 30 s left'
    """
    text = f"{counts.finished} of {counts.planned} tasks"
    if counts.failed:
        text += f", {counts.failed} failed"
    text += f", {counts.running} running"
    if counts.finished:
        left_s = elapsed_s / counts.finished * (counts.planned - counts.finished)
        text += f", about {left_s:.0f} s left"
    return text


def _print_line(counts: Counts, elapsed_s: float) -> None:
    render.message(line(counts, elapsed_s))


def bar() -> Progress:
    """Return the bars of a terminal, with time left."""
    return terminal.new_bars(render.console(sys.stderr))


def _bar_watcher(progress: Progress) -> Throttled:
    bar = progress.add_task("", total=None, words="")

    def show(counts: Counts, _elapsed_s: float) -> None:  # rich measures time itself
        words = f"{counts.running} running" + f", {counts.failed} failed" * bool(counts.failed)
        progress.update(bar, total=counts.planned, completed=counts.finished, words=words)

    return Throttled(show, BAR_EVERY_S, 0.0)

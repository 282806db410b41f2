"""Progress of a run with milestones: for each step a headline, its progress and time left.

A bar on a terminal, elsewhere occasional lines with -v; the headlines unless --quiet.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from weft.console import progress, render
from weft.lazy_imports import lazy_imports

with lazy_imports():
    from weft.runs import progress as progresses

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from weft.coordinator.machine import Counts
    from weft.model.tasks import Milestone
    from weft.runs.progress import Progress

LINE_EVERY_S = 3.0
BAR_EVERY_S = 0.1


class StepWatcher:
    """Converts counts of a run to counts of its current step."""

    def __init__(
        self,
        begin: Callable[[Milestone], None],
        show: Callable[[str, Progress], None],
        every_s: float,
    ) -> None:
        self._begin, self._show, self._every_s = begin, show, every_s
        self._milestone: Milestone | None = None
        self._base = self._base_planned = 0
        self._next_s = time.monotonic()
        self._gauge: progresses.Gauge | None = None

    def say(self, line: str) -> None:
        """Announce work that precedes the tasks."""
        render.message(line)

    def update(self, counts: Counts) -> None:
        """Process the newest counts."""
        now_s = time.monotonic()
        if counts.milestone is not None and counts.milestone != self._milestone:
            self._milestone = counts.milestone
            self._base = counts.finished
            self._base_planned = counts.planned
            self._next_s = now_s + self._every_s
            self._gauge = progresses.Gauge(self._own(counts), now_s)
            self._begin(counts.milestone)
        if self._gauge is not None and self._milestone is not None and now_s >= self._next_s:
            self._next_s = now_s + self._every_s
            self._show(self._milestone.name, self._gauge.read(self._own(counts), now_s))

    def _own(self, counts: Counts) -> Counts:
        assert self._milestone is not None
        finished = max(0, counts.finished - self._base)
        planned = max(self._milestone.tasks, counts.planned - self._base_planned, finished)
        return type(counts)(planned, finished, counts.failed, counts.running, self._milestone)


@contextmanager
def watching_steps(
    quiet: bool, verbosity: int, headline: Callable[[Milestone], None]
) -> Iterator[StepWatcher | None]:
    """Yield a watcher that suits stderr, or None."""
    if quiet:
        yield None
    elif render.is_terminal(sys.stderr):
        with progress.bar() as bars:
            yield _on_terminal(bars, headline)
    else:

        def show(step: str, shown: Progress) -> None:
            if verbosity > 0:
                render.message(f"step {step}: {shown.words()}")

        yield StepWatcher(headline, show, LINE_EVERY_S)


def _on_terminal(bars: Bars, headline: Callable[[Milestone], None]) -> StepWatcher:
    """Return a watcher with one bar at a time, so that the time left is that of the step."""
    current_bar: list[int] = []

    def begin(milestone: Milestone) -> None:
        headline(milestone)
        for bar in current_bar:
            bars.remove_task(bar)  # type: ignore[arg-type] # ids of this display
        current_bar[:] = [int(bars.add_task("", total=milestone.tasks or None, words=""))]

    def show(step: str, now: Progress) -> None:
        words = f"step {step}: {now.words()}"
        bars.update(current_bar[0], total=now.total, completed=now.finished, words=words)  # type: ignore[arg-type] # ids of this display

    return StepWatcher(begin, show, BAR_EVERY_S)

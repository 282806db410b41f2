"""Follow a run alongside its coordinator: a summary after every depth, events as they occur.

It reads committed data, as any other process could, and decides nothing. It takes at most a
twentieth of the time, and a failed write never stops a run.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Any

from weft.errors import WeftError
from weft.inspect.report.view import RunView
from weft.runs.run import Watcher
from weft.runs.warmup import announcer
from weft.runs.world import RealClock
from weft.searches.tree.load import TreeRun, load_tree_run
from weft.searches.tree.search import NAME
from weft.searches.tree.summary import graph, summary
from weft.searches.tree.treeevents import EventLog

EVERY_S = 1.0
IDLE_SHARE = 20
"""Minimum interval between two inspections, as a multiple of an inspection's duration."""


def follow_run(run: Path, watcher: Watcher | None, events: Path | None) -> TreeFollower:
    """Return a watcher that writes summaries, and `events` if given, during a run."""
    log = None if events is None else EventLog(events, RealClock().wall)
    return TreeFollower(run, watcher, log)


class TreeFollower:
    """A watcher that inspects the run when tasks end, and forwards the counts."""

    def __init__(self, run: Path, watcher: Watcher | None, events: EventLog | None) -> None:
        self._run, self._watcher, self._events = run, watcher, events
        self.is_shown = bool(getattr(watcher, "is_shown", watcher is not None))
        """Whether progress is displayed."""
        self._finished, self._is_behind = -1, False
        self._next_s = 0.0
        self._depths = 0

    def say(self, line: str) -> None:
        """Announce what delays the first task."""
        announcer(self._watcher)(line)

    def update(self, counts: Any) -> None:
        """Process the latest counts, a coordinator's `Counts`."""
        if self._watcher is not None:
            self._watcher.update(counts)
        changed = counts.finished != self._finished
        if (changed or self._is_behind) and time.monotonic() >= self._next_s:
            self._finished = counts.finished
            self._is_behind = changed  # inspect once more for late commits
            self._look()

    def close(self) -> None:
        """Inspect the run one last time."""
        self._look()

    def write_events(self, tree_run: TreeRun) -> None:
        """Append events since the last inspection, if events are requested."""
        if self._events is not None:
            self._events.write(tree_run, RunView(self._run, NAME).run_id())

    def _look(self) -> None:
        start_s = time.monotonic()
        with contextlib.suppress(WeftError, OSError, StopIteration):  # files may be changing
            tree_run = load_tree_run(self._run)
            self.write_events(tree_run)
            if len(tree_run.history.frontiers) > max(1, self._depths):
                write_pages(self._run, tree_run)
            self._depths = len(tree_run.history.frontiers)
        taken_s = time.monotonic() - start_s
        self._next_s = start_s + max(EVERY_S, IDLE_SHARE * taken_s)


def write_pages(run: Path, tree_run: TreeRun) -> None:
    """Write TREE_SUMMARY.md and TREE_GRAPH.md, each atomically."""
    for name, text in (("TREE_SUMMARY.md", summary(tree_run)), ("TREE_GRAPH.md", graph(tree_run))):
        aside = run / f".{name}.{os.getpid()}"
        aside.write_text(text, "utf-8")
        aside.replace(run / name)

"""Progress of a run on stderr: a bar on a terminal, elsewhere occasional lines with -v.

Work that precedes the tasks, such as compiling, is announced unless --quiet.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from weft.console import render
from weft.errors import Interrupted
from weft.lazy_imports import lazy_imports

with lazy_imports():
    from weft.console import terminal
    from weft.runs import display, interruption

if TYPE_CHECKING:
    from rich.progress import Progress as Bars

    from weft.coordinator.loop import Watcher
    from weft.runs.progress import Progress

BAR_EVERY_S = 0.1
LINE_EVERY_S = 3.0
FIRST_LINE_AFTER_S = 1.0
NEVER_S = float("inf")


@contextmanager
def watching(
    quiet: bool, verbosity: int, more: Callable[[], str] = str
) -> Iterator[Watcher | None]:
    """Yield a watcher that suits stderr, or None; it appends `more()` to the progress."""
    if quiet:
        yield None
    elif render.is_terminal(sys.stderr):
        with bar() as bars:
            yield _bar_watcher(bars, more)
    else:
        first_after_s = FIRST_LINE_AFTER_S if verbosity > 0 else NEVER_S

        def print_line(progress: Progress) -> None:
            render.message(progress.words() + more())

        yield display.ProgressWatcher(print_line, LINE_EVERY_S, first_after_s, render.message)


@contextmanager
def resumable(out: Path) -> Iterator[None]:
    """Report how to resume after a second Ctrl-C, or one before the run handles it."""
    try:
        yield
    except Interrupted:
        raise
    except KeyboardInterrupt:
        raise interruption.interruption(out) from None


def bar() -> Bars:
    """Return the progress bars of a terminal."""
    return terminal.new_bars(render.console(sys.stderr))


def _bar_watcher(bars: Bars, more: Callable[[], str]) -> Watcher:
    bar = bars.add_task("", total=None, words="")

    def show(progress: Progress) -> None:
        words = progress.words() + more()
        bars.update(bar, total=progress.total, completed=progress.finished, words=words)

    return display.ProgressWatcher(show, BAR_EVERY_S, 0.0, render.message)

"""The progress of `weft.run`: one line of a terminal or one output of a notebook, updated in place.

Nothing is shown for a very short run, on a build server (CI), or outside terminals and notebooks;
the display is removed at the end. Without a display the engine has no watcher.
"""

from __future__ import annotations

import html
import math
import os
import shutil
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Protocol, TextIO

from weft.runs.progress import Gauge, Progress

if TYPE_CHECKING:
    from weft.coordinator.machine import Counts

TERMINAL_EVERY_S = 0.2
NOTEBOOK_EVERY_S = 0.5
FIRST_AFTER_S = 0.5
CLEAR_LINE = "\r\x1b[2K"
Show = Callable[[Progress], None]


class ProgressWatcher:
    """A watcher that shows progress at most every `every_s` seconds.

    It gets counts on every iteration of the loop, often thousands of times a second; most of those
    calls only compare two numbers.
    """

    def __init__(
        self, show: Show, every_s: float, first_after_s: float, say: Callable[[str], None]
    ) -> None:
        self._show, self._every_s, self.say = show, every_s, say
        self._next_s = time.monotonic() + first_after_s
        self.is_shown = first_after_s < math.inf
        """Whether any progress will be shown, and not only lines of text."""
        self._gauge: Gauge | None = None

    def update(self, counts: Counts) -> None:
        """Show the progress at the newest counts, if it is time."""
        now_s = time.monotonic()
        if self._gauge is None:
            self._gauge = Gauge(counts, now_s)
        if now_s >= self._next_s:
            self._next_s = now_s + self._every_s
            self._show(self._gauge.read(counts, now_s))


class Display(Protocol):
    """A place for one text that is replaced repeatedly, and removed at the end."""

    def show(self, progress: Progress) -> None:
        """Replace the text by this progress."""

    def say(self, line: str) -> None:
        """Replace the text by a line about work before the tasks."""

    def close(self) -> None:
        """Remove the text."""


class TerminalLine:
    """One line of a terminal, truncated to its width."""

    def __init__(self, stream: TextIO) -> None:
        self._stream: TextIO | None = stream
        self._is_shown = False

    def show(self, progress: Progress) -> None:
        """Replace the line."""
        self.say(progress.words())

    def say(self, line: str) -> None:
        """Replace the line by another text."""
        columns = shutil.get_terminal_size().columns
        text = "".join(c if c.isprintable() else "?" for c in line)
        self._write(CLEAR_LINE + text[: max(1, columns - 1)])
        self._is_shown = True

    def close(self) -> None:
        """Clear the line."""
        if self._is_shown:
            self._write(CLEAR_LINE)

    def _write(self, text: str) -> None:
        if self._stream is None:
            return
        try:
            self._stream.write(text)
            self._stream.flush()
        except (OSError, ValueError):  # the terminal is gone: the run continues
            self._stream = None


class NotebookOutput:
    """One output of a notebook's cell; IPython is already loaded when this is created."""

    def __init__(self, display: Callable[..., Any]) -> None:
        self._display = display
        self._handle: Any = None

    def show(self, progress: Progress) -> None:
        """Replace the output by a bar and a line of text."""
        attributes = f'value="{progress.finished}" max="{max(1, progress.total)}"'
        bar = f'<progress {attributes} style="width: 20em; vertical-align: middle"></progress> '
        self._update(progress.words(), bar)

    def say(self, line: str) -> None:
        """Replace the output by another text."""
        self._update(line, "")

    def close(self) -> None:
        """Empty the output."""
        if self._handle is not None:
            self._update("", "")

    def _update(self, text: str, bar: str) -> None:
        bundle = {"text/plain": text, "text/html": f"{bar}<span>{html.escape(text)}</span>"}
        if not text:
            bundle["text/html"] = ""
        if self._handle is None:
            self._handle = self._display(bundle, raw=True, display_id=True)
        else:
            self._handle.update(bundle, raw=True)


@contextmanager
def showing(wanted: bool) -> Iterator[ProgressWatcher | None]:
    """Yield a watcher that shows progress where somebody can see it, or None."""
    display, every_s = _place() if wanted else (None, 0.0)
    if display is None:
        yield None
        return
    try:
        yield ProgressWatcher(display.show, every_s, FIRST_AFTER_S, display.say)
    finally:
        display.close()


def _place() -> tuple[Display | None, float]:
    if is_build_server():
        return None, 0.0
    if (display := _notebook_display()) is not None:
        return NotebookOutput(display), NOTEBOOK_EVERY_S
    if is_terminal(sys.stderr) and os.environ.get("TERM") != "dumb":
        return TerminalLine(sys.stderr), TERMINAL_EVERY_S
    return None, 0.0


def _notebook_display() -> Callable[..., Any] | None:
    """Return IPython's display function inside a kernel, else None; never imports IPython."""
    module = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    if getattr(shell, "kernel", None) is None:
        return None
    display = sys.modules.get("IPython.display")
    return None if display is None else display.display


def is_terminal(stream: TextIO | None) -> bool:
    """Whether a stream is a terminal, where text can be replaced; False without a stream."""
    try:
        return stream is not None and stream.isatty()
    except ValueError:  # closed
        return False


def is_build_server() -> bool:
    """Whether we run on a build server, where progress would only fill a log."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")

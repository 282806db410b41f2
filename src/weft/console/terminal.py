"""Output for terminals: consoles with colour and progress bars, drawn by rich.

Slow to import, so `render` and `progress` load it only when needed.
"""

from __future__ import annotations

from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn


def new_console(stream: TextIO, *, colour: bool) -> Console:
    """Return a console on a stream; rich itself respects NO_COLOR."""
    return Console(file=stream, force_terminal=colour, highlight=False)


def new_bars(console: Console) -> Progress:
    """Return progress bars with a line of text; they disappear when done."""
    columns = (BarColumn(), TextColumn("{task.fields[words]}", markup=False), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True)

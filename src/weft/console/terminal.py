"""What only a terminal gets: consoles with colour and progress bars, drawn by rich.

Slow to import, so `render` and `progress` load it when there is a terminal to draw on.
"""

from __future__ import annotations

from typing import TextIO

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn


def new_console(stream: TextIO, *, colour: bool) -> Console:
    """Return a console on a stream; NO_COLOR is rich's to respect."""
    return Console(file=stream, force_terminal=colour, highlight=False)


def new_bars(console: Console) -> Progress:
    """Return progress bars with a line of text; they vanish when they are done."""
    columns = (BarColumn(), TextColumn("{task.fields[words]}", markup=False), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=True)

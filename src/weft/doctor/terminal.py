"""Prints a result of `weft doctor` in colour, for a terminal."""

from __future__ import annotations

import sys

from rich.text import Text

from weft.console import render

STYLES = {"ok": "green", "note": "yellow", "problem": "bold red"}


def print_result(verdict: str, line: str) -> None:
    """Print one result; long lines wrap where the terminal does."""
    text = Text(f"{verdict:8}", style=STYLES[verdict])
    render.console(sys.stdout).print(text.append(line, style="default"), soft_wrap=True)

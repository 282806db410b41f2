"""Output of the commands: data on stdout, messages on stderr, always one line per error."""

from __future__ import annotations

import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from weft.errors import Interrupted, OptionInvalid, WeftError
from weft.lazy_imports import lazy_imports

with lazy_imports():
    from weft.console import terminal
    from weft.model import values

if TYPE_CHECKING:
    from rich.console import Console

    from weft.runs.outcome import Run

LONG_INT_BITS = 8192
"""Integers beyond this are printed as `{"$i": hex}`: most parsers refuse that many digits."""
ANSWER_CHARS = 2000
BRIEF_CHARS = 200
"""Length of an answer that its search also describes in words."""


def print_json(body: Mapping[str, Any]) -> None:
    """Print one JSON object on one line."""
    print(json.dumps(_plain(dict(body))))


def out(text: str = "") -> None:
    """Print a line of data, with escapes for what a terminal could interpret as a command."""
    print("\n".join(one_line(part) for part in text.split("\n")))


def table(rows: Sequence[Sequence[str]]) -> None:
    """Print rows in aligned columns; the first row is the heading."""
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]) - 1)]
    for row in rows:
        cells = [f"{text:<{width}}" for text, width in zip(row, widths, strict=False)]
        out("  ".join([*cells, row[-1]]).rstrip())


def message(text: str) -> None:
    """Print a line on stderr."""
    print(one_line(text), file=sys.stderr, flush=True)


def error(problem: WeftError | Interrupted) -> None:
    """Print an error: what, where, why; the next command."""
    text = problem.on_command_line if isinstance(problem, OptionInvalid) else problem
    message(f"weft: {text}")


def one_line(text: str) -> str:
    r"""Escape line breaks, control characters and invisible direction marks.

    >>> one_line("a\nb\u202e")
    'a\\nb\\u202e'
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def command(*words: str | Path) -> str:
    """Return a command in a form that can be pasted into a shell."""
    return "weft " + " ".join(shlex.quote(str(word)) for word in words)


def console(stream: TextIO) -> Console:
    """Return a rich console; without colour on a build server."""
    return terminal.new_console(stream, colour=is_terminal(stream))


def is_terminal(stream: TextIO) -> bool:
    """Whether bars and colour may be written to a stream."""
    return stream.isatty() and not _is_ci()


def _is_ci() -> bool:
    """Whether this is a build server, where bars and colour would only fill a log."""
    return os.environ.get("CI", "").lower() not in ("", "0", "false")


def show_run(run: Run, *, as_json: bool, lines: Sequence[str] = ()) -> None:
    """Print a finished run: its answer, the lines of its search, its counts and, last, its head."""
    if as_json:
        print_json(run.to_dict())
        return
    show_answer(run, BRIEF_CHARS if lines else ANSWER_CHARS)
    for line in lines:
        out(f"{'summary':8}{line}")
    show_end(run)


def show_answer(run: Run, limit: int = ANSWER_CHARS) -> None:
    """Print the answer, or why there is none, on one line, truncated at `limit` characters."""
    label = "answer" if run.status == "answered" else "unknown"
    answer = json.dumps(_plain(run.to_dict()["answer"]), ensure_ascii=False)
    if len(answer) > limit:
        answer = f"{answer[:limit]}… ({len(answer)} characters, all of it with --json)"
    out(f"{label:8}{answer}")


def show_end(run: Run) -> None:
    """Print the last lines of a finished run: its counts and its head."""
    tasks = f"{run.completed} completed, {run.failed} failed"
    if run.timing_dependent:
        tasks += " (including timeouts or lost workers: another run may differ)"
    out(f"{'tasks':8}{tasks}")
    out(f"{'head':8}{run.size} {run.head}  verified by: {command('verify', run.out)}")


def _plain(value: Any) -> Any:
    """Convert values that JSON lacks to their tagged form."""
    if isinstance(value, values.Object):
        return {"$o": value.digest}
    if isinstance(value, int) and value.bit_length() > LONG_INT_BITS:
        return {"$i": hex(value)}
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value

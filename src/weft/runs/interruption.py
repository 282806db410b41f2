"""Ctrl-C in a script: one line and exit code 130 instead of a traceback.

`weft.run` raises `weft.Interrupted`, which can be caught as usual, also as `KeyboardInterrupt`.
Only an uncaught one reaches `sys.excepthook`, which is wrapped when the first one is raised; all
other exceptions go to the previous hook.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from weft.errors import Interrupted


@contextmanager
def interruptible(out: Path) -> Iterator[None]:
    """Turn Ctrl-C into `Interrupted`, also a second one or one before the run handles signals."""
    try:
        yield
    except Interrupted:
        _wrap_hook()
        raise
    except KeyboardInterrupt:
        _wrap_hook()
        raise interruption(out) from None


def interruption(out: Path) -> Interrupted:
    """Return the error for a Ctrl-C that the run could not handle itself."""
    hint = f"weft resume {shlex.quote(str(out))}" if (out / "run.toml").is_file() else ""
    return Interrupted("interrupted; no completed task is lost", hint=hint)


def _wrap_hook() -> None:
    if not isinstance(sys.excepthook, _OneLineHook):
        sys.excepthook = _OneLineHook()


class _OneLineHook:
    """Prints an uncaught `Interrupted` as one line and ends the process with its exit code."""

    def __init__(self) -> None:
        self._before = sys.excepthook

    def __call__(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        """Handle an uncaught exception."""
        if isinstance(error, KeyboardInterrupt) and isinstance(error.__context__, Interrupted):
            error = error.__context__  # Ctrl-C again, on the way out
        if not isinstance(error, Interrupted):
            self._before(kind, error, trace)
            return
        print(f"weft: {error}", file=sys.stderr)
        raise SystemExit(error.exit_code)  # the interpreter exits with it

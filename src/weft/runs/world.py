"""The real world of a run, in one place: clocks, state folder, entropy, stop signals."""

from __future__ import annotations

import contextlib
import secrets
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import platformdirs


class RealClock:
    """The machine's clocks."""

    def wall(self) -> float:
        """Return seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Return seconds of a clock that never jumps."""
        return time.monotonic()


def new_run_id() -> str:
    """Return a random name for a run; never part of its ledger."""
    return secrets.token_hex(16)


def new_token() -> str:
    """Return a random token that nobody can guess."""
    return secrets.token_hex(32)


def state_folder() -> Path:
    """Return the user's folder for data that outlives a run."""
    return platformdirs.user_state_path("weft")


def heads_folder() -> Path:
    """Return the folder of the heads lists, outside every run."""
    return state_folder() / "heads"


class StopRequest:
    """Becomes true on the first Ctrl-C or TERM, or when the wall limit has passed."""

    def __init__(self, wall_limit_s: float | None = None) -> None:
        self._end_s = None if wall_limit_s is None else time.monotonic() + wall_limit_s
        self._asked = False

    def asked(self) -> bool:
        """Whether to stop now."""
        return self._asked or (self._end_s is not None and time.monotonic() >= self._end_s)

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Handle the signals during a run; a second Ctrl-C interrupts it at once."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        signals = (signal.SIGINT, signal.SIGTERM)
        before = [signal.signal(number, self._ask) for number in signals]
        try:
            yield
        finally:
            for number, handler in zip(signals, before, strict=True):
                signal.signal(number, handler)

    def _ask(self, *_: object) -> None:
        self._asked = True
        signal.signal(signal.SIGINT, signal.default_int_handler)

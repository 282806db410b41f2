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
        """Seconds since the epoch."""
        return time.time()

    def monotonic(self) -> float:
        """Seconds that never jump."""
        return time.monotonic()


def new_run_id() -> str:
    """A random name for a run; never part of its ledger."""
    return secrets.token_hex(16)


def new_token() -> str:
    """A random text that nobody can guess."""
    return secrets.token_hex(32)


def state_folder() -> Path:
    """Where the user's programs keep what should outlive a run."""
    return platformdirs.user_state_path("weft")


def heads_folder() -> Path:
    """Where heads lists are kept, outside every run."""
    return state_folder() / "heads"


class StopRequest:
    """Becomes true on the first Ctrl-C or TERM, or when the wall limit is over."""

    def __init__(self, wall_limit_s: float | None = None) -> None:
        self._end_s = None if wall_limit_s is None else time.monotonic() + wall_limit_s
        self._asked = False

    def asked(self) -> bool:
        """Whether to stop now."""
        return self._asked or (self._end_s is not None and time.monotonic() >= self._end_s)

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Catch the signals while a run is under way; a second Ctrl-C ends at once."""
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

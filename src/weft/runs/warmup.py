"""Runs a product's slow one-time work, such as compiling, before the workers of a run start.

Otherwise every worker would do it separately, at the same time and silently.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from weft.coordinator.loop import Watcher
from weft.product import warm_up


@runtime_checkable
class Announcer(Protocol):
    """A watcher that also accepts lines of text."""

    def say(self, line: str) -> None:
        """Show a line about work that the user has to wait for."""


def warm_up_for(search: str, watcher: Watcher | None) -> None:
    """Call the warm-up of a search's product; a watcher that is an `Announcer` gets its lines."""
    warm_up(search, announcer(watcher))


def announcer(watcher: Watcher | None) -> Callable[[str], None]:
    """Return a function that shows lines through a watcher; silent unless it is an `Announcer`."""
    return watcher.say if isinstance(watcher, Announcer) else _silent


def _silent(line: str) -> None:
    """Print nothing."""

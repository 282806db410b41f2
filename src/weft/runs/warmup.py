"""What takes a product long once, such as compiling, done before the workers of a run start.

Otherwise every worker would do it by itself, at the same time and without a word.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from weft.coordinator.loop import Watcher
from weft.product import warm_up


@runtime_checkable
class Announcer(Protocol):
    """A watcher that also takes lines of text."""

    def say(self, line: str) -> None:
        """Called when there is something to wait for."""


def warm_up_for(search: str, watcher: Watcher | None) -> None:
    """Call the warm-up of a search's product; a watcher that is an `Announcer` gets its lines."""
    warm_up(search, announcer(watcher))


def announcer(watcher: Watcher | None) -> Callable[[str], None]:
    """Return what takes lines of text for a watcher; it is silent unless it is an `Announcer`."""
    return watcher.say if isinstance(watcher, Announcer) else _silent


def _silent(line: str) -> None:
    """Print nothing."""

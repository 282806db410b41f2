"""Reproducible draws: the nth number of a key is a hash of the key and n."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Retry(Exception):  # noqa: N818 - a signal, not an error
    """The draws give no pair, or an ambiguous one, and must be repeated."""


class Draws:
    """A stream of numbers that depends only on its key."""

    def __init__(self, key: str) -> None:
        self._key = key
        self._count = 0

    def below(self, n: int) -> int:
        """Draw a number from 0 to n - 1."""
        self._count += 1
        text = f"{self._key} {self._count}".encode()
        return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big") % n

    def between(self, low: int, high: int) -> int:
        """Draw a number from low to high, both included."""
        return low + self.below(high - low + 1)

    def chance(self, percent: int) -> bool:
        """Return True with the given probability."""
        return self.below(100) < percent

    def pick(self, items: Sequence[T]) -> T:
        """Draw one item."""
        return items[self.below(len(items))]

    def sample(self, items: Sequence[T], n: int) -> list[T]:
        """Draw n different items, in random order."""
        rest = list(items)
        return [rest.pop(self.below(len(rest))) for _ in range(n)]

    def shuffled(self, items: Sequence[T]) -> list[T]:
        """Return all items in random order."""
        return self.sample(items, len(items))

    def colours(self, n: int, without: Sequence[int] = ()) -> list[int]:
        """Draw n different colours other than black and those in `without`."""
        return self.sample([c for c in range(1, 10) if c not in without], n)

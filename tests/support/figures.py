"""Figures of a campaign: one line each, shown by `-s`, and written to the file in WEFT_FIGURES."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def print_figures(campaign: str, **figures: object) -> None:
    """Print the figures of a campaign, and pass them to `python -m campaigns` if it asks."""
    print(f"\n{campaign}: " + ", ".join(f"{name} {value}" for name, value in figures.items()),
          flush=True)  # fmt: skip
    if file := os.environ.get("WEFT_FIGURES"):
        simple = {name: value for name, value in figures.items() if isinstance(value, int | str)}
        with Path(file).open("a", encoding="utf-8") as lines:
            lines.write(json.dumps({"campaign": campaign, **simple}) + "\n")


@dataclass(frozen=True)
class Part:
    """The share of a campaign's points or seeds that this process tries."""

    number: int = 1
    count: int = 1

    @staticmethod
    def asked() -> Part:
        """The share that `python -m campaigns` requests; by default, everything."""
        number, _, count = os.environ.get("WEFT_PART", "1/1").partition("/")
        return Part(int(number), int(count))

    def of(self, points: Sequence[T]) -> list[T]:
        """Every n-th of the points, so that shares are similar."""
        return list(points[self.number - 1 :: self.count])

    def within(self, groups: Sequence[T]) -> tuple[list[T], Part]:
        """The groups from which this share takes points, and its share of their points.

        A group is expensive to create: with enough shares, each takes its points from one group.
        """
        if self.count < len(groups):
            return list(groups), self
        number, place = divmod(self.number - 1, len(groups))
        shares = range(place, self.count, len(groups))
        return [groups[place]], Part(number + 1, len(shares))

"""What an attack is given: the draws it may look at, and the ranges that were asked for.

The draws are the training part of the history. The holdout never reaches an attack.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class Case:
    """Draws below `modulus`, oldest first, with inclusive ranges of skips and starts.

    `corrupt_percent` is the largest share of the draws that may be wrong.
    """

    draws: tuple[int, ...]
    modulus: int
    skips: tuple[int, int] = (0, 500)
    starts: tuple[int, int] = (0, 1000)
    corrupt_percent: int = 10

    def wrong_allowed(self, compared: int) -> int:
        """Return how many of `compared` draws may be wrong, with room for bad luck.

        Twice the share, plus three: a window is a sample of the history.
        """
        if self.corrupt_percent == 0:
            return 0
        return min(compared, 3 + 2 * compared * self.corrupt_percent // 100)

    def to_dict(self) -> dict[str, Any]:
        """Return the recorded form without the draws, which travel as an object."""
        return {
            "schema_version": SCHEMA_VERSION,
            "modulus": self.modulus,
            "skips": list(self.skips),
            "starts": list(self.starts),
            "corrupt_percent": self.corrupt_percent,
        }

    @classmethod
    def from_dict(cls, raw: dict[str, Any], draws: tuple[int, ...]) -> Case:
        """Read the recorded form."""
        return cls(
            draws,
            raw["modulus"],
            (raw["skips"][0], raw["skips"][1]),
            (raw["starts"][0], raw["starts"][1]),
            raw["corrupt_percent"],
        )

"""What an attack is given: the draws it may look at, and the ranges that were asked for.

The draws are the training part of the history. The holdout never reaches an attack.
"""

from __future__ import annotations

from dataclasses import dataclass


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

"""The forms in which users have draws, and how each form maps to draws below a modulus.

Attacks understand only whole numbers below a modulus, one for each call of an output map. A
`DrawForm` records how the texts were read; it is stored with the history, so that the next draws
can be written in the user's form again.

    "c0ffee", UUIDs, 0.1234, "7D QS 2H", 1..49 ──► readers ──► draws, modulus, likely maps, skips
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.searches.prng.rowmaps import row_at

INTEGERS = "integers"
CARDS = "cards"
SCALED = ("scaled", "scaled53", "high")
"""Output maps that scale an output to a fraction."""
WHOLE = ("raw", "mod", "bounded")
"""Output maps that reveal a word or its low bits."""


@dataclass(frozen=True, slots=True)
class DrawForm:
    """How texts were converted to draws; sufficient to write draws in the same form."""

    name: str
    modulus: int
    low: int = 0
    """Offset that was subtracted from whole numbers."""
    alphabet: str = ""
    """Characters in order, if a draw is a character; for cards, their names separated by blanks."""
    each: int = 1
    """Number of draws in one record."""
    outputs: tuple[str, ...] = ()
    """Output maps that can produce such draws; empty: all."""
    skips: tuple[int, int] | None = None
    """Range of skips that the form itself implies."""
    row_maps: tuple[str, ...] = ()
    """Row maps that can produce such rows."""

    @property
    def is_plain(self) -> bool:
        """Whether the draws are the file's numbers, unchanged."""
        return self.name == INTEGERS and self.low == 0

    def range_text(self) -> str:
        """Describe the range of values."""
        if self.name == "floats":
            return "0 ≤ x < 1"
        if self.name == "row-sorted":
            return f"{self.modulus} sorted rows of {self.each}, from {self.low} on"
        if self.alphabet:
            names = self.alphabet.split(" ") if " " in self.alphabet else list(self.alphabet)
            return f"{len(names)} symbols, {names[0]} to {names[-1]}"
        return f"{self.low} to {self.low + self.modulus - 1}"

    def texts(self, draws: Sequence[int]) -> list[str]:
        """Return draws in the form of the file; characters are joined into records."""
        if self.name == "floats":
            digits = max(1, len(str(self.modulus)) - 1)
            return [f"{draw / self.modulus:.{digits}f}…" for draw in draws]
        if self.name == "signed":
            half = self.modulus // 2
            return [str(draw - self.modulus if draw >= half else draw) for draw in draws]
        if self.name == "row-sorted":
            rows = (row_at(draw, self.each) for draw in draws)
            return [" ".join(str(number + self.low) for number in row) for row in rows]
        if " " in self.alphabet:
            names = self.alphabet.split(" ")
            return [names[draw] for draw in draws]
        if self.alphabet:
            return joined([self.alphabet[draw] for draw in draws], self.each)
        if self.name.endswith(("bytes", "words", "words-le", "numbers")):
            return [f"{draw:0{2 if self.modulus == 256 else 8}x}" for draw in draws]
        return [str(draw + self.low) for draw in draws]


def joined(characters: Sequence[str], each: int) -> list[str]:
    """Join characters into records; the last may be shorter."""
    size = max(1, each)
    return ["".join(characters[at : at + size]) for at in range(0, len(characters), size)]


PLAIN_SIZES = (
    2, 3, 4, 5, 6, 8, 10, 12, 13, 16, 20, 24, 25, 26, 30, 32, 35, 36, 37, 38, 39, 40, 42, 45, 47,
    48, 49, 50, 52, 54, 55, 56, 59, 60, 62, 64, 69, 70, 75, 80, 90, 100, 128, 200, 250, 256, 300,
    360, 365, 400, 500, 512, 600, 700, 800, 900, 1000, 1024, 2000, 2048, 4096, 5000, 8192, 10_000,
    16_384, 32_768, 50_000, 65_536, 100_000, 1 << 20, 10**6, 1 << 24, 10**7, 10**8, 10**9, 1 << 30,
    (1 << 31) - 1, 1 << 31, 1 << 32,
)  # fmt: skip
"""Common sizes of ranges: dice, roulette, lotteries, cards, powers of two and ten."""


@dataclass(frozen=True, slots=True)
class NumberRange:
    """A range of `size` whole numbers from `low` on; a `likelihood` of 100 is certain."""

    low: int
    size: int
    likelihood: int


def ranges_of(numbers: Sequence[int]) -> list[NumberRange]:
    """Return the ranges that whole numbers probably come from, the likeliest first.

    A common range fits unless the numbers leave more of it empty at its ends than one history in
    a hundred would. The observed range is always among the results.

    >>> [(r.low, r.size) for r in ranges_of([1, 49, 7, 33, 20, 48, 2] * 5)][:1]
    [(1, 49)]
    """
    low, high, count = min(numbers), max(numbers), len(numbers)
    span = high - low + 1
    fitting = []
    for start, size in _usual_ranges():
        if start <= low and high < start + size and _empty_ends_fit(span, size, count):
            preferred = 90 if start in (0, 1) else 80
            fitting.append(
                NumberRange(start, size, preferred - min(30, 30 * (size - span) // size))
            )
    fitting.sort(key=lambda item: (-item.likelihood, item.size, item.low))
    if not any(item.size == span for item in fitting):
        fitting.append(NumberRange(low, span, 40))
    return fitting


def _usual_ranges() -> list[tuple[int, int]]:
    pairs = [(start, size) for size in PLAIN_SIZES for start in (0, 1)]
    return [*pairs, *((10**k, 9 * 10**k) for k in range(1, 9))]


def _empty_ends_fit(span: int, size: int, count: int) -> bool:
    """Whether (span / size)^count is at least 1/100."""
    if span == size:
        return True
    chance = 1.0
    for _ in range(min(count, 10_000)):
        chance *= span / size
        if chance < 0.01:
            return False
    return True

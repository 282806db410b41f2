"""The rule that repeats a grid a counted number of times, or with lines between copies.

    copies 1 count_3           as many side by side as the input has green cells
    copies 2 2 apart 1 5       two by two, with gray lines of one cell between them
    scale parts_2 parts_2      every cell a square, whose side is the input's number of red objects

The numbers of copies, first down, then across, are fixed numbers or counts of the input.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product

from weft.searches.arc.fitted.rule import BASE, COLOUR, Examples, Proposed, digit, number
from weft.searches.arc.ops.objectparts import groups
from weft.searches.arc.ops.operator import BIT, ShapeEffect
from weft.searches.arc.values import MAX_SIDE, Grid

COPIES, SCALE, DIAGONAL = "copies", "scale", "diagonal"
HOW = (COPIES, SCALE, DIAGONAL)
APART, FRAMED = "apart", "framed"
BETWEEN = (APART, FRAMED)
"""Lines only between the copies, or around them too."""
INKS = range(1, 10)
WORDS: tuple[str, ...] = (
    "marks", "blobs", "others", "cells", "rarest",
    *(f"parts_{colour}" for colour in INKS), *(f"count_{colour}" for colour in INKS),
)  # fmt: skip
"""Counts: non-black colours, blobs, blobs but one, non-black cells, cells of the rarest colour,
objects of a colour, cells of a colour.
"""
MOST_GAP, MOST_COPIES = 3, 15
KIND, NUMBER, COUNT = 2 * BIT, 2 * BIT, 5 * BIT


@dataclass(frozen=True, slots=True)
class Repetition:
    """A way to repeat a grid."""

    how: str
    down: str
    across: str
    between: str = ""
    gap: int = 0
    colour: int = 0

    def text(self) -> str:
        """Return the notation used in programs."""
        lines = f" {self.between} {self.gap} {self.colour}" if self.between else ""
        return f"{self.how} {self.down} {self.across}{lines}"

    @property
    def millibits(self) -> int:
        """The cost in thousandths of a bit."""
        words = (self.down,) if self.down == self.across else (self.down, self.across)
        counts = sum(NUMBER if word.isdigit() else COUNT for word in words)
        return KIND + counts + (2 * BIT + BIT * self.gap + COLOUR if self.between else 0)

    def drawn(self, value: Grid, counts: dict[str, int]) -> Grid | None:
        """Repeat a grid; None if a count is 0, or the result would be empty or too large."""
        down, across = (_count(word, counts) for word in (self.down, self.across))
        around = self.gap if self.between == FRAMED else -self.gap
        height = down * (value.height + self.gap) + around
        width = across * (value.width + self.gap) + around
        if min(down, across) < 1 or max(height, width) > MAX_SIDE:
            return None
        if self.how == SCALE:
            rows = [[cell for cell in row for _ in range(across)] for row in value.rows()]
            return Grid.of([row for row in rows for _ in range(down)])
        start = self.gap if self.between == FRAMED else 0
        rows = [[self.colour] * width for _ in range(height)]
        for y, x in product(range(down), range(across)):
            if self.how == DIAGONAL and y != x:
                continue
            top, left = start + y * (value.height + self.gap), start + x * (value.width + self.gap)
            for n, row in enumerate(value.rows()):
                rows[top + n][left : left + value.width] = row
        return Grid.of(rows)


def _count(word: str, counts: dict[str, int]) -> int:
    return int(word) if word.isdigit() else counts[word]


@lru_cache(maxsize=64)
def _counts_of(grid: Grid) -> tuple[tuple[str, int], ...]:
    cells = {divmod(n, grid.width): cell for n, cell in enumerate(grid.cells) if cell}
    blobs = len(groups(dict.fromkeys(cells, 1), eight=True))
    inks = [cell for cell in grid.cells if cell]
    parts = [grid.at(*group[0]) for group in groups(cells, eight=True)]
    rare = min((inks.count(colour) for colour in INKS if colour in inks), default=0)
    plain = (len(set(inks)), blobs, blobs - 1, len(inks), rare)
    each = [*(parts.count(colour) for colour in INKS), *(inks.count(colour) for colour in INKS)]
    return tuple(zip(WORDS, (*plain, *each), strict=True))


def counts_of(grid: Grid) -> dict[str, int]:
    """Return all counts of an input."""
    return dict(_counts_of(grid))


class Repeat(Proposed):
    """Parameters: the kind of repetition, the numbers of copies, and the lines between them."""

    name = "repeat"
    doc = (
        "Repeats the grid: `copies 2 3` are two rows of three copies, `scale 2 3` makes each cell "
        "two rows of three cells, `diagonal 3 3` puts copies on the falling diagonal. Numbers may "
        "be counts of the input: `marks` (non-black colours), `blobs`, `others` (blobs but one), "
        "`cells` (non-black cells), `rarest` (cells of the rarest colour), `parts_3` (8-connected "
        "components of a colour), `count_3` (cells of a colour). `apart 1 5` puts lines of one "
        "cell and colour 5 between copies, `framed 1 5` around them too."
    )
    shape = ShapeEffect.GROW

    def settings(self, examples: Examples) -> Iterator[str]:
        settings = sorted(_settings(examples), key=lambda own: (own.millibits, own.text()))
        yield from (setting.text() for setting in settings)

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        return read_repetition(params.decode()).drawn(value, counts_of(given))

    def price(self, params: bytes) -> int:
        return BASE + read_repetition(params.decode()).millibits

    def read(self, text: str) -> bytes:
        return read_repetition(text).text().encode()


def _settings(examples: Examples) -> Iterator[Repetition]:
    """Yield repetitions that give all targets their sizes, except those that other rules cover."""
    pairs = examples.pairs()
    counts = [counts_of(given) for given in examples.given[: len(pairs)]]
    for between, gap in (("", 0), *product(BETWEEN, range(1, MOST_GAP + 1))):
        sizes = [_copies(value, target, gap, between) for value, target in pairs]
        known = [size for size in sizes if size is not None]
        if len(known) < len(sizes):
            continue
        down, across = (_words([size[n] for size in known], counts) for n in (0, 1))
        colour = _line_colour(*pairs[0], between, gap)
        for words in product(down, across):
            if between:
                yield Repetition(COPIES, *words, between, gap, colour)
            elif not (words[0].isdigit() and words[1].isdigit()):
                yield from (Repetition(how, *words) for how in (COPIES, SCALE))
                if words[0] == words[1]:
                    yield Repetition(DIAGONAL, *words)


def _copies(value: Grid, target: Grid, gap: int, between: str) -> tuple[int, int] | None:
    """Return the numbers of copies that give the target's size; None if they are not whole."""
    around = -gap if between == FRAMED else gap
    down, rest = divmod(target.height + around, value.height + gap)
    across, more = divmod(target.width + around, value.width + gap)
    is_whole = not rest and not more and min(down, across) >= 1 and max(down, across) <= MOST_COPIES
    is_needed = between == FRAMED or down * across > 1 or not between
    return (down, across) if is_whole and is_needed else None


def _line_colour(value: Grid, target: Grid, between: str, gap: int) -> int:
    """Return the colour of a cell that belongs to no copy."""
    if between == FRAMED or not gap:
        return target.at(0, 0)
    if target.height > value.height:
        return target.at(value.height, 0)
    return target.at(0, min(value.width, target.width - 1))


def _words(numbers: Sequence[int], counts: Sequence[dict[str, int]]) -> list[str]:
    """Return the words that give the number of copies in each pair."""
    fixed = [str(numbers[0])] if len(set(numbers)) == 1 else []
    if fixed == ["1"]:
        return fixed
    values = {word: [own[word] for own in counts] for word in WORDS}
    return [*fixed, *(word for word, own in values.items() if own == list(numbers))]


def read_repetition(text: str) -> Repetition:
    """Invert `Repetition.text`; raises ValueError if the text is invalid."""
    how, down, across, *lines = text.split(" ")
    for word in (down, across):
        if word not in WORDS:
            number(word, 1, MOST_COPIES)
    if how not in HOW or (how != COPIES and lines):
        raise ValueError(text)
    if not lines:
        return Repetition(how, down, across)
    between, gap, colour = lines
    if between not in BETWEEN:
        raise ValueError(text)
    return Repetition(how, down, across, between, number(gap, 1, MOST_GAP), digit(colour))

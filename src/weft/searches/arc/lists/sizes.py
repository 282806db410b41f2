"""Output sizes: formulas over the input that hold for all training pairs.

    h  w*3  h+2  w-1  h/2  5  blobs  h*marks

`h` and `w` are the input's height and width; the other words are counts of the input.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from weft.searches.arc.lists.words import COUNTS
from weft.searches.arc.ops.objectparts import groups
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.values import MAX_SIDE, Grid

SIDES = ("h", "w")
_FORMULA = re.compile(r"(?P<word>[a-z]+)(?:(?P<sign>[*+/-])(?P<by>[a-z]+|[1-9][0-9]?))?")
FACTORS = (2, 3, 4, 5, 6)
SHIFTS = range(1, 11)
PRODUCT, FACTOR, NUMBER, COUNT = 2 * BIT, 2500, 4500, 4 * BIT
"""Costs of multiplying two words, of one of five factors, of any other number, of a count."""
WORDS = (*SIDES, *COUNTS)
Measures = dict[str, int]


@dataclass(frozen=True, slots=True)
class Formula:
    """A side of the output: a number (`word` is empty), or a word with an optional operation."""

    word: str
    sign: str = ""
    by: str = ""

    def text(self) -> str:
        """Return the notation used in programs."""
        return f"{self.word}{self.sign}{self.by}"

    def value(self, measures: Measures) -> int:
        """Return the length of the side; 0 if a division leaves a remainder."""
        if not self.word:
            return int(self.by)
        own = measures[self.word]
        by = measures[self.by] if self.by in measures else int(self.by or 1)
        match self.sign:
            case "+":
                return own + by
            case "-":
                return own - by
            case "/":
                return 0 if own % by else own // by
        return own * by

    def millibits(self, side: str) -> int:
        """Return the cost as the output's `side`; the input's same side is the cheapest word."""
        words = [word for word in (self.word, self.by) if word in WORDS]
        cost = sum(_word_millibits(word, side) for word in words)
        if not self.by or self.by in WORDS:
            return cost + (PRODUCT if self.by else 0)
        return cost + (FACTOR if self.sign and self.sign in "*/" else NUMBER)


def _word_millibits(word: str, side: str) -> int:
    if word in SIDES:
        return BIT if word == side else 2 * BIT
    return COUNT


def measures_of(grid: Grid) -> Measures:
    """Return the value of each word."""
    inked = {divmod(i, grid.width): 1 for i, cell in enumerate(grid.cells) if cell}
    return {
        "h": grid.height,
        "w": grid.width,
        "cells": len(inked),
        "gaps": len(grid.cells) - len(inked),
        "marks": len(set(grid.cells) - {0}),
        "blobs": len(groups(inked, True)),
    }


def formulas(side: str, inputs: Sequence[Grid], expected: Sequence[int]) -> list[Formula]:
    """Return the formulas that give the expected sides of the first inputs, cheapest first.

    Of formulas with the same values on all inputs only the cheapest is returned; none gives an
    impossible side.
    """
    measured = [measures_of(grid) for grid in inputs]
    first: dict[tuple[int, ...], Formula] = {}
    every = [*_formulas(), *(Formula("", "", str(number)) for number in sorted(set(expected)))]
    for formula in sorted(every, key=lambda formula: (formula.millibits(side), formula.text())):
        values = tuple(formula.value(measures) for measures in measured)
        if values[: len(expected)] == tuple(expected) and all(1 <= v <= MAX_SIDE for v in values):
            first.setdefault(values, formula)
    return list(first.values())


def parse(text: str) -> Formula:
    """Invert `Formula.text`; raises ValueError if the text is invalid."""
    if re.fullmatch(r"[1-9][0-9]?", text):
        return Formula("", "", text)
    match = _FORMULA.fullmatch(text)
    if match is None:
        raise ValueError(text)
    formula = Formula(match["word"], match["sign"] or "", match["by"] or "")
    if formula not in _ALL:
        raise ValueError(text)
    return formula


def _formulas() -> Iterator[Formula]:
    """Yield all formulas except numbers."""
    for word in WORDS:
        yield Formula(word)
        yield from (Formula(word, "*", str(n)) for n in FACTORS)
        yield from (Formula(word, "/", str(n)) for n in FACTORS)
        yield from (Formula(word, sign, str(n)) for sign, n in product("+-", SHIFTS))
    yield from (Formula(side, "*", word) for side, word in product(SIDES, WORDS))


_ALL = frozenset(_formulas())
"""Used for membership only."""

"""Readers of whole rows: shuffles, deals of cards, sorted rows of `k of n`.

Every element of a row is a draw, as in the maps of `rowmaps`: a shuffled deck of 52 cards is 52
draws. A sorted row is a single draw, its rank among all sorted rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from weft.errors import UsageError
from weft.searches.prng.drawforms import DrawForm, NumberRange
from weft.searches.prng.formreaders import ALPHABETS, INTEGER, Reading, one_column
from weft.searches.prng.records import Records
from weft.searches.prng.rowmaps import LONGEST, MOST, rank_of, row_at, sorted_modulus

_T = TypeVar("_T")
LEAST_SHUFFLED = 10
"""Minimum number of elements for a row to be read as a shuffle, in a file of rows."""
LEAST_COLUMN = 20
"""Minimum number of elements for a part of a column to be read as a shuffle."""
GREATEST = 1 << 32
TOO_MANY = "there are more than 2^32 such rows"


def row_maps(length: int, elements: int) -> tuple[str, ...]:
    """Return the maps that can produce unsorted rows of `length` distinct out of `elements`."""
    if length == elements:
        return ("shuffle",) if elements <= MOST else ()
    if not 2 <= length <= LONGEST or elements > MOST:
        return ()
    return (f"sample{length}", f"distinct{length}", f"deal{length}")


def read_shuffle(records: Records) -> Reading | None:
    """Read rows that are permutations of numbers from 0 or 1 on, or such rows in one column."""
    cells = [row[0].split() if len(row) == 1 else list(row) for row in records.rows]
    if not all(INTEGER.fullmatch(cell) and len(cell) < 10 for row in cells for cell in row):
        return None
    rows = [[int(cell) for cell in row] for row in cells]
    if any(len(row) != 1 for row in rows):
        return shuffle_reading(rows, LEAST_SHUFFLED)
    return column_reading([number for (number,) in rows])


def column_reading(column: Sequence[int]) -> Reading | None:
    """Read a column of consecutive shuffles; None if it is not such a column."""
    if not column:
        return None
    return shuffle_reading(parts_of(column, max(column) - min(column) + 1), LEAST_COLUMN)


def parts_of(column: Sequence[_T], size: int) -> list[Sequence[_T]]:
    """Divide a column into parts of a given size; the last may be shorter."""
    return [column[at : at + size] for at in range(0, len(column), size)]


def shuffle_reading(rows: Sequence[Sequence[int]], least: int) -> Reading | None:
    """Read rows that are permutations of the same numbers; None if they are not."""
    size = len(rows[0])
    if not least <= size <= MOST or (low := min(rows[0])) not in (0, 1):
        return None
    whole = list(range(low, low + size))
    if any(sorted(row) != whole for row in rows):
        return None
    form = DrawForm("shuffle", size, low, each=size, outputs=("shuffle",), row_maps=("shuffle",))
    return Reading(form, tuple(number - low for row in rows for number in row), 95)


def read_shuffled_letters(records: Records) -> Reading | None:
    """Read strings that contain every character of an alphabet exactly once."""
    texts = one_column(records)
    if not texts or len(texts[0]) < LEAST_SHUFFLED:
        return None
    used = sorted(texts[0])
    if any(sorted(text) != used for text in texts):
        return None
    best = next((alphabet for alphabet in ALPHABETS if sorted(alphabet) == used), None)
    if best is None:
        return None
    form = DrawForm(
        "shuffled-letters", len(best), alphabet=best, each=len(best),
        outputs=("shuffle",), row_maps=("shuffle",),
    )  # fmt: skip
    return Reading(form, tuple(best.index(letter) for text in texts for letter in text), 90)


def sorted_reading(rows: Sequence[Sequence[int]], best: NumberRange) -> Reading:
    """Read sorted rows as their ranks among all rows; without draws if ranks cannot be used.

    That is so if there are too many possible rows, or only one.
    """
    length = len(rows[0])
    note = "sorted: a row is one draw, its place among all rows"
    if length == best.size:
        form = DrawForm("row-sorted", best.size, best.low, each=length)
        return Reading(form, (), 70, "rows are sorted, and all are the same")
    if length > LONGEST or best.size > MOST or sorted_modulus(best.size, length) > GREATEST:
        form = DrawForm("row-sorted", best.size, best.low, each=length)
        return Reading(form, (), 70, f"{TOO_MANY}: bring them as they were drawn, unsorted")
    maps = tuple(f"sorted_{name}" for name in row_maps(length, best.size))
    form = DrawForm(
        "row-sorted", sorted_modulus(best.size, length), best.low, each=length,
        outputs=maps, row_maps=maps,
    )  # fmt: skip
    ranks = (rank_of(tuple(number - best.low for number in row)) for row in rows)
    return Reading(form, tuple(ranks), 70, note)


def in_new_range(
    form: DrawForm, draws: Sequence[int], modulus: int | None, low: int | None
) -> tuple[DrawForm, tuple[int, ...]]:
    """Return the form and draws of rows, reread as numbers from `low` on, out of `modulus`.

    Raises UsageError if a number is out of range, or if there are too many sorted rows.
    """
    is_sorted = form.name == "row-sorted"
    length = form.each
    rows = [row_at(draw, length) if is_sorted else (draw,) for draw in draws]
    least = form.low if low is None else low
    numbers = [tuple(number + form.low - least for number in row) for row in rows]
    size = modulus or max(map(max, numbers)) + 1
    if min(map(min, numbers)) < 0 or max(map(max, numbers)) >= size:
        raise UsageError(f"the rows have numbers that are not from {least} to {least + size - 1}")
    if is_sorted:
        again = sorted_reading(numbers, NumberRange(0, size, 100))
        if not again.draws:
            raise UsageError(f"sorted rows of {length} out of {size}: {TOO_MANY}")
        return replace(again.form, low=least), again.draws
    maps = row_maps(length, size)
    outputs = maps if form.outputs else ()
    changed = replace(form, modulus=size, low=least, row_maps=maps, outputs=outputs)
    return changed, tuple(number for (number,) in numbers)

"""Sets of cells for learning: where tests on columns of numbers hold, where actions are right.

Sets are rows of 64-bit words, one bit per cell. `lists.choices` knows what the numbers mean, and
has the slow twin.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from weft.searches.arc.kernels.compiled import entry, kernel
from weft.searches.arc.kernels.layout import I64, U8

Sets = npt.NDArray[np.uint64]
EQUAL, UNEQUAL, AT_LEAST, BELOW = range(4)
SOURCE, RELATION, VALUE = range(3)
"""Columns of a test."""
HIGHEST = 9
"""Larger numbers are compared by order only."""
_VALUES = 256


@kernel
def bit_of(cell: int) -> np.uint64:
    """Return a cell's bit in its word."""
    return np.uint64(1) << np.uint64(cell & 63)


@kernel
def sort_cells(column: U8, of_value: Sets, present: U8) -> int:
    """Group cells by their numbers, in a set for each; return how many numbers occur."""
    present[:] = 0
    count = 0
    for cell in range(len(column)):
        value = column[cell]
        if not present[value]:
            present[value] = 1
            of_value[value] = 0
            count += 1
        of_value[value, cell >> 6] |= bit_of(cell)
    return count


@kernel
def tests_of(present: U8, asked: bool) -> int:
    """Count the tests of a column in which at least two numbers are present."""
    count, first = 0, True
    for value in range(_VALUES):
        if present[value]:
            count += (value <= HIGHEST) + (0 if first else 2) if asked else 2
            first = False
    return count


@kernel
def put_tests(
    source: int, asked: bool, of_value: Sets, present: U8, everything: Sets, what: I64, sets: Sets
) -> None:
    """Write the tests of one column, in order of numbers: `=` and `!=`, or `=`, `>=` and `<`."""
    below, n, first = np.zeros(len(everything), np.uint64), 0, True
    for value in range(_VALUES):
        if not present[value]:
            continue
        for relation in range(4):
            ordered = relation in (AT_LEAST, BELOW)
            if (ordered != asked and relation != EQUAL) or (ordered and first):
                continue
            if relation == EQUAL and asked and value > HIGHEST:
                continue
            what[n, SOURCE], what[n, RELATION], what[n, VALUE] = source, relation, value
            for w in range(len(everything)):
                word = below[w] if ordered else of_value[value, w]
                sets[n, w] = everything[w] & ~word if relation in (UNEQUAL, AT_LEAST) else word
            n += 1
        for w in range(len(everything)):
            below[w] |= of_value[value, w]
        first = False


@entry
def pack_tests(columns: U8, asked: U8) -> tuple[I64, Sets]:
    """Return every test on columns of numbers, and where it holds; constant columns have none.

    Columns with `asked` set are also compared by order, the others for inequality.
    """
    words = (columns.shape[1] + 63) >> 6
    of_value, present = np.empty((_VALUES, words), np.uint64), np.empty(_VALUES, np.uint8)
    everything = np.zeros(words, np.uint64)
    for cell in range(columns.shape[1]):
        everything[cell >> 6] |= bit_of(cell)
    starts = np.zeros(len(columns) + 1, np.int64)
    for source in range(len(columns)):
        starts[source + 1] = starts[source]
        if sort_cells(columns[source], of_value, present) > 1:
            starts[source + 1] += tests_of(present, asked[source] > 0)
    what, sets = np.empty((starts[-1], 3), np.int64), np.empty((starts[-1], words), np.uint64)
    for source in range(len(columns)):
        begin, end = starts[source], starts[source + 1]
        if end > begin:
            sort_cells(columns[source], of_value, present)
            put_tests(source, asked[source] > 0, of_value, present, everything, what[begin:end],
                      sets[begin:end])  # fmt: skip
    return what, sets


@entry
def pack_actions(columns: U8, sources: I64, lay: U8, expected: U8, colours: int) -> Sets:
    """Return where actions are right, followed by where they are wrong, one row per action.

    An action copies the cells of a column with numbers below `colours`; with `lay` it skips black.
    """
    cells = columns.shape[1]
    words = (cells + 63) >> 6
    sets = np.empty((len(sources), 2 * words), np.uint64)
    for n in range(len(sources)):
        source, least = sources[n], 1 if lay[n] else 0
        for w in range(words):
            right, wrong = np.uint64(0), np.uint64(0)
            for cell in range(64 * w, min(64 * w + 64, cells)):
                colour = columns[source, cell]
                spoken = np.uint64(least <= colour < colours) << np.uint64(cell & 63)
                same = np.uint64(colour == expected[cell]) << np.uint64(cell & 63)
                right |= spoken & same
                wrong |= spoken & ~same
            sets[n, w], sets[n, words + w] = right, wrong
    return sets

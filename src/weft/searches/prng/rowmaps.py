"""Draws that come in rows of distinct elements: shuffles, samples, lottery numbers `k of n`.

A row is made by one of a few methods from calls with decreasing or equal bounds:

    pool       one of the remaining elements, replaced in the pool by the last (Fisher-Yates)
    ranked     the r-th of the remaining elements, in order
    distinct   any of n, redrawn while it is already in the row

A shuffle is an emptied pool, read backwards; `SHUFFLES` has the other orders. Each element of a
row is a draw; a sorted row is a single draw, its rank among all sorted rows, because the order of
its calls is lost. The state of a generator of rows is the generator's own state, the position in
the row, and the row.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from math import comb

from weft.searches.prng.family import Draw, State

MOST = 128
"""Maximum number of elements from which a row is chosen."""
EXTRA_WORDS = 1 + MOST
"""Words added to the generator's own state: the position in the row, and room for the row."""
LONGEST = 60
"""Maximum length of a row that is not a whole shuffle."""
SHUFFLE = "shuffle"
BACKWARD, FORWARD, INSIDE_OUT, PAIRED = "backward", "forward", "inside out", "paired"
POOL, RANKED, DISTINCT = "pool", "ranked", "distinct"
_NAME = re.compile(r"(sorted_)?(sample|distinct|deal)([1-9][0-9]?)")
BY_SIZE = "by size"
RANKED_MOST = 10
"""Maximum length of samples by ranks, Ruby's method for short ones."""
ZERO, ONE = 0, 1

Below = Callable[[State, int], int]
MakeRow = Callable[[State, int], None]
"""Write a row, chosen from a number of elements, into the state."""


class RowMaps(Mapping[str, Draw]):
    """The maps of a generator of rows: `shuffle`, `sampleK`, `distinctK`, `dealK`, and sorted ones.

    K is any row length; iteration yields one length as an example. `deal` takes the first K of a
    shuffle; `sample` is the runtime's own sampling function.
    """

    def __init__(
        self, below: Below, words: int, sample: str, kinds: tuple[str, ...], order: str = BACKWARD
    ) -> None:
        self._parts = (below, words, sample, order)
        self._kinds = kinds
        self._maps: dict[str, Draw] = {}

    def __getitem__(self, name: str) -> Draw:
        kind, length, _ = parsed(name)
        too_long = kind == "sample" and self._parts[2] == RANKED and length > RANKED_MOST
        if kind not in self._kinds or too_long:
            raise KeyError(name)
        if name not in self._maps:
            self._maps[name] = row_map(name, *self._parts)
        return self._maps[name]

    def __iter__(self) -> Iterator[str]:
        for kind in self._kinds:
            yield kind if kind == SHUFFLE else f"{kind}6"
        yield from (f"sorted_{kind}6" for kind in self._kinds if kind != SHUFFLE)

    def __len__(self) -> int:
        return 2 * len(self._kinds) - (SHUFFLE in self._kinds)


def parsed(name: str) -> tuple[str, int, bool]:
    """Return the kind of a row map, the row length (0: all elements) and whether it is sorted.

    Raises KeyError if `name` is not a row map.
    """
    if name == SHUFFLE:
        return SHUFFLE, 0, False
    match = _NAME.fullmatch(name)
    if match is None or int(match[3]) > LONGEST:
        raise KeyError(name)
    return match[2], int(match[3]), bool(match[1])


def is_row_map(name: str) -> bool:
    """Whether an output map makes rows."""
    try:
        parsed(name)
    except KeyError:
        return False
    return True


def generic_name(name: str) -> str:
    """Return the name of a map without the length of its rows.

    >>> generic_name("sorted_sample6"), generic_name("shuffle"), generic_name("scaled53")
    ('sorted_sample', 'shuffle', 'scaled53')
    """
    return name.rstrip("0123456789") if is_row_map(name) else name


def elements_of(name: str, modulus: int) -> int:
    """Return from how many elements rows are chosen; 0 if no such rows have this modulus."""
    _, length, is_sorted = parsed(name)
    if not is_sorted:
        return modulus if max(2, length) <= modulus <= MOST else 0
    total, rows = length, 1
    while rows < modulus:
        total += 1
        rows = comb(total, length)
    return total if rows == modulus and total <= MOST else 0


def row_length(name: str, modulus: int) -> int:
    """Return the number of draws in one row."""
    _, length, is_sorted = parsed(name)
    return 1 if is_sorted else length or modulus


def chance_values(name: str, modulus: int) -> int:
    """Return one over the chance of a hit, as an integer: the modulus, or less for rows.

    Given its predecessors, element i of a random row hits with probability at most 1/(n - i), so
    the mean of these probabilities bounds any number of hits (Hoeffding 1956).

    >>> chance_values("mod", 49), chance_values("sample6", 49), chance_values("shuffle", 52)
    (49, 46, 11)
    """
    if not is_row_map(name) or parsed(name)[2]:
        return modulus
    length = min(row_length(name, modulus), modulus)
    mean = sum(Fraction(1, modulus - at) for at in range(length)) / length
    return max(1, int(1 / mean))


def sorted_modulus(total: int, length: int) -> int:
    """Return the number of sorted rows, which is the modulus of such draws."""
    return comb(total, length)


def rank_of(row: tuple[int, ...]) -> int:
    """Return the rank of a sorted row among all rows: the sum of C(element i, i + 1).

    >>> rank_of((0, 1, 2)), rank_of((46, 47, 48)) == comb(49, 3) - 1
    (0, True)
    """
    return sum(comb(element, at) for at, element in enumerate(row, 1))


def row_at(rank: int, length: int) -> tuple[int, ...]:
    """Return the sorted row of a rank: the inverse of `rank_of`.

    >>> row_at(rank_of((3, 17, 40)), 3)
    (3, 17, 40)
    """
    row = []
    for at in range(length, 0, -1):
        element = at - 1
        while comb(element + 1, at) <= rank:
            element += 1
        row.append(element)
        rank -= comb(element, at)
    return tuple(reversed(row))


# -- the maps, by the rule for steps ------------------------------------------------------------


def row_map(name: str, below: Below, words: int, sample: str, order: str = BACKWARD) -> Draw:
    """Return the row map with the given name."""
    kind, length, is_sorted = parsed(name)
    if kind == SHUFFLE:
        return _read_out(SHUFFLES[order](below, words + 1), words, 0)
    if kind == "deal":
        make = SHUFFLES[order](below, words + 1)
    elif kind == DISTINCT:
        make = _distinct(below, words + 1, length)
    else:
        make = _sampled(below, words + 1, length, sample)
    return _ranked_row(make, words, length) if is_sorted else _read_out(make, words, length)


def _sampled(below: Below, row: int, length: int, sample: str) -> MakeRow:
    """Return a runtime's sampling method: the pool, ranks, or Python's choice by size."""
    if sample == RANKED:
        return _of_ranks(below, row, length)
    pool = _of_pool(below, row, length)
    return pool if sample == POOL else _python_sample(pool, _distinct(below, row, length), length)


def python_pool_most(length: int) -> int:
    """Return the largest number of elements for which random.sample uses a pool.

    >>> python_pool_most(5), python_pool_most(6), python_pool_most(20)
    (21, 85, 85)
    """
    power = 1
    while length > 5 and power < 3 * length:
        power *= 4
    return 21 + (power if length > 5 else 0)


def _python_sample(pool: MakeRow, distinct: MakeRow, length: int) -> MakeRow:
    most = python_pool_most(length)

    def make(state: State, total: int) -> None:
        if total <= most:
            pool(state, total)
        else:
            distinct(state, total)

    return make


def put_in_order(state: State, row: int, total: int) -> None:
    """Write the elements 0, 1, 2, … into the row."""
    at = ZERO
    while at < total:
        state[row + at] = at
        at += ONE


def swap(state: State, place: int, other: int) -> None:
    """Exchange two words."""
    element = state[place]
    state[place] = state[other]
    state[other] = element


def insert(state: State, row: int, at: int, place: int) -> None:
    """Insert element `at` at an index up to its own; the previous element moves to the end."""
    state[row + at] = state[row + place]
    state[row + place] = at


def _of_pool(below: Below, row: int, length: int) -> MakeRow:
    """Take elements from a pool; the pool's last element fills the gap.

    The pool is stored in reverse order, so that taken elements are at the front.
    """
    row_word, length_word = row, length

    def make(state: State, total: int) -> None:
        at = ZERO
        while at < total:
            state[row_word + at] = total - ONE - at
            at += ONE
        at = ZERO
        while at < length_word:
            left = total - at
            place = row_word + total - ONE - below(state, left)
            swap(state, place, row_word + at)
            at += ONE

    return make


def _shuffled(below: Below, row: int) -> MakeRow:
    """Shuffle from the last element down (Durstenfeld's algorithm)."""
    row_word = row

    def make(state: State, total: int) -> None:
        put_in_order(state, row_word, total)
        left = total
        while left > ONE:
            place = row_word + below(state, left)
            left -= ONE
            swap(state, place, row_word + left)

    return make


def _forward(below: Below, row: int) -> MakeRow:
    """Shuffle from the first element up, as libc++ and .NET 8 do."""
    row_word = row

    def make(state: State, total: int) -> None:
        put_in_order(state, row_word, total)
        at = ZERO
        while at < total - ONE:
            place = row_word + at + below(state, total - at)
            swap(state, place, row_word + at)
            at += ONE

    return make


def _inside_out(below: Below, row: int) -> MakeRow:
    """Insert each element at an index up to its own, starting with a call below 1: Go's Perm."""
    row_word = row

    def make(state: State, total: int) -> None:
        at = ZERO
        while at < total:
            insert(state, row_word, at, below(state, at + ONE))
            at += ONE

    return make


def _paired(below: Below, row: int) -> MakeRow:
    """Shuffle inside out, two elements per call, as libstdc++ does if words are wide enough."""
    row_word = row

    def make(state: State, total: int) -> None:
        state[row_word] = ZERO
        at = ONE
        if total % (ONE + ONE) == ZERO:
            insert(state, row_word, at, below(state, ONE + ONE))
            at += ONE
        while at < total:
            both = below(state, (at + ONE) * (at + ONE + ONE))
            insert(state, row_word, at, both // (at + ONE + ONE))
            insert(state, row_word, at + ONE, both % (at + ONE + ONE))
            at += ONE + ONE

    return make


SHUFFLES: Mapping[str, Callable[[Below, int], MakeRow]] = {
    BACKWARD: _shuffled,
    FORWARD: _forward,
    INSIDE_OUT: _inside_out,
    PAIRED: _paired,
}
"""The orders in which shuffles settle elements."""


def calls_of(row: Sequence[int], order: str) -> list[tuple[int, int]]:
    """Return the calls that produced a shuffled row, as pairs of bound and value.

    >>> calls_of((2, 0, 1), BACKWARD), calls_of((2, 0, 1), INSIDE_OUT)
    ([(3, 1), (2, 0)], [(1, 0), (2, 0), (3, 0)])
    """
    if order in (BACKWARD, FORWARD):
        return _settled(row, order)
    remaining, places = list(row), []
    for at in reversed(range(len(row))):
        place = remaining.index(at)
        remaining[place] = remaining[at]
        places.append((at + 1, place))
    singles = places[::-1]
    if order == INSIDE_OUT:
        return singles
    first = 1 + (len(row) % 2 == 0)
    pairs = zip(singles[first::2], singles[first + 1 :: 2], strict=True)
    return singles[1:first] + [(a * b, x * b + y) for (a, x), (b, y) in pairs]


def _settled(row: Sequence[int], order: str) -> list[tuple[int, int]]:
    """Return the calls of a forward or backward shuffle."""
    pool, calls, total = list(range(len(row))), [], len(row)
    for step in range(total - 1):
        at = step if order == FORWARD else total - 1 - step
        place = pool.index(row[at], step) if order == FORWARD else pool.index(row[at])
        pool[place] = pool[at]
        calls.append((total - step, place - step if order == FORWARD else place))
    return calls


def _distinct(below: Below, row: int, length: int) -> MakeRow:
    """Draw any element, and redraw while it is already in the row."""
    row_word, length_word = row, length

    def times(state: State, count: int, element: int) -> int:
        """Return how often an element occurs among the first `count` of the row."""
        number, at = ZERO, ZERO
        while at < count:
            if state[row_word + at] == element:
                number += ONE
            at += ONE
        return number

    def make(state: State, total: int) -> None:
        at = ZERO
        while at < length_word:
            element = below(state, total)
            if times(state, at, element) == ZERO:
                state[row_word + at] = element
                at += ONE

    return make


def _of_ranks(below: Below, row: int, length: int) -> MakeRow:
    """Take the r-th of the remaining elements, in their order."""
    row_word, length_word = row, length

    def up_to(state: State, count: int, element: int) -> int:
        """Return how many of the elements already taken are at most `element`."""
        number, at = ZERO, ZERO
        while at < count:
            if state[row_word + at] <= element:
                number += ONE
            at += ONE
        return number

    def make(state: State, total: int) -> None:
        at = ZERO
        while at < length_word:
            rank = below(state, total - at)
            element = rank
            before = up_to(state, at, element)
            while element != rank + before:
                element = rank + before
                before = up_to(state, at, element)
            state[row_word + at] = element
            at += ONE

    return make


def _read_out(make: MakeRow, words: int, length: int) -> Draw:
    """Return the map that yields a row element by element; a length of 0 means all elements."""
    place_at, row_word, length_word = words, words + 1, length

    def row(state: State, modulus: int) -> int:
        place = state[place_at]
        if place == ZERO:
            make(state, modulus)
        element = state[row_word + place]
        place += ONE
        if place == length_word:
            place = ZERO
        if place == modulus:
            place = ZERO
        state[place_at] = place
        return element

    return row


def _ranked_row(make: MakeRow, words: int, length: int) -> Draw:
    """Return the map of sorted rows, whose draw is the rank of a row."""
    row_word, length_word = words + 1, length

    def sorted_row(state: State, modulus: int) -> int:
        total, rows = length_word, ONE
        while rows < modulus:
            total += ONE
            rows = rows * total // (total - length_word)
        make(state, total)
        rank, at = ZERO, ZERO
        while at < length_word:
            element = state[row_word + at]
            before, other = ONE, ZERO
            while other < length_word:
                if state[row_word + other] < element:
                    before += ONE
                other += ONE
            ways, factor = ONE, ZERO
            while factor < before:
                ways = ways * (element - factor) // (factor + ONE)
                factor += ONE
            rank += ways
            at += ONE
        return rank

    return sorted_row

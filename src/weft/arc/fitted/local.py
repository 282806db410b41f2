"""The rule that looks at a cell and its neighbours: cellular automata of one step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from weft.arc.fitted import kernels
from weft.arc.fitted.kernels import (
    COUNT,
    CROSS,
    EQUAL,
    FEATURES,
    FULL,
    LENGTHS,
    MANY_CHANGES,
    MAX_PATTERNS,
    OUTSIDE,
    SINGLE,
    TURNED,
)  # fmt: skip
from weft.arc.fitted.rule import (
    BASE,
    COLOUR,
    MAX_PARAMS,
    Examples,
    Fitted,
    Rule,
    View,
    digit,
    sizes_equal,
)  # fmt: skip
from weft.arc.ops.operator import BIT, Shape
from weft.arc.values import Grid

NAMES = ("cross", "count", "equal", "single", "turned", "full")
SYMBOLS = "0123456789x"
SYMBOL_COST = (0, 0, 1000, 1585, 2000, 2322, 2585, 2807, 3000, 3170, 3322, 3459)
"""One symbol of as many as the patterns use, in thousandths of a bit."""
Pattern = tuple[int, ...]


class Neighbours(Rule):
    """Parameters: feature, two bytes of colour bits (low first), then (pattern…, out) sorted.

    A cell whose pattern is not among them stays if its colour's bit is set, else the rule fails.
    With at most `MANY_CHANGES` changing patterns the bits are those of the colours that stayed
    at least once in training, and only changing patterns are listed; with more no bit is set
    and all patterns are listed, those that stay too.
    """

    name = "neighbours"
    doc = (
        "A cell becomes what its surroundings say: `cross` centre, up, down, left, right; `count` "
        "centre and how many of 8 neighbours are not black; `equal` how many are like the centre; "
        "`single` the only colour among them (0 none, x several); `turned` 3×3 in any position; "
        "`full` 3×3; x is outside. Other cells stay if their colour is in `keep=`, else it fails."
    )
    shape = Shape.KEEP

    def propose(self, examples: Examples) -> Iterator[bytes]:
        if not sizes_equal(examples) or _colour_is_enough(examples):
            return
        for feature in range(FEATURES):
            table: dict[Pattern, int] = {}
            kept = 0
            for value, target in examples.pairs():
                for at, new in enumerate(target.cells):
                    old = value.cells[at]
                    table[pattern_of(feature, value, at)] = new
                    kept |= (old == new) << old
            if len(table) <= MAX_PATTERNS:
                yield _params(feature, table, kept)

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        feature, kept, table = _table(params)
        cells = bytearray()
        for at, old in enumerate(value.cells):
            pattern = pattern_of(feature, value, at)
            if pattern not in table and not kept >> old & 1:
                return None
            cells.append(table.get(pattern, old))
        return Grid(value.height, value.width, bytes(cells))

    def fit(self, view: View) -> Fitted | None:
        params = np.empty(MAX_PARAMS, np.uint8)
        out = np.empty(902 * len(view.offsets), np.uint8)
        ends = np.zeros(2, np.int64)
        if not kernels.fit_neighbours(
            view.src, view.offsets, view.targets, view.target_offsets, params, out, ends
        ):
            return None
        found = params[: ends[0]].tobytes()
        return Fitted(self.name, found, self.price(found), out[: ends[1]].tobytes())

    def fit_plain(self, view: View) -> Fitted | None:
        examples = view.examples()
        for params in self.propose(examples):
            outputs = self.outputs(params, examples)
            if outputs is not None:
                return Fitted(self.name, params, self.price(params), outputs)
        return None

    def price(self, params: bytes) -> int:
        feature, _, table = _table(params)
        changing = [p for p, new in table.items() if p[_centre(feature)] != new]
        symbols = len({symbol for pattern in changing for symbol in pattern})
        entry = LENGTHS[feature] * max(BIT, SYMBOL_COST[symbols]) + COLOUR
        return BASE + (2 + feature) * BIT + len(changing) * entry

    def show(self, params: bytes) -> str:
        feature, kept, table = _table(params)
        stay = "".join(str(colour) for colour in range(10) if kept >> colour & 1)
        entries = ["".join(SYMBOLS[s] for s in p) + f":{new}" for p, new in table.items()]
        return " ".join([NAMES[feature], f"keep={stay}", *entries])

    def read(self, text: str) -> bytes:
        name, stay, *entries = text.split(" ")
        kept = sum(1 << digit(symbol) for symbol in stay.removeprefix("keep="))
        params = bytearray((NAMES.index(name), kept & 255, kept >> 8))
        for pattern, new in sorted(entry.split(":") for entry in entries):
            if len(pattern) != LENGTHS[NAMES.index(name)]:
                raise ValueError(pattern)
            params += bytes((*(SYMBOLS.index(symbol) for symbol in pattern), digit(new)))
        return bytes(params)


def _colour_is_enough(examples: Examples) -> bool:
    seen = {cells for v, t in examples.pairs() for cells in zip(v.cells, t.cells, strict=True)}
    return len({old for old, _ in seen}) == len(seen)


def _params(feature: int, table: dict[Pattern, int], kept: int) -> bytes:
    centre = _centre(feature)
    changing = {pattern: new for pattern, new in table.items() if pattern[centre] != new}
    if len(changing) <= MANY_CHANGES:
        table = changing
    else:
        kept = 0
    params = bytearray((feature, kept & 255, kept >> 8))
    for pattern, new in sorted(table.items()):
        params += bytes((*pattern, new))
    return bytes(params)


def _table(params: bytes) -> tuple[int, int, dict[Pattern, int]]:
    step = LENGTHS[params[0]] + 1
    starts = range(3, len(params), step)
    table = {tuple(params[at : at + step - 1]): params[at + step - 1] for at in starts}
    return params[0], params[1] | params[2] << 8, table


def _centre(feature: int) -> int:
    return 4 if feature in (TURNED, FULL) else 0


def pattern_of(feature: int, grid: Grid, at: int) -> Pattern:
    """What a feature sees at a cell, as numbers 0 to 10."""
    row, col = divmod(at, grid.width)
    around = tuple(
        grid.at(r, c) if 0 <= r < grid.height and 0 <= c < grid.width else OUTSIDE
        for r in (row - 1, row, row + 1)
        for c in (col - 1, col, col + 1)
    )
    centre, others = around[4], [cell for cell in around[:4] + around[5:] if cell != OUTSIDE]
    if feature == CROSS:
        return (centre, around[1], around[7], around[3], around[5])
    if feature == COUNT:
        return (centre, sum(cell != 0 for cell in others))
    if feature == EQUAL:
        return (centre, others.count(centre))
    if feature == SINGLE:
        colours = sorted(set(others) - {0})
        return (centre, OUTSIDE if len(colours) > 1 else sum(colours))
    if feature == TURNED:
        return min(tuple(around[i] for i in turn) for turn in kernels.TURNS.tolist())
    return around

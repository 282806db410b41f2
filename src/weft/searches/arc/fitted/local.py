"""The rule that reads a cell and its neighbours: one-step cellular automata."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from weft.searches.arc.fitted import kernels
from weft.searches.arc.fitted.rule import (
    BASE,
    COLOUR,
    MAX_PARAMS,
    EncodedExamples,
    Examples,
    FittedRule,
    RuleFit,
    colour_decides,
    digit,
    sizes_equal,
)  # fmt: skip
from weft.searches.arc.ops.operator import BIT, ShapeEffect
from weft.searches.arc.values import Grid

NAMES = ("cross", "count", "equal", "single", "turned", "full")
SYMBOLS = "0123456789x"
SYMBOL_COST = (0, 0, 1000, 1585, 2000, 2322, 2585, 2807, 3000, 3170, 3322, 3459)
"""Cost of one symbol, by how many symbols the patterns use, in thousandths of a bit."""
Pattern = tuple[int, ...]


class Neighbours(FittedRule):
    """Parameters: feature, then the patterns that change their cell (pattern…, out), sorted.

    A pattern that changes test cells must occur in at least two training pairs, and a `turned` one
    also in the same orientation or in two others. A pattern that training never showed leaves its
    cell unchanged, but only on this evidence:
    - cells of its colour stayed in training, and every changing pattern around that colour occurs
      in at least two training pairs (so each pair is predicted by the others);
    - for 3×3 patterns also: its cross occurs in training, and cells with that cross stayed.
    Otherwise the rule is not fitted.
    """

    name = "neighbours"
    doc = (
        "One step of a cellular automaton: a cell's new colour depends on its `cross` (centre, "
        "up, down, left, right), its `count` (centre, and how many of 8 neighbours are not "
        "black), how many neighbours are `equal` to it, their `single` colour (0 none, x "
        "several), or its 3×3 neighbourhood, as it is (`full`) or in any orientation (`turned`). "
        "x is outside the grid. Cells whose neighbourhood is not listed stay."
    )
    shape = ShapeEffect.KEEP

    def propose(self, examples: Examples) -> Iterator[bytes]:
        if not sizes_equal(examples) or colour_decides(examples):
            return
        for feature in range(kernels.FEATURES):
            outcomes = _seen(feature, examples)
            if len(outcomes) > kernels.MAX_PATTERNS:
                continue
            params = bytearray((feature,))
            for pattern, (new, _) in sorted(outcomes.items()):
                if pattern[_centre(feature)] != new:
                    params += bytes((*pattern, new))
            yield bytes(params)

    def apply(self, params: bytes, value: Grid, given: Grid) -> Grid | None:
        feature, table = _table(params)
        cells = bytes(
            table.get(pattern_of(feature, value, at), old) for at, old in enumerate(value.cells)
        )
        return Grid(value.height, value.width, cells)

    def covers(self, params: bytes, examples: Examples) -> bool:
        feature = params[0]
        outcomes = _seen(feature, examples)
        centre = _centre(feature)
        stay = {pattern[centre] for pattern, (new, _) in outcomes.items() if pattern[centre] == new}
        doubtful = {
            pattern[centre]
            for pattern, (new, pairs) in outcomes.items()
            if pattern[centre] != new and len(pairs) == 1
        }
        calm = _calm(kernels.COARSE[feature], examples)
        rare = _seen_once(examples) if feature == kernels.TURNED else {}
        for value in examples.values[len(examples.expected) :]:
            for at, old in enumerate(value.cells):
                pattern = pattern_of(feature, value, at)
                if pattern in outcomes:
                    new, pairs = outcomes[pattern]
                    lying = rare.get(pattern, pattern_of(kernels.FULL, value, at))
                    if new != old and (
                        len(pairs) == 1 or lying != pattern_of(kernels.FULL, value, at)
                    ):
                        return False
                    continue
                if old not in stay or old in doubtful:
                    return False
                if calm is not None and pattern_of(kernels.COARSE[feature], value, at) not in calm:
                    return False
        return True

    def fit(self, view: EncodedExamples) -> RuleFit | None:
        params = np.empty(MAX_PARAMS, np.uint8)
        out = np.empty(2 * 902 * len(view.offsets), np.uint8)
        ends = np.zeros(2, np.int64)
        if not kernels.fit_neighbours(
            view.src, view.offsets, view.targets, view.target_offsets, params, out, ends
        ):
            return None
        fitted_params = params[: ends[0]].tobytes()
        return RuleFit(
            self.name, fitted_params, self.price(fitted_params), out[: ends[1]].tobytes()
        )

    def price(self, params: bytes) -> int:
        feature, table = _table(params)
        symbols = len({symbol for pattern in table for symbol in pattern})
        entry = kernels.LENGTHS[feature] * max(BIT, SYMBOL_COST[symbols]) + COLOUR
        return BASE + (2 + feature) * BIT + len(table) * entry

    def show(self, params: bytes) -> str:
        feature, table = _table(params)
        entries = ["".join(SYMBOLS[s] for s in p) + f":{new}" for p, new in table.items()]
        return " ".join([NAMES[feature], *entries])

    def read(self, text: str) -> bytes:
        name, *entries = text.split(" ")
        params = bytearray((NAMES.index(name),))
        for pattern, new in sorted(entry.split(":") for entry in entries):
            if len(pattern) != kernels.LENGTHS[params[0]]:
                raise ValueError(pattern)
            params += bytes((*(SYMBOLS.index(symbol) for symbol in pattern), digit(new)))
        return bytes(params)


def _seen(feature: int, examples: Examples) -> dict[Pattern, tuple[int, set[int]]]:
    """Return, for each pattern, what its cells become and the training pairs in which it occurs."""
    outcomes: dict[Pattern, tuple[int, set[int]]] = {}
    for e, (value, target) in enumerate(examples.pairs()):
        for at, new in enumerate(target.cells):
            pattern = pattern_of(feature, value, at)
            _, pairs = outcomes.get(pattern, (new, set()))
            outcomes[pattern] = (new, pairs | {e})
    return outcomes


def _seen_once(examples: Examples) -> dict[Pattern, Pattern]:
    """Return the `turned` patterns that training shows in one orientation only, with that one."""
    lying: dict[Pattern, set[Pattern]] = {}
    for value, _ in examples.pairs():
        for at in range(len(value.cells)):
            raw = pattern_of(kernels.FULL, value, at)
            lying.setdefault(pattern_of(kernels.TURNED, value, at), set()).add(raw)
    return {pattern: min(raws) for pattern, raws in lying.items() if len(raws) == 1}


def _calm(coarse: int, examples: Examples) -> set[Pattern] | None:
    """Return the patterns of a coarse feature whose cells never changed in training."""
    if coarse == kernels.NO_FEATURE:
        return None
    calm: set[Pattern] = set()
    moved: set[Pattern] = set()
    for value, target in examples.pairs():
        for at, new in enumerate(target.cells):
            pattern = pattern_of(coarse, value, at)
            (calm if value.cells[at] == new else moved).add(pattern)
    return calm - moved


def _table(params: bytes) -> tuple[int, dict[Pattern, int]]:
    step = kernels.LENGTHS[params[0]] + 1
    starts = range(1, len(params), step)
    return params[0], {tuple(params[at : at + step - 1]): params[at + step - 1] for at in starts}


def _centre(feature: int) -> int:
    return 4 if feature in (kernels.TURNED, kernels.FULL) else 0


def pattern_of(feature: int, grid: Grid, at: int) -> Pattern:
    """Return what a feature reads at a cell, as numbers from 0 to 10."""
    row, col = divmod(at, grid.width)
    around = tuple(
        grid.at(r, c) if 0 <= r < grid.height and 0 <= c < grid.width else kernels.OUTSIDE
        for r in (row - 1, row, row + 1)
        for c in (col - 1, col, col + 1)
    )
    centre, others = (
        around[4],
        [cell for cell in around[:4] + around[5:] if cell != kernels.OUTSIDE],
    )
    if feature == kernels.CROSS:
        return (centre, around[1], around[7], around[3], around[5])
    if feature == kernels.COUNT:
        return (centre, sum(cell != 0 for cell in others))
    if feature == kernels.EQUAL:
        return (centre, others.count(centre))
    if feature == kernels.SINGLE:
        colours = sorted(set(others) - {0})
        return (centre, kernels.OUTSIDE if len(colours) > 1 else sum(colours))
    if feature == kernels.CROSS_TURNED:
        symmetries = kernels.SYMMETRIES.tolist()
        return min(
            (centre, *(around[symmetry[n]] for n in (1, 3, 5, 7))) for symmetry in symmetries
        )
    if feature == kernels.TURNED:
        return min(tuple(around[i] for i in symmetry) for symmetry in kernels.SYMMETRIES.tolist())
    return around

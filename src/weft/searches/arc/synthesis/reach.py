"""Reachability: the fewest steps from a value to the target, by stage, shape and palette.

A value is summarised by a `ReachabilityState`: its stage, how its height and width relate to the
target's, and which of the target's colours it lacks. Operators declare what they can change, so
a table of fewest steps is computed by relaxation. It never overestimates, so pruning with it loses
no program. Tests check the declared facts against the operators.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np
import numpy.typing as npt

from weft.searches.arc.ops.operator import Operator, Palette, ShapeEffect
from weft.searches.arc.synthesis.language import LanguageEntry
from weft.searches.arc.values import Grid, ValueStage

RULES = ("shape", "palette", "stage")
NO_SHAPE = 9
"""Relation of a value without height and width."""
FAR = 99
HAS_ALL, IN_INPUT, NOWHERE = 0, 1, 2
"""Target colours that a value lacks: none; some, all in the input; some not in the input."""
BELOW, EQUAL, ABOVE = 0, 1, 2
Entry = Operator | LanguageEntry
Fact = tuple[int, int, ShapeEffect, Palette]


@dataclass(frozen=True, slots=True)
class ReachabilityState:
    """The state of a value for pruning. `relation` is 3 × height's + width's, or `NO_SHAPE`."""

    stage: ValueStage
    relation: int
    lack: int

    def key(self) -> tuple[int, int, int]:
        """Return the index into the table of fewest steps."""
        return int(self.stage), self.relation, self.lack

    @staticmethod
    def of_grid(grid: Grid, given: Grid, target: Grid) -> ReachabilityState:
        """Return the state of a grid relative to `target`."""
        relation = 3 * compare(grid.height, target.height) + compare(grid.width, target.width)
        return ReachabilityState(ValueStage.GRID, relation, lack_of(grid.cells, given, target))


def compare(value: int, target: int) -> int:
    """Return BELOW, EQUAL or ABOVE."""
    return (value > target) - (value < target) + 1


def lack_of(cells: bytes, given: Grid, target: Grid) -> int:
    """Return which of the target's colours are missing; black never is."""
    missing = set(target.cells) - set(cells) - {0}
    if not missing:
        return HAS_ALL
    return IN_INPUT if missing <= set(given.cells) else NOWHERE


def facts_of(
    operators: Sequence[Operator | LanguageEntry], prune: Sequence[str]
) -> tuple[Fact, ...]:
    """Return what each operator can do; without a pruning rule, anything in its respect."""
    shapes, palettes = "shape" in prune, "palette" in prune
    return tuple(
        (
            int(o.takes),
            int(o.gives),
            o.shape if shapes else ShapeEffect.ANY,
            o.palette if palettes else Palette.ANY,
        )
        for o in operators
    )


def fitted_fact(shape: ShapeEffect, prune: Sequence[str]) -> Fact:
    """Return what a fitted rule can do: any colours, and the shape that it declares."""
    shape = shape if "shape" in prune else ShapeEffect.ANY
    return (int(ValueStage.GRID), int(ValueStage.GRID), shape, Palette.ANY)


def table(
    facts: tuple[Fact, ...], given: Grid, target: Grid, prune: Sequence[str]
) -> npt.NDArray[np.int64]:
    """Return the fewest steps for each [stage, relation, lack], for one training pair."""
    at = 3 * compare(given.height, target.height) + compare(given.width, target.width)
    return _table(facts, at, tuple(rule for rule in RULES if rule in prune))


@cache
def _table(facts: tuple[Fact, ...], input_at: int, prune: tuple[str, ...]) -> npt.NDArray[np.int64]:
    stages = len(ValueStage)
    steps = np.full((stages, NO_SHAPE + 1, 3), FAR, np.int64)
    relations = (3 * EQUAL + EQUAL,) if "shape" in prune else tuple(range(NO_SHAPE))
    lacks = (HAS_ALL,) if "palette" in prune else (HAS_ALL, IN_INPUT, NOWHERE)
    for relation, lack in product(relations, lacks):
        steps[ValueStage.GRID, relation, lack] = 0
    changed = True
    while changed:
        changed = False
        for takes, gives, shape, palette in facts:
            for relation in range(NO_SHAPE + 1):
                for lack in range(3):
                    best = 1 + min(
                        int(steps[gives, r, k])
                        for r in _relations(gives, relation, shape, input_at)
                        for k in _lacks(lack, palette)
                    )
                    if best < steps[takes, relation, lack]:
                        steps[takes, relation, lack] = best
                        changed = True
    if "stage" not in prune:  # then a value's stage alone adds no steps
        steps[[stage for stage in ValueStage if stage is not ValueStage.GRID]] = 0
    return steps


def _relations(gives: int, relation: int, shape: ShapeEffect, input_at: int) -> Iterator[int]:
    """Yield the relations to the target that a result can have."""
    if gives != ValueStage.GRID:
        yield NO_SHAPE
    elif shape is ShapeEffect.INPUT:
        yield input_at
    elif relation == NO_SHAPE or shape is ShapeEffect.ANY:
        yield from range(NO_SHAPE)
    else:
        for height in _sides(relation // 3, shape):
            for width in _sides(relation % 3, shape):
                yield 3 * height + width


def _sides(side: int, shape: ShapeEffect) -> tuple[int, ...]:
    if shape is ShapeEffect.KEEP:
        return (side,)
    down = shape is ShapeEffect.SHRINK
    if side == (ABOVE if down else BELOW):
        return (BELOW, EQUAL, ABOVE)
    if side == EQUAL:
        return (EQUAL, BELOW if down else ABOVE)
    return (side,)


def _lacks(lack: int, palette: Palette) -> tuple[int, ...]:
    """Return the best lacks that a result can have; worse ones are never nearer."""
    if palette is Palette.ANY:
        return (HAS_ALL,)
    if palette is Palette.INPUT:
        return (NOWHERE,) if lack == NOWHERE else (HAS_ALL,)
    return (lack,)


def result_need(steps: npt.NDArray[np.int64], fact: Fact, state: tuple[int, int], at: int) -> int:
    """Return the fewest steps after applying an operator to a value in (relation, lack)."""
    _, gives, shape, palette = fact
    relation, lack = state
    return min(
        int(steps[gives, r, k])
        for r in _relations(gives, relation, shape, at)
        for k in _lacks(lack, palette)
    )

"""The rules by name, and the generation of puzzles.

A rule draws what is constant in a puzzle (its colours, a distance) and returns a function that
draws one pair. It is written for one direction and a black background; each puzzle is then rotated
or mirrored as a whole in one of 8 ways, and one in four gets a coloured background.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from concepts.draws import Draws, Retry
from concepts.grids import Grid, flip, turn

Pair = tuple[Grid, Grid]
Maker = Callable[[Draws], Pair]
Rule = Callable[[Draws], Maker]
TRAINING_PAIRS = 3
ATTEMPTS = 400
LARGEST = 30
COLOURED_GROUNDS = 25
"""Percentage of puzzles with a coloured background."""


@dataclass(frozen=True)
class Concept:
    """A rule with its name and group."""

    name: str
    group: str
    rule: Rule
    turns: bool = True
    """Whether puzzles may be rotated and mirrored."""
    grounds: bool = True
    """Whether the background may be coloured."""


CONCEPTS: dict[str, Concept] = {}


def concept(group: str, turns: bool = True, grounds: bool = True) -> Callable[[Rule], Rule]:
    """Register a rule."""

    def register(rule: Rule) -> Rule:
        name = rule.__name__
        assert name not in CONCEPTS, name
        CONCEPTS[name] = Concept(name, group, rule, turns, grounds)
        return rule

    return register


def puzzle_of(entry: Concept, number: int) -> list[Pair]:
    """Generate a puzzle: its training pairs, then its test."""
    for attempt in range(ATTEMPTS):
        key = f"{entry.name} {number} {attempt}"
        try:
            pairs = _pairs(entry.rule(Draws(key)), key)
            pairs = _varied(entry, pairs, Draws(f"{key} varied"))
        except Retry:
            continue
        if _is_sound(pairs):
            return pairs
    raise AssertionError(f"{entry.name} makes no puzzle in {ATTEMPTS} attempts")


def _pairs(maker: Maker, key: str) -> list[Pair]:
    return [_pair(maker, f"{key} {number}") for number in range(TRAINING_PAIRS + 1)]


def _pair(maker: Maker, key: str) -> Pair:
    for attempt in range(ATTEMPTS):
        try:
            source, target = maker(Draws(f"{key} {attempt}"))
        except Retry:
            continue
        if source != target and max(*map(len, (source, target, source[0], target[0]))) <= LARGEST:
            return source, target
    raise Retry


def _varied(entry: Concept, pairs: list[Pair], d: Draws) -> list[Pair]:
    """Rotate or mirror all grids in the same way, and perhaps colour the background."""
    quarters, mirrored, coloured = d.below(4), d.chance(50), d.chance(COLOURED_GROUNDS)
    ground = d.colours(1, sorted(_palette(pairs)))[0] if len(_palette(pairs)) < 10 else 0

    def vary(grid: Grid) -> Grid:
        if entry.turns:
            grid = turn(flip(grid) if mirrored else grid, quarters)
        if entry.grounds and coloured:
            swap = {0: ground, ground: 0}
            grid = [[swap.get(cell, cell) for cell in row] for row in grid]
        return grid

    return [(vary(a), vary(b)) for a, b in pairs]


def _palette(pairs: list[Pair]) -> set[int]:
    return {cell for pair in pairs for grid in pair for row in grid for cell in row} | {0}


def _is_sound(pairs: list[Pair]) -> bool:
    """Whether inputs differ, outputs vary, and the test's output has no unexplained colour."""
    *train, (source, target) = pairs
    known = _palette([(source, b) for _, b in train])
    inputs, outputs = ({str(pair[side]) for pair in pairs} for side in (0, 1))
    enough = len(inputs) == len(pairs) and len(outputs) > 1
    return enough and _palette([(target, target)]) - {0} <= known

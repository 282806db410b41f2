"""The action that draws a count beside an object, as a bar with that many cells.

    tally south out rest 3     from the middle of its lower side down
    tally east last place_east own   along its right side, from its lower end up

Tried only if targets add bars of different lengths and nothing else: `is_tallied`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from operator import or_

from weft.searches.arc.ops.objectparts import groups, holes_of
from weft.searches.arc.tables.colours import colour_of
from weft.searches.arc.tables.scene import SIDES, STEPS, Body, Drawn, Scene
from weft.searches.arc.values import Grid

TALLY = "tally"
OUT, OFF, FIRST, LAST = "out", "off", "first", "last"
HOW = (OUT, OFF, FIRST, LAST)
"""Outward from the middle of a side; the same with a gap; along it from its first or last cell."""
Cell = tuple[int, int]


def _before(side: str) -> Callable[[Scene, Body], int]:
    """Return a function that gives an object's place in order, counted towards a side from 1."""
    sign = 1 if side in ("south", "east") else -1
    axis = 0 if side in ("north", "south") else 1

    def place(scene: Scene, body: Body) -> int:
        own = body.box[axis] + body.box[axis + 2]
        return 1 + sum(sign * (o.box[axis] + o.box[axis + 2] - own) < 0 for o in scene.objects)

    return place


def _inside(scene: Scene, body: Body) -> int:
    """Count the other objects in the object's box."""
    box = scene.box_mask(*body.box)
    return sum(other is not body and not other.mask & ~box for other in scene.objects)


COUNTED: dict[str, Callable[[Scene, Body], int]] = {
    "rest": lambda _, body: body.mask.bit_count() - dict(body.layers)[body.colour].bit_count(),
    "colours": lambda _, body: len(body.layers),
    "holes": lambda _, body: len(holes_of(body.piece)),
    "cells": lambda _, body: body.mask.bit_count(),
    "around": _inside,
    **{f"place_{side}": _before(side) for side in SIDES},
}


def tally(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add a bar beside the object, with the length of a count."""
    side, how, measure, ink = words
    colour = colour_of(scene, body, ink)
    start = None if colour is None or not body.layers else _start(body, side, how)
    if colour is None or start is None:
        return None
    step = STEPS[side] if how in (OUT, OFF) else _along(side, how)
    count = COUNTED[measure](scene, body)
    cells = [(start[0] + n * step[0], start[1] + n * step[1]) for n in range(count)]
    if not all(0 <= r < scene.height and 0 <= c < scene.width for r, c in cells):
        return None
    mask = reduce(or_, (1 << (r * scene.width + c) for r, c in cells), 0)
    return Drawn(body.layers, ((colour, mask & ~body.mask),))


def _along(side: str, how: str) -> Cell:
    forth = 1 if how == FIRST else -1
    return (0, forth) if side in ("north", "south") else (forth, 0)


def _start(body: Body, side: str, how: str) -> Cell | None:
    """Return the first cell of a bar; None if the side has no middle cell but needs one."""
    top, left, bottom, right = body.box
    gap = 2 if how == OFF else 1
    line = {
        "north": top - gap, "south": bottom - 1 + gap, "west": left - gap, "east": right - 1 + gap,
    }[side]  # fmt: skip
    low, high = (left, right - 1) if side in ("north", "south") else (top, bottom - 1)
    if how in (OUT, OFF) and (low + high) % 2:
        return None
    place = {FIRST: low, LAST: high}.get(how, (low + high) // 2)
    return (line, place) if side in ("north", "south") else (place, line)


def is_tallied(scenes: Sequence[Scene], targets: Sequence[Grid]) -> bool:
    """Whether each target adds straight bars, at most one per object, and lengths differ."""
    lengths: set[int] = set()
    for scene, target in zip(scenes, targets, strict=True):
        bars = _bars(scene.grid, target)
        if not bars or len(bars) > len(scene.objects):
            return False
        lengths |= {len(bar) for bar in bars}
    return len(lengths) > 1


def _bars(grid: Grid, target: Grid) -> list[list[Cell]]:
    """Return the bars that a target adds to a grid; empty if it adds or changes anything else."""
    cells: dict[Cell, int] = {}
    for n, (old, new) in enumerate(zip(grid.cells, target.cells, strict=True)):
        if old != new:
            if old:
                return []
            cells[divmod(n, grid.width)] = new
    bars = groups(cells, eight=False)
    is_straight = all(1 in (len({r for r, _ in b}), len({c for _, c in b})) for b in bars)
    return bars if is_straight else []

"""The action of containers: their filling runs out of the openings, to the edge of the grid."""

from __future__ import annotations

from collections.abc import Sequence

from weft.searches.arc.tables.colours import colour_of
from weft.searches.arc.tables.scene import SIDES, STEPS, Body, Drawn, Scene

STRAIGHT, SPREAD = "straight", "spread"
SPILLS = (STRAIGHT, SPREAD)


def spill(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Fill the largest empty area in the box; draw lines through its openings to the edge.

    With `spread` there are also diagonal lines from both ends of an opening.
    """
    colour = colour_of(scene, body, words[1])
    cells = scene.once(body, "spill", words[0], lambda: _spilled(scene, body, words[0]))
    return None if colour is None or not cells else Drawn(body.layers, ((colour, cells),))


def _spilled(scene: Scene, body: Body, how: str) -> int:
    cells = inside = _largest(scene, scene.box_mask(*body.box) & ~body.mask)
    for side, edge in _edges(scene, body).items():
        step, opening = STEPS[side], inside & edge
        cells |= _beam(scene, opening, step)
        if how == SPREAD:
            for along in (_turned(step), _turned(_turned(_turned(step)))):
                ends = opening & ~scene.moved(opening, (-along[0], -along[1]))
                cells |= _beam(scene, ends, (step[0] + along[0], step[1] + along[1]))
    return cells


def _largest(scene: Scene, cells: int) -> int:
    """Return the largest 4-connected part of the cells; ties go to the first."""
    largest = 0
    while cells:
        grown, part = cells & -cells, 0
        while grown != part:
            part, grown = grown, scene.dilated(grown, False) & cells
        largest = max(largest, part, key=int.bit_count)
        cells &= ~part
    return largest


def _edges(scene: Scene, body: Body) -> dict[str, int]:
    """Return the outermost cells of the object's box on each side."""
    top, left, bottom, right = body.box
    boxes = (
        (top, left, top + 1, right),
        (bottom - 1, left, bottom, right),
        (top, left, bottom, left + 1),
        (top, right - 1, bottom, right),
    )
    return {side: scene.box_mask(*box) for side, box in zip(SIDES, boxes, strict=True)}


def _turned(step: tuple[int, int]) -> tuple[int, int]:
    """Return a step rotated by a quarter turn."""
    return step[1], -step[0]


def _beam(scene: Scene, front: int, step: tuple[int, int]) -> int:
    """Return the cells passed when `front` moves step by step to the edge."""
    cells = 0
    while front := scene.moved(front, step):
        cells |= front
    return cells

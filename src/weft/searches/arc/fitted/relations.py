"""Relations between the objects of a set: containment, contact, and shape in any orientation."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from weft.searches.arc.ops.objectparts import cells_of, shape_of
from weft.searches.arc.values import EMPTY, Piece

Shape = tuple[int, int, tuple[bool, ...]]
RELATIVE: tuple[str, ...] = ("touching", "inside", "around", "square", "solid", "tall", "forms")
"""Measures of `choose` besides an object's own."""
MOST = 40
"""In larger sets, contact and containment are not computed."""
SHAPES = 4096
"""Number of shapes whose forms are cached."""


def relations_of(objects: Sequence[Piece]) -> dict[str, list[int]]:
    """Relate all objects of a set with each other."""
    forms = [common_form(shape_of(piece)) for piece in objects]
    related = objects if len(objects) <= MOST else ()
    return {
        "touching": _touching(objects) if related else [0] * len(objects),
        "inside": [sum(_holds(o, p) for o in related if o is not p) for p in objects],
        "around": [sum(_holds(p, o) for o in related if o is not p) for p in objects],
        "square": [int(piece.height == piece.width) for piece in objects],
        "solid": [int(EMPTY not in piece.cells) for piece in objects],
        "tall": [int(piece.height > piece.width) for piece in objects],
        "forms": [forms.count(form) for form in forms],
    }


def _holds(outer: Piece, inner: Piece) -> bool:
    """Whether an object lies in the box of another."""
    return (
        outer.row <= inner.row
        and outer.col <= inner.col
        and inner.row + inner.height <= outer.row + outer.height
        and inner.col + inner.width <= outer.col + outer.width
    )


def _touching(objects: Sequence[Piece]) -> list[int]:
    """Return how many other objects each one touches, by sides or corners."""
    cells = [frozenset(cells_of(piece)) for piece in objects]
    near = [
        frozenset((r + v, c + u) for r, c in own for v in (-1, 0, 1) for u in (-1, 0, 1))
        for own in cells
    ]
    return [
        sum(not around.isdisjoint(other) for m, other in enumerate(cells) if m != n)
        for n, around in enumerate(near)
    ]


@lru_cache(maxsize=SHAPES)
def common_form(shape: Shape) -> Shape:
    """Return the smallest of a shape's 8 orientations."""
    height, width, cells = shape
    rows = [cells[r * width : (r + 1) * width] for r in range(height)]
    forms = []
    for _ in range(4):
        rows = [tuple(column) for column in zip(*rows[::-1], strict=True)]
        for lines in (rows, [row[::-1] for row in rows]):
            flat = tuple(cell for line in lines for cell in line)
            forms.append((len(lines), len(lines[0]), flat))
    return min(forms)

"""The action that continues a row of equal objects: each by the distance to the one before it."""

from __future__ import annotations

from collections.abc import Sequence

from weft.searches.arc.tables.scene import STEPS, Body, Drawn, Layer, Scene
from weft.searches.arc.values import Piece


def march(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add copies in a direction up to the edge, as far apart as it is from its equal behind it.

    An object without an equal behind it stays as it is.
    """
    (down, along), p = STEPS[words[0]], body.piece
    distance = min(
        (far for other in scene.objects if (far := _distance(other, body, (down, along)))),
        default=0,
    )
    layers, far = list[Layer](), distance
    while distance and (
        copy := scene.body(
            Piece(p.row + far * down, p.col + far * along, p.height, p.width, p.cells)
        ).layers
    ):
        layers += copy
        far += distance
    return Drawn(body.layers, tuple(layers))


def _distance(other: Body, body: Body, step: tuple[int, int]) -> int:
    """How many steps lead from an equal object to another; 0 where they do not."""
    p, q = other.piece, body.piece
    if (p.height, p.width, p.cells) != (q.height, q.width, q.cells):
        return 0
    rows, columns = q.row - p.row, q.col - p.col
    far = max(abs(rows), abs(columns))
    return far if (rows, columns) == (far * step[0], far * step[1]) else 0

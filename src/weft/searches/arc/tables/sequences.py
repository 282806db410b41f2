"""The action that continues a row of equal objects at the same distances."""

from __future__ import annotations

from collections.abc import Sequence

from weft.searches.arc.tables.scene import STEPS, Body, Drawn, Layer, Scene, cells_in_box
from weft.searches.arc.values import Piece


def march(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add copies in a direction up to the edge, as far apart as the object and its equal behind it.

    Without an equal behind it, the object stays as it is.
    """
    (down, along), p = STEPS[words[0]], body.piece
    equals = scene.equals.get(cells_in_box(p), ())
    distances = [_distance(other.piece, p, (down, along)) for other in equals]
    distance = min((far for far in distances if far), default=0)
    layers, far = list[Layer](), distance
    while distance and (copy := _copy(scene, p, far * down, far * along)):
        layers += copy
        far += distance
    return Drawn(body.layers, tuple(layers))


def _copy(scene: Scene, p: Piece, down: int, along: int) -> tuple[Layer, ...]:
    """Return the layers of a copy of an object; cells outside the grid are cut off."""
    return scene.body(Piece(p.row + down, p.col + along, p.height, p.width, p.cells)).layers


def _distance(before: Piece, piece: Piece, step: tuple[int, int]) -> int:
    """Return how many steps lead from an object to its equal; 0 if none do."""
    rows, columns = piece.row - before.row, piece.col - before.col
    far = max(abs(rows), abs(columns))
    return far if (rows, columns) == (far * step[0], far * step[1]) else 0

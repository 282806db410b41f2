"""The action that gives an object the shape of all objects together: what it lacks, others have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.searches.arc.tables.scene import Body, Drawn, Scene

LARGEST, MOST = 20, 20
"""Most rows or columns of a shape, and most objects that share one."""


def share(scene: Scene, body: Body, _: Sequence[str]) -> Drawn | None:
    """Add the cells the object lacks to have the shape of all objects together, in its own colour.

    The object stays if there is no such shape, or if the shape does not fit into the grid.
    """
    shape = scene.once(scene.objects[0], "share", "", lambda: shared_shape(scene))
    height, width = largest_box(scene)
    for down, along in _offsets(body, height, width):
        row, column = body.piece.row - down, body.piece.col - along
        is_inside = 0 <= row <= scene.height - height and 0 <= column <= scene.width - width
        copy = shape << (row * scene.width + column) if is_inside else 0
        if not body.mask & ~copy:
            lacking = copy & ~body.mask
            return Drawn(body.layers, ((body.colour, lacking),) if lacking else ())
    return Drawn(body.layers)


def shared_shape(scene: Scene) -> int:
    """Return the cells of all objects, laid over each other in the corner; 0 without a shape.

    The first object is the one with the most cells among those with the largest height and width.
    Each other object is placed where it shares the most cells with those before it; ties go to the
    first place.
    """
    height, width = largest_box(scene)
    whole = [o for o in scene.objects if (o.piece.height, o.piece.width) == (height, width)]
    if not whole or len(scene.objects) > MOST or max(height, width) > LARGEST:
        return 0
    shape = 0
    for body in sorted(scene.objects, key=lambda o: (o not in whole, -o.mask.bit_count())):
        corner = body.mask >> (body.piece.row * scene.width + body.piece.col)
        copies = [corner << (r * scene.width + c) for r, c in _offsets(body, height, width)]
        shape |= max(copies, key=lambda copy: (copy & shape).bit_count())
    return shape


def largest_box(scene: Scene) -> tuple[int, int]:
    """Return the largest height and the largest width of any object."""
    pieces = [body.piece for body in scene.objects]
    return max(piece.height for piece in pieces), max(piece.width for piece in pieces)


def _offsets(body: Body, height: int, width: int) -> Iterator[tuple[int, int]]:
    """Yield the offsets at which an object fits into a box, row by row."""
    for down in range(height - body.piece.height + 1):
        for along in range(width - body.piece.width + 1):
            yield down, along

"""Actions that complete an object: to a symmetric one, or to a larger one it is a part of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_

from weft.searches.arc.tables.images import turned
from weft.searches.arc.tables.scene import Body, Drawn, Layer, Scene, places
from weft.searches.arc.values import Piece

Centre = tuple[int, int]
"""The sums of the rows and of the columns of any cell and its image after half a turn."""
Image = tuple[str, Body]
"""The name of a transformation, and the transformed object in the corner of the grid."""
SYMMETRIES: dict[str, tuple[str, ...]] = {
    "across": ("across",), "down": ("down",), "half": ("half",),
    "quarter": ("half", "left", "right"), "fourfold": ("half", "across", "down"),
    "eightfold": ("half", "left", "right", "across", "down", "transposed", "slanted"),
}  # fmt: skip
"""The transformations under which a symmetric object is unchanged."""
LARGEST = 20
"""Most rows or columns of an object that is completed."""
POSITIONS = ("plain", *SYMMETRIES["eightfold"])


def complete(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add the cells the object lacks to be symmetric, in its own colours or in a given colour."""
    how, *named = words
    if not named:
        whole = _completed(scene, body, how)
        scene.once(body, "complete", how, lambda: _cells(whole.below))
        return whole
    lacking = scene.once(body, "complete", how, lambda: _cells(_completed(scene, body, how).below))
    return Drawn(body.layers, ((int(named[0]), lacking),) if lacking else ())


def _cells(layers: Sequence[Layer]) -> int:
    return reduce(or_, (mask for _, mask in layers), 0)


def _completed(scene: Scene, body: Body, which: str) -> Drawn:
    """Add the cells the object lacks, in its own colours; let it stay if no centre is possible.

    The centre is the one in the object's box that needs the fewest cells; ties go to the nearest to
    the middle of the box, then to the first. About a centre, at least half of the cells must have
    their first image in the object, no image may have another colour than the object there, and
    none may leave the grid.
    """
    images = [(how, _image(scene, body, how)) for how in SYMMETRIES[which]]
    known = [(how, image) for how, image in images if image is not None]
    if len(known) < len(images) or max(body.piece.height, body.piece.width) > LARGEST:
        return Drawn(body.layers)
    best, least = tuple[Layer, ...](), None
    for distance, centre in _centres(body, which):
        layers = _lacking(scene, body, known, centre)
        if layers is not None:
            cells = _cells(layers).bit_count()
            if least is None or (cells, distance, centre) < least:
                best, least = layers, (cells, distance, centre)
    return Drawn(body.layers, best)


def restore(scene: Scene, body: Body, _: Sequence[str]) -> Drawn | None:
    """Add the cells the object lacks to be a copy of the largest object that it is a part of.

    That object must have several colours. Copies have eight orientations, and only black cells are
    added. The object stays if there is no such copy.
    """
    size, colours = body.mask.bit_count(), {colour for colour, _ in body.layers}
    larger = [o for o in scene.objects if o.mask.bit_count() > size and len(o.layers) > 1]
    for other in sorted(larger, key=lambda other: -other.mask.bit_count()):
        if colours <= {colour for colour, _ in other.layers}:
            for how in POSITIONS:
                added = _copy_over(scene, body, _image(scene, other, how))
                if added is not None:
                    return Drawn(body.layers, added)
    return Drawn(body.layers)


def _copy_over(scene: Scene, body: Body, image: Body | None) -> tuple[Layer, ...] | None:
    """Return what the first copy of `image` that contains the object adds; None without one."""
    layers = dict(image.layers) if image is not None else {}
    if image is None or not layers:
        return None
    colour, mask = min(body.layers, key=lambda own: (layers[own[0]].bit_count(), own[0]))
    row, column = divmod(next(places(mask)), scene.width)
    for place in places(layers[colour]):
        down, along = row - place // scene.width, column - place % scene.width
        copy = scene.shifted(image, down, along)
        if copy is None or any(own & ~dict(copy)[ink] for ink, own in body.layers):
            continue
        added = tuple((ink, cells & ~body.mask) for ink, cells in copy)
        if not any(cells & scene.ink for _, cells in added):
            return tuple(layer for layer in added if layer[1])
    return None


def _image(scene: Scene, body: Body, how: str) -> Body | None:
    """Return a transformed object in the corner of the grid; None if it is too large."""
    piece = turned(body.piece, "transposed" if how == "slanted" else how)
    if how == "slanted":
        piece = turned(piece, "half")
    if piece.height > scene.height or piece.width > scene.width:
        return None
    return scene.body(Piece(0, 0, piece.height, piece.width, piece.cells))


def _centres(body: Body, which: str) -> Iterator[tuple[int, Centre]]:
    """Yield a symmetry's possible centres in the object's box, with distances from the middle."""
    top, left, bottom, right = body.box
    rows = range(2 * top, 2 * bottom - 1) if which != "across" else (top + bottom - 1,)
    columns = range(2 * left, 2 * right - 1) if which != "down" else (left + right - 1,)
    step = 2 if "left" in SYMMETRIES[which] else 1
    for row in rows:
        for column in columns:
            if (row + column) % step == 0:
                distance = abs(row - top - bottom + 1) + abs(column - left - right + 1)
                yield distance, (row, column)


def _lacking(
    scene: Scene, body: Body, images: Sequence[Image], centre: Centre
) -> tuple[Layer, ...] | None:
    """Return what the object's images about a centre add; None if the centre is not possible."""
    own, lacking = dict(body.layers), list[Layer]()
    for n, (how, image) in enumerate(images):
        layers = scene.shifted(image, *_corner(body.piece, how, *centre))
        if layers is None:
            return None
        present = 0
        for colour, mask in layers:
            if mask & body.mask & ~own[colour]:
                return None
            present += (mask & body.mask).bit_count()
            lacking.append((colour, mask & ~body.mask))
        if n == 0 and 2 * present < body.mask.bit_count():
            return None
    return tuple(layer for layer in lacking if layer[1])


def _corner(piece: Piece, how: str, rows: int, columns: int) -> tuple[int, int]:
    """Return the corner of an image about a centre."""
    sum_, difference = (rows + columns) // 2, (rows - columns) // 2
    row, column = piece.row, piece.col
    last_row, last_column = row + piece.height - 1, column + piece.width - 1
    return {
        "across": (row, columns - last_column),
        "down": (rows - last_row, column),
        "half": (rows - last_row, columns - last_column),
        "transposed": (column + difference, row - difference),
        "slanted": (sum_ - last_column, sum_ - last_row),
        "left": (sum_ - last_column, row - difference),
        "right": (column + difference, sum_ - last_row),
    }[how]

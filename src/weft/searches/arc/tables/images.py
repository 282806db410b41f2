"""Actions that turn, mirror or copy an object."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import or_

from weft.searches.arc.tables.colours import OWN
from weft.searches.arc.tables.scene import STEPS, Body, Drawn, Layer, Scene
from weft.searches.arc.tables.sides import goal_in_line, goal_of, side_of, side_towards
from weft.searches.arc.values import Piece

IMAGES: dict[str, tuple[tuple[bool, bool], ...]] = {
    "across": ((False, True),), "down": ((True, False),), "half": ((True, True),),
    "fourfold": ((False, True), (True, False), (True, True)),
}  # fmt: skip


def turn(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Rotate or mirror the object in its box; rotate by a quarter turn about the middle."""
    return Drawn(scene.body(turned(body.piece, words[0])).layers)


def turned(piece: Piece, how: str) -> Piece:
    """Rotate or mirror an object in its box."""
    h, w = piece.height, piece.width
    rows = [piece.cells[r * w : (r + 1) * w] for r in range(h)]
    if how in ("across", "half"):
        rows = [row[::-1] for row in rows]
    if how in ("down", "half"):
        rows = rows[::-1]
    if how == "transposed":
        return Piece(piece.row, piece.col, w, h, b"".join(piece.cells[c::w] for c in range(w)))
    if how in ("left", "right"):  # about its middle
        lines = [piece.cells[c::w] for c in range(w)]
        lines = lines[::-1] if how == "left" else [line[::-1] for line in lines]
        row, column = piece.row + (h - w) // 2, piece.col + (w - h) // 2
        return Piece(row, column, w, h, b"".join(lines))
    return Piece(piece.row, piece.col, h, w, b"".join(rows))


def mirror(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Move to the other side of an object in line, mirrored at its near or far edge."""
    goal = goal_in_line(scene, body, words[1])
    side = None if goal is None else side_towards(body, goal)
    if goal is None or side is None:
        return None
    (down, along), (top, left, bottom, right) = STEPS[side], goal.box
    is_first = (down + along > 0) == (words[0] == "near")
    if down:
        return _inside(scene, _mirrored(body.piece, 2 * (top if is_first else bottom - 1), None))
    return _inside(scene, _mirrored(body.piece, None, 2 * (left if is_first else right - 1)))


def _mirrored(p: Piece, rows: int | None, columns: int | None) -> Piece:
    """Mirror an object so that the rows, or columns, of a cell and its image have the given sum."""
    row, column, cells = p.row, p.col, p
    if rows is not None:
        row, cells = rows - p.row - p.height + 1, turned(cells, "down")
    if columns is not None:
        column, cells = columns - p.col - p.width + 1, turned(cells, "across")
    return Piece(row, column, p.height, p.width, cells.cells)


def _inside(scene: Scene, piece: Piece) -> Drawn | None:
    """Draw an object if it lies in the grid; None otherwise."""
    is_inside = (
        0 <= piece.row <= scene.height - piece.height
        and 0 <= piece.col <= scene.width - piece.width
    )
    return Drawn(scene.body(piece).layers) if is_inside else None


def reflect(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add the object's mirror image on a side."""
    side, p = side_of(scene, body, words[0]), body.piece
    if side is None:
        return None
    down, along = STEPS[side]
    image = turned(p, "down" if down else "across")
    image = Piece(p.row + down * p.height, p.col + along * p.width, p.height, p.width, image.cells)
    return Drawn(body.layers, scene.body(image).layers)


def copies(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add copies on a side until one would leave the grid or meet something."""
    side, gap = side_of(scene, body, words[0]), int(words[1])
    if side is None:
        return None
    down, along = STEPS[side]
    down, along = down * (body.piece.height + gap), along * (body.piece.width + gap)
    layers, others, far = list[Layer](), scene.others(body), 1
    while (copy := scene.shifted(body, far * down, far * along)) is not None:
        if any(mask & others for _, mask in copy):
            break
        layers += copy
        far += 1
    return Drawn(body.layers, tuple(layers))


def beside(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add one copy on a side, in a colour, if it lies in the grid."""
    (down, along), gap = STEPS[words[0]], int(words[1])
    height, width = body.piece.height + gap, body.piece.width + gap
    copy = scene.shifted(body, down * height, along * width)
    if copy is None:
        return None
    inked = copy if words[2] == OWN else tuple((int(words[2]), mask) for _, mask in copy)
    return Drawn(body.layers, inked)


def tile(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add copies on a side up to the edge of the grid, the last one cut off."""
    (down, along), gap, p = STEPS[words[0]], int(words[1]), body.piece
    down, along = down * (p.height + gap), along * (p.width + gap)
    layers, far = list[Layer](), 1
    while copy := scene.body(
        Piece(p.row + far * down, p.col + far * along, p.height, p.width, p.cells)
    ).layers:
        layers += copy
        far += 1
    return Drawn(body.layers, tuple(layers))


def trail(scene: Scene, body: Body, _: Sequence[str]) -> Drawn | None:
    """Add copies up to the edge, where a mark lies on the first copy, in the mark's colour."""
    below: tuple[Layer, ...] = ()
    for mark in scene.objects:
        if mark.colour != body.colour and mark.mask.bit_count() < body.mask.bit_count():
            below += _copies_from(scene, body.mask, mark)
    return Drawn(body.layers, below) if below else None


def _copies_from(scene: Scene, mask: int, mark: Body) -> tuple[Layer, ...]:
    """Return copies of a mask in a line, the first at the farthest place that contains the mark."""
    for step in STEPS.values():
        copies = _moved_masks(scene, mask, step)
        with_mark = [
            n for n, copy in enumerate(copies, 1) if not (copy & mask or mark.mask & ~copy)
        ]
        if with_mark:
            cells = reduce(or_, copies[with_mark[-1] - 1 :: with_mark[-1]])
            return ((mark.colour, cells),)
    return ()


def _moved_masks(scene: Scene, mask: int, step: tuple[int, int]) -> list[int]:
    """Return a mask moved by one step, two and so on, until nothing of it is left."""
    masks = []
    while mask := scene.moved(mask, step):
        masks.append(mask)
    return masks


def image(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add the object's mirror images about the middle of another, or where its lines cross."""
    goal = goal_of(scene, body, words[1])
    if goal is None or (goal.colour == body.colour and words[1].isdigit()):
        return None
    row, column = _middle_sums(scene, goal)
    below: tuple[Layer, ...] = ()
    for has_rows, has_columns in IMAGES[words[0]]:
        sums = (row if has_rows else None, column if has_columns else None)
        below += scene.body(_mirrored(body.piece, *sums)).layers
    return Drawn(body.layers, below)


def axis(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add the object's mirror image across a straight line: row, column or diagonal."""
    goal = goal_of(scene, body, words[0])
    if goal is None or (goal.colour == body.colour and words[0].isdigit()):
        return None
    image = _across_line(body.piece, goal)
    return None if image is None else Drawn(body.layers, scene.body(image).layers)


def _across_line(p: Piece, line: Body) -> Piece | None:
    """Mirror an object at a line; None if `line` is not a straight line."""
    (top, left, bottom, right), cells = line.box, line.mask.bit_count()
    if cells == 1 or cells < max(bottom - top, right - left):
        return None
    if bottom - top == 1:
        return _mirrored(p, 2 * top, None)
    if right - left == 1:
        return _mirrored(p, None, 2 * left)
    if cells != bottom - top or cells != right - left:
        return None
    image = turned(p, "transposed")
    if line.piece.cells[0] == line.colour:  # falling
        return Piece(p.col + top - left, p.row + left - top, p.width, p.height, image.cells)
    if line.piece.cells[right - left - 1] != line.colour:
        return None
    last = top + right - 1
    row, column = last - p.col - p.width + 1, last - p.row - p.height + 1
    return Piece(row, column, p.width, p.height, turned(image, "half").cells)


def _middle_sums(scene: Scene, body: Body) -> tuple[int, int]:
    """Return twice the middle row and column; if exactly one row or column is full, that one."""
    top, left, bottom, right = body.box
    rows = [r for r in range(top, bottom) if not scene.box_mask(r, left, r + 1, right) & ~body.mask]
    columns = [
        c for c in range(left, right) if not scene.box_mask(top, c, bottom, c + 1) & ~body.mask
    ]
    return (
        2 * rows[0] if len(rows) == 1 else top + bottom - 1,
        2 * columns[0] if len(columns) == 1 else left + right - 1,
    )

"""Operators that draw a grid's template again elsewhere: facts and plain definitions.

A blob is an 8-connected component of cells that are not background: neither of the grid's most
common colour, nor in a row or column of a single colour. Templates are the blobs with the most
colours, at least two; everything else marks where copies go.
"""

from __future__ import annotations

from collections.abc import Iterator

from weft.searches.arc.codes import templates as k
from weft.searches.arc.ops.moves import most_common
from weft.searches.arc.ops.objectparts import Cell, commonest, grid_cells, groups
from weft.searches.arc.ops.operator import Operator, OperatorFamily, ShapeEffect
from weft.searches.arc.values import Grid, Value

Cells = dict[Cell, int]


def blobs(grid: Grid) -> list[Cells]:
    """Return the blobs of a grid, in scan order of their first cells."""
    rows, back = grid.rows(), most_common(grid)
    columns = [list(line) for line in zip(*rows, strict=True)]
    colours = {
        (r, c): colour
        for (r, c), colour in grid_cells(grid).items()
        if colour != back and len(set(rows[r])) > 1 and len(set(columns[c])) > 1
    }
    parts = groups(dict.fromkeys(colours, 1), eight=True)
    return [{cell: colours[cell] for cell in sorted(group)} for group in parts]


def _colours(blob: Cells) -> int:
    return len(set(blob.values()))


def copies(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Draw each template wherever a part of it recurs.

    The part is first all cells but those of its most common colour, then exactly those; at a match,
    the other cells are background, outside, or already right, and at least one is background.
    Larger copies (scales 4, 3, 2) come first, then the eight symmetries by number, then scan order.
    Cells of a template or of a part that matched are not matched again. INSIDE reduces a template
    to the box of its most common colour; ALONE draws the copies on bare background. Returns None if
    there is no copy.
    """
    assert isinstance(value, Grid)
    parts = blobs(value)
    most = max(map(_colours, parts), default=0)
    if most < 2:
        return None
    chosen = [_inside(blob) if p & k.INSIDE else blob for blob in parts if _colours(blob) == most]
    cells, back = grid_cells(value), most_common(value)
    used = {cell for blob in chosen for cell in blob}
    canvas = dict.fromkeys(cells, back) if p & k.ALONE else dict(cells)
    drawn = False
    for blob in chosen:
        main = commonest(blob.values())
        for of_main in (False, True):
            for image in _images(blob):
                part = {cell for cell, colour in image.items() if (colour == main) == of_main}
                for copy in _placed(image, part, cells, back, used):
                    canvas |= {cell: colour for cell, colour in copy.items() if cell in cells}
                    drawn = True
    return Grid(value.height, value.width, bytes(canvas.values())) if drawn else None


def _inside(blob: Cells) -> Cells:
    """Return the cells of a blob inside the box of its most common colour."""
    main = commonest(blob.values())
    rows = [r for (r, _), colour in blob.items() if colour == main]
    columns = [c for (_, c), colour in blob.items() if colour == main]
    return {
        (r, c): colour
        for (r, c), colour in blob.items()
        if min(rows) <= r <= max(rows) and min(columns) <= c <= max(columns)
    }


def _images(blob: Cells) -> Iterator[Cells]:
    """Yield a blob in all sizes and orientations, relative to its box's corner, in scan order."""
    top, left = min(r for r, _ in blob), min(c for _, c in blob)
    bottom, right = max(r for r, _ in blob), max(c for _, c in blob)
    for size in range(k.LARGEST, 0, -1):
        for symmetry in range(8):
            image: Cells = {}
            for (r, c), colour in blob.items():
                y = bottom - r if symmetry & 2 else r - top
                x = right - c if symmetry & 1 else c - left
                y, x = (x, y) if symmetry & 4 else (y, x)
                for i in range(size * size):
                    image[y * size + i // size, x * size + i % size] = colour
            yield dict(sorted(image.items()))


def _placed(
    image: Cells, part: set[Cell], cells: Cells, back: int, taken: set[Cell]
) -> Iterator[Cells]:
    """Yield all copies of an image whose part matches; the matched cells become taken."""
    if not part:
        return
    ordered = sorted(part)
    first = ordered[0]
    for (row, col), colour in cells.items():
        if colour != image[first]:
            continue  # rejects most places before a copy is built for them
        down, right = row - first[0], col - first[1]
        known = [(r + down, c + right) for r, c in ordered]
        pairs = [(cells.get(cell), image[at]) for cell, at in zip(known, ordered, strict=True)]
        if any(here != new for here, new in pairs) or any(cell in taken for cell in known):
            continue
        copy = {(r + down, c + right): colour for (r, c), colour in image.items()}
        rest = [(cells[cell], copy[cell]) for cell in copy if cell in cells]
        if all(old in (back, new) for old, new in rest) and any(old == back for old, _ in rest):
            taken.update(known)
            yield copy


def stamp(value: Value, given: Grid, p: int, q: int) -> Value | None:
    """Replace every other blob of one colour by the template, centred on it.

    The template is the blob with the most colours, then the most cells, then the first. Returns
    None if there are no such blobs, or if one has no common centre with the template.
    """
    assert isinstance(value, Grid)
    parts = blobs(value)
    if not parts or max(map(_colours, parts)) < 2:
        return None
    template = max(parts, key=lambda blob: (_colours(blob), len(blob)))
    marks = [blob for blob in parts if _colours(blob) == 1]
    canvas, back = grid_cells(value), most_common(value)
    for mark in marks:
        canvas |= dict.fromkeys(mark, back)
    top, left, bottom, right = _box(template)
    for mark in marks:
        above, before, below, after = _box(mark)
        down, along = above + below - top - bottom, before + after - left - right
        if down % 2 or along % 2:
            return None
        for (r, c), colour in template.items():
            cell = r + down // 2, c + along // 2
            if cell in canvas:
                canvas[cell] = colour
    return Grid(value.height, value.width, bytes(canvas.values())) if marks else None


def _box(blob: Cells) -> tuple[int, int, int, int]:
    rows, columns = [r for r, _ in blob], [c for _, c in blob]
    return min(rows), min(columns), max(rows), max(columns)


_copies = OperatorFamily(k.COPIES, copies, shape=ShapeEffect.KEEP)
_stamp = OperatorFamily(k.STAMP, stamp, shape=ShapeEffect.KEEP)
OPERATORS: tuple[Operator, ...] = (
    _copies("complete_copies", 0, 0, 6,
        "Complete partial copies of the blobs with the most colours, in any orientation and size."),
    _copies("complete_copies_inside", k.INSIDE, 0, 7,
            "The same, using only what lies in the box of a blob's main colour."),
    _copies("copies_alone", k.ALONE, 0, 7,
            "The copies that `complete_copies` draws, on the background alone."),
    _stamp("stamp_on_marks", 0, 0, 6,
           "Centre the blob with the most colours on every blob of one colour."),
)  # fmt: skip

"""The measures of a scene's objects: columns of numbers, one number per object."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise

from weft.searches.arc.fitted.choose import MEASURES, measurements_of
from weft.searches.arc.ops.objectparts import cells_of
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.tables.scene import Body, Scene

THRESHOLD, AREA, OVERLAPS = ">=", "area", "overlaps"
"""`area` is the kind of a body: 1 for black areas, 0 for objects."""
DERIVED = ("most", "least", "odd", "even", "rank", "place")
RELATIONS = (
    "touching", "inside", "around", "in_row", "in_column", "square", "solid", "tall",
    "vertices",
)  # fmt: skip
NUMBERS = ("colour", *MEASURES, *RELATIONS)
LIMITS = range(1, 11)
BESIDE = {colour: f"beside_{colour}" for colour in range(1, 10)}
"""Column of each colour: whether the colour touches an object by sides."""


def columns_of(scene: Scene) -> dict[str, list[int]]:
    """Return the measures of all objects; computed once per scene."""
    if not scene.columns:
        scene.columns = _columns_of(scene)
    return scene.columns


def _columns_of(scene: Scene) -> dict[str, list[int]]:
    measured = measurements_of([body.piece for body in scene.bodies], scene.grid) or {}
    numbers = {"colour": [body.colour for body in scene.bodies], **measured, **_relations(scene)}
    first = len(scene.bodies) - scene.areas
    kinds = [int(n >= first) for n in range(len(scene.bodies))]
    of_all = {**_beside(scene), OVERLAPS: _overlaps(scene), AREA: kinds}
    if not scene.is_mixed:
        return {**_derived(numbers), **of_all}
    of_objects = _derived({name: values[:first] for name, values in numbers.items()})
    of_rooms = _derived({name: values[first:] for name, values in numbers.items()})
    return {name: values + of_rooms[name] for name, values in of_objects.items()} | of_all


def _derived(numbers: Mapping[str, list[int]]) -> dict[str, list[int]]:
    """Return the columns of numbers, and those that compare them."""
    columns = dict(numbers)
    for name, values in numbers.items():
        columns[f"most_{name}"] = [int(v == max(values) != min(values)) for v in values]
        columns[f"least_{name}"] = [int(v == min(values) != max(values)) for v in values]
        columns[f"odd_{name}"] = [int(values.count(v) == 1) for v in values]
        columns[f"even_{name}"] = [v % 2 for v in values]
        ranked = sorted(set(values))
        columns[f"rank_{name}"] = [ranked[::-1].index(v) for v in values]
        columns[f"place_{name}"] = [ranked.index(v) for v in values]
        if name != "colour":
            for limit in LIMITS:
                columns[f"{name}{THRESHOLD}{limit}"] = [int(v >= limit) for v in values]
    return columns


def _relations(scene: Scene) -> dict[str, list[int]]:
    touching, inside, around, in_row, in_column = [], [], [], [], []
    for body in scene.bodies:
        others = [other for other in scene.objects if other is not body]
        near = scene.dilated(body.mask, True)
        touching.append(sum(bool(near & other.mask) for other in others))
        top, left, bottom, right = body.box
        box = scene.box_mask(*body.box)
        around.append(sum(not other.mask & ~box for other in others))
        inside.append(sum(not body.mask & ~scene.box_mask(*other.box) for other in others))
        in_row.append(sum(o.box[0] < bottom and top < o.box[2] for o in others))
        in_column.append(sum(o.box[1] < right and left < o.box[3] for o in others))
    square = [int(b.piece.height == b.piece.width) for b in scene.bodies]
    solid = [int(b.mask == scene.box_mask(*b.box)) for b in scene.bodies]
    tall = [int(b.piece.height > b.piece.width) for b in scene.bodies]
    vertices = [_vertices(body) for body in scene.bodies]
    return {
        "touching": touching, "inside": inside, "around": around, "in_row": in_row,
        "in_column": in_column, "square": square, "solid": solid, "tall": tall,
        "vertices": vertices,
    }  # fmt: skip


def _beside(scene: Scene) -> dict[str, list[int]]:
    """Return, for each colour, whether it touches each object by sides."""
    around = [scene.dilated(body.mask, False) & ~body.mask for body in scene.bodies]
    return {
        name: [int(bool(cells & scene.masks[colour])) for cells in around]
        for colour, name in BESIDE.items()
    }


def _overlaps(scene: Scene) -> list[int]:
    """Return, for each object, whether an earlier one shares cells with it."""
    masks = [body.mask for body in scene.bodies]
    return [int(any(mask & other for other in masks[:n])) for n, mask in enumerate(masks)]


def _vertices(body: Body) -> int:
    """Count the corners of an object's outline, including those of holes."""
    shape, cells = body.piece, cells_of(body.piece)
    rows = [
        [int(bool(cells.get((shape.row + r, shape.col + c)))) for c in range(-1, shape.width + 1)]
        for r in range(-1, shape.height + 1)
    ]
    count = 0
    for upper, lower in pairwise(rows):
        for (a, b), (c, d) in zip(pairwise(upper), pairwise(lower), strict=True):
            count += 1 if (a + b + c + d) % 2 else 2 if a == d != b == c else 0
    return count


def column_price(column: str) -> int:
    """Return the price of naming a column."""
    if column in ("colour", AREA):
        return 3 * BIT
    if column in BESIDE.values():
        return 9 * BIT
    derived = column.split("_", 1)[0] in DERIVED
    return 6 * BIT + (2 * BIT if derived else 3 * BIT if THRESHOLD in column else 0)


def check_column(column: str) -> None:
    """Raise ValueError if there is no such column."""
    if column not in _KNOWN:
        raise ValueError(column)


_KNOWN = frozenset(
    (
        AREA,
        OVERLAPS,
        *BESIDE.values(),
        *NUMBERS,
        *(f"{derived}_{name}" for derived in DERIVED for name in NUMBERS),
        *(f"{name}{THRESHOLD}{n}" for name in NUMBERS if name != "colour" for n in LIMITS),
    )
)

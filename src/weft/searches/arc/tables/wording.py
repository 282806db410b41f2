"""The meanings of the words of tables, for the language page: actions, directions, measures."""

from __future__ import annotations

ACTION_WORDS: dict[str, str] = {
    "stay": "stays as it is",
    "gone": "disappears",
    "slide": "moves in a direction until something is in its way",
    "edge": "moves in a direction to the edge of the grid",
    "shift": "moves by a number of rows and columns",
    "by": "moves in a direction by its `height`, `width`, `cells` or `colours`, or by `one` cell",
    "meet": "moves along its row or column to the nearest object of a colour, the `nearest` object "
    "or the `largest`",
    "pile": "moves like `meet`, but stops behind objects of its own colour",
    "align": "moves so that the `top`, `bottom`, `left` or `right` of its box is aligned with that "
    "of another object",
    "settle": "moves to the centre of the `grid`, or of the bounding box of a colour",
    "pack": "falls in a direction with the objects of its colour, through all others",
    "dock": "moves so that its cells of another colour cover objects equal to them, `plain` or "
    "mirrored (`across`, `down`, `half`)",
    "mirror": "moves to the other side of another object, mirrored at its `near` or `far` edge",
    "paint": "gets a colour",
    "turn": "is mirrored (`across`, `down`, `transposed`) or rotated (`half`, `left`, `right`) in "
    "place",
    "reflect": "adds its mirror image on a side",
    "copies": "adds copies on a side, with a gap of 0 or 1",
    "beside": "adds one copy on a side, with a gap of 0 or 1, in a colour",
    "tile": "adds copies up to the edge, the last one cropped",
    "image": "adds its mirror images (`across`, `down`, `half`, `fourfold`) about the centre of "
    "another object, or about the point where lines cross",
    "axis": "adds its mirror image on the other side of another object that is a straight line: a "
    "row, a column or a diagonal",
    "trail": "adds copies up to the edge, in the colour of each smaller object that marks where "
    "the first copy lies",
    "march": "adds copies in a direction up to the edge, as far apart as it is from the nearest "
    "equal object behind it; without one it stays as it is",
    "complete": "adds the cells that make it symmetric (`across`, `down`, `half`, `quarter`, "
    "`fourfold`, `eightfold`), about the centre that needs the fewest, in its own colours "
    "or in a colour",
    "restore": "adds the cells that make it a copy, in any of 8 orientations, of the largest "
    "multi-coloured object that it matches in part",
    "share": "adds the cells that give it the shape of all objects together, each laid over the "
    "others where most cells agree",
    "imitate": "becomes a larger object (the nearest of a colour, or the `largest`), centred where "
    "it was, in its `own` colour or in the `same` colours as that object",
    "ray": "draws lines in a direction or along its `row`, `column`, `cross`, `diagonals` or "
    "`star`, or along its middle row and column only (`mid_row`, `mid_column`, `mid_cross`), in a "
    "colour, until something is in the way",
    "beam": "draws the same lines up to the edge, below other objects",
    "cut": "draws the same lines up to the edge, above other objects",
    "reach": "draws a line in a direction, as long as one of its measures",
    "tally": "draws a bar on a side: from the middle of the side `out`, with a gap (`off`), or "
    "along it from its `first` or `last` cell; as long as its cells besides its colour (`rest`), "
    "its `colours`, `holes` or `cells`, the objects in its box (`around`), or its place among the "
    "objects, counted towards a side (`place_east`)",
    "link": "draws lines along its `row`, `column` or more to `any` object or to one of the `same` "
    "colour",
    "elbow": "draws a line with one bend to another object, along its `row` or its `column` first",
    "crawl": "draws a line to an object of a colour, which turns where something is in its way, at "
    "most four times: with the fewest turns, then the fewest cells; at most 8 cells of its own",
    "bounce": "draws a diagonal line that bounces off edges and objects; single cells only",
    "stairs": "draws stairs towards a corner, along its `row` or its `column` first, with steps of "
    "1 or 2 cells, until something is in the way; single cells only",
    "spill": "fills the largest empty area in its box and draws lines from its openings to the "
    "edge, `straight` or `spread` (also diagonal ones from both ends of an opening)",
    "add": "paints black cells: those in its `box` or its `holes`, its `outline`, `sides` or "
    "`corners`, the `rim` of its box (its outermost cells), the `frame` around its box, a `ring` "
    "half as thick as the box is long, the `wings` of the frame (next to the corners of its box), "
    "a `fence` (the frame just inside the box of all other objects), or the cells next to it on a "
    "side",
    "cover": "paints its box, outline, frame or ring, including non-black cells",
}
"""What happens to an object, by action."""
MODIFIER_WORDS: dict[str, str] = {
    "leave": "before a move: the object also stays where it was",
    "in": "after a move: the moved object gets a colour",
    "only": "before `add`: the object itself disappears",
    "and": "between actions that add cells: all of them apply",
}
SIDE_WORDS: dict[str, str] = {
    "ahead`, `behind": "towards the cells of its rarest colour, or away from them",
    "toward`, `away": "towards the nearest object, or away from it",
    "main`, `off": "towards the largest object, or away from it",
    "outward`, `inward": "towards the nearest edge, or away from it",
    "centre": "towards the centre of the grid",
    "notch": "towards the only empty corner of its box",
    "kin": "towards the largest object of its colour",
    "to_3`, `from_3": "towards a colour (here 3), or away from it",
}
"""Directions besides the four sides and corners."""
MEASURE_WORDS: dict[str, str] = {
    "colour": "its colour",
    "touching": "how many objects it touches",
    "inside": "in how many boxes of other objects it lies",
    "around": "how many objects lie in its box",
    "in_row`, `in_column": "how many objects share a row or column with it",
    "square`, `solid`, `tall": "1 if its box is square, it fills its box, or is taller than wide",
    "vertices": "how many vertices its outline has",
    "beside_3": "1 if a colour (here 3) is next to it",
    "overlaps": "1 if it shares cells with an earlier black area",
    "area": "1 if it is a black area",
    "most_…`, `least_…`, `odd_…": "1 if a measure is the largest, smallest, or unlike all others",
    "even_…": "a measure modulo 2",
    "rank_…`, `place_…": "how many values are greater, or less, than its own",
    "…>=N": "1 if a measure is at least N",
}
"""Measures besides those of `choose`."""

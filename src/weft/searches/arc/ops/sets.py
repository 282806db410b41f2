"""Operators on ordered sets of objects: facts.

Their definitions are in choosing, altering, attraction and setgrids.
"""

from __future__ import annotations

from weft.searches.arc.codes import altering as a
from weft.searches.arc.codes import attraction as at
from weft.searches.arc.codes import objectparts as m
from weft.searches.arc.codes import pieces
from weft.searches.arc.codes import setgrids as g
from weft.searches.arc.codes import sets as k
from weft.searches.arc.ops import choosing
from weft.searches.arc.ops.altering import paint
from weft.searches.arc.ops.attraction import attract
from weft.searches.arc.ops.operator import Operator, OperatorFamily, Palette, ShapeEffect
from weft.searches.arc.ops.setgrids import lay_out, overlay
from weft.searches.arc.values import ValueStage

_SAME, _FROM = m.ALIKE, ValueStage.OBJECTS


_pick = OperatorFamily(k.PICK, choosing.pick, _FROM, ValueStage.OBJECT)
_keep = OperatorFamily(k.FILTER, choosing.keep, _FROM, _FROM)
_sort = OperatorFamily(k.SORT, choosing.order, _FROM, _FROM)
_label = OperatorFamily(k.LABEL, choosing.label, _FROM, _FROM, palette=Palette.ANY)
_each = OperatorFamily(pieces.EACH, choosing.each, _FROM, _FROM)
_fall = OperatorFamily(k.SHIFT, choosing.shift, _FROM, _FROM)
_attract = OperatorFamily(k.ATTRACT, attract, _FROM, _FROM)
_draw = OperatorFamily(pieces.PAINT, paint, _FROM, shape=ShapeEffect.INPUT, palette=Palette.INPUT)
_over = OperatorFamily(k.OVERLAY, overlay, _FROM, palette=Palette.BLACK)
_lay = OperatorFamily(k.LAY_OUT, lay_out, _FROM, palette=Palette.BLACK)
_count = OperatorFamily(k.SUM, choosing.total, _FROM, ValueStage.COUNT)
_colour = OperatorFamily(k.SUM, choosing.total, _FROM, ValueStage.COLOUR, palette=Palette.BLACK)

PICKS: tuple[Operator, ...] = (
    _pick("pick_most_cells", m.CELLS, k.MOST, 4, "The object with the most cells."),
    _pick("pick_fewest_cells", m.CELLS, k.LEAST, 4, "The object with the fewest cells."),
    _pick("pick_largest_box", m.AREA, k.MOST, 5, "The object with the largest box."),
    _pick("pick_smallest_box", m.AREA, k.LEAST, 5, "The object with the smallest box."),
    _pick("pick_most_colours", m.COLOURS, k.MOST, 5, "The object with the most colours."),
    _pick("pick_most_holes", m.HOLES, k.MOST, 6, "The object with the most holes."),
    _pick("pick_symmetric", m.SYMMETRY, k.MOST, 5, "The object with the most mirror symmetries."),
    _pick("pick_asymmetric", m.SYMMETRY, k.LEAST, 6,
          "The object with the fewest mirror symmetries."),
    _pick("pick_top", m.TOP, k.FIRST_LEAST, 5, "The topmost object; of several, the first."),
    _pick("pick_bottom", m.BOTTOM, k.FIRST_MOST, 5, "The lowest object; of several, the first."),
    _pick("pick_left", m.LEFT, k.FIRST_LEAST, 5, "The leftmost object; of several, the first."),
    _pick("pick_right", m.RIGHT, k.FIRST_MOST, 5, "The rightmost object; of several, the first."),
)  # fmt: skip

FILTERS: tuple[Operator, ...] = (
    _keep("keep_largest", m.CELLS, k.IS_MOST, 5, "The objects with the most cells."),
    _keep("keep_smallest", m.CELLS, k.IS_LEAST, 5, "The objects with the fewest cells."),
    _keep("drop_largest", m.CELLS, k.NOT_MOST, 6, "All but the objects with the most cells."),
    _keep("drop_smallest", m.CELLS, k.NOT_LEAST, 6, "All but the objects with the fewest cells."),
    _keep("keep_at_border", m.BORDER, k.IS_SOME, 6, "The objects that reach the border."),
    _keep("keep_inland", m.BORDER, k.IS_ZERO, 5, "The objects that do not reach the border."),
    _keep("keep_rectangles", m.SOLID, k.IS_SOME, 6, "The objects that fill their boxes."),
    _keep("keep_with_holes", m.HOLES, k.IS_SOME, 6, "The objects with a hole."),
    _keep("keep_usual_colour", _SAME + m.COLOUR, k.IS_MOST, 6,
          "The objects of the most frequent colour."),
    _keep("keep_rare_colour", _SAME + m.COLOUR, k.IS_LEAST, 6,
          "The objects of the least frequent colour."),
)  # fmt: skip

CHANGES: tuple[Operator, ...] = (
    _sort("sort_by_cells", m.CELLS, k.UP, 6, "Sort by cell count, smallest first."),
    _sort("sort_by_cells_down", m.CELLS, k.DOWN, 6, "Sort by cell count, largest first."),
    _label("colour_by_size_rank", m.CELLS, k.BY_RANK_DOWN, 5,
           "Recolour with 1, 2, … by cell count, largest first."),
    _label("colour_by_cells", m.CELLS, k.BY_VALUE, 5, "Recolour each with its cell count."),
    _label("colour_by_holes", m.HOLES, k.BY_VALUE, 6, "Recolour each with its number of holes."),
    _label("colour_by_height", m.HEIGHT, k.BY_VALUE, 7, "Recolour each with its height."),
    _label("colour_by_shape", m.SHAPE, k.BY_RANK_UP, 6,
           "Recolour with 1, 2, … by shape, in order of first occurrence."),
    _each("each_mirror_columns", 1, 0, 6, "Mirror each left to right, in place."),
    _each("each_mirror_rows", 2, 0, 6, "Mirror each top to bottom, in place."),
    _each("each_rotate_180", 3, 0, 7, "Rotate each by 180°, in place."),
    _each("each_fill_box", a.FILL_BOX, 0, 6, "Fill the box of each with its colour."),
    _each("each_outline", a.OUTLINE, 0, 6, "The outer cells of each."),
    _each("each_fill_holes", a.FILL_HOLES, 0, 6, "Fill the holes of each with its colour."),
    _each("each_holes", a.HOLES_ALONE, 0, 6, "The holes of each, in its colour."),
    _each("each_ring", a.RING, 0, 6, "The cells around each, in its colour."),
    _fall("objects_fall_down", 0, 0, 6, "Objects fall down onto each other or the border."),
    _fall("objects_fall_up", 1, 0, 6, "Objects rise up to each other or the border."),
    _fall("objects_fall_left", 2, 0, 6, "Objects move left up to each other or the border."),
    _fall("objects_fall_right", 3, 0, 6, "Objects move right up to each other or the border."),
    _attract("objects_to_largest", at.TO_LARGEST, at.TOUCH, 6,
             "Objects move to the one with the most cells until they touch it."),
    _attract("objects_into_largest", at.TO_LARGEST, at.ENTER, 7,
             "Objects move to the one with the most cells and one step into it."),
    _attract("objects_to_smallest", at.TO_SMALLEST, at.TOUCH, 7,
             "Objects move to the one with the fewest cells until they touch it."),
    _attract("objects_to_own", at.TO_OWN, at.TOUCH, 6,
             "Objects move to the largest of their colour; the smallest without one are dropped."),
)  # fmt: skip

RESULTS: tuple[Operator, ...] = (
    _draw("draw_all", a.ON_BLACK, a.MANY, 4, "Draw all objects on black.", Palette.BLACK),
    _draw("draw_all_over", a.ON_INPUT, a.MANY, 4, "Draw all objects over the input."),
    _draw("erase_all", a.ERASE, a.MANY, 5, "Blacken the objects in the input."),
    _draw("show_all", a.KEEP, a.MANY, 6, "Blacken the input except where objects are."),
    _draw("draw_boxes_over", a.BOXES_ON_INPUT, a.MANY, 6,
          "Draw all objects over the input, with black in the rest of their boxes."),
    _over("overlay_and", g.ALL, 0, 5, "The first piece, where all pieces have a cell."),
    _over("overlay_first", g.FIRST_SEEN, 0, 5, "Overlay pieces of equal size, the first on top."),
    _over("overlay_last", g.LAST_SEEN, 0, 5, "Overlay pieces of equal size, the last on top."),
    _over("overlay_none", g.NO, 0, 5, "1 where no piece has a cell.", Palette.ANY),
    _over("overlay_code", g.CODE, 0, 5, "1 + 2 + 4 for those of three pieces that have a cell.",
          Palette.ANY),
    _over("overlay_majority", g.MAJORITY, 0, 6, "For each cell, the colour that most pieces have."),
    _lay("side_by_side", g.ROW, 0, 5, "Pieces of equal size from left to right."),
    _lay("stacked", g.COLUMN, 0, 5, "Pieces of equal size from top to bottom."),
    _lay("cell_each", g.CELL_EACH, 0, 5, "One cell per object, arranged like the objects."),
    _lay("cell_each_majority", g.CELL_EACH, 1, 6,
         "The same, with the most common colour of each object's box."),
    _lay("row_of_colours", g.ROW_OF_CELLS, 0, 6, "A row of one cell per object."),
    _lay("column_of_colours", g.COLUMN_OF_CELLS, 0, 6, "A column of one cell per object."),
    _count("count_of", m.INDEX, k.HOW_MANY, 5, "How many objects there are."),
    _colour("usual_colour", m.COLOUR, k.USUAL, 6, "The colour that most objects have."),
)  # fmt: skip

OPERATORS: tuple[Operator, ...] = (*PICKS, *FILTERS, *CHANGES, *RESULTS)

"""Operators on ordered sets of objects: facts. Definitions: choosing, altering, setgrids."""

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
from weft.searches.arc.ops.operator import BIT, Operator, Palette, ShapeEffect, Twin
from weft.searches.arc.ops.setgrids import lay_out, overlay
from weft.searches.arc.values import ValueStage

_SAME = m.ALIKE


def _set(
    name: str, gives: ValueStage, kernel: int, p: int, q: int, bits: int, palette: Palette,
    twin: Twin, doc: str, shape: ShapeEffect = ShapeEffect.ANY,
) -> Operator:  # fmt: skip
    return Operator(
        name, ValueStage.OBJECTS, gives, kernel, p, q, bits * BIT, shape, palette, twin, doc
    )


def _pick(name: str, what: int, how: int, bits: int, doc: str) -> Operator:
    return _set(
        name, ValueStage.OBJECT, k.PICK, what, how, bits, Palette.KEEP, choosing.pick, doc
    )  # fmt: skip


def _keep(name: str, what: int, how: int, bits: int, doc: str) -> Operator:
    return _set(
        name, ValueStage.OBJECTS, k.FILTER, what, how, bits, Palette.KEEP, choosing.keep, doc
    )


def _sort(name: str, what: int, how: int, bits: int, doc: str) -> Operator:
    return _set(
        name, ValueStage.OBJECTS, k.SORT, what, how, bits, Palette.KEEP, choosing.order, doc
    )


def _label(name: str, what: int, how: int, bits: int, doc: str) -> Operator:
    return _set(
        name, ValueStage.OBJECTS, k.LABEL, what, how, bits, Palette.ANY, choosing.label, doc
    )


def _each(name: str, p: int, bits: int, doc: str, palette: Palette = Palette.KEEP) -> Operator:
    return _set(name, ValueStage.OBJECTS, pieces.EACH, p, 0, bits, palette, choosing.each, doc)


def _fall(name: str, p: int, bits: int, doc: str) -> Operator:
    return _set(name, ValueStage.OBJECTS, k.SHIFT, p, 0, bits, Palette.KEEP, choosing.shift, doc)


def _attract(name: str, p: int, q: int, bits: int, doc: str) -> Operator:
    return _set(name, ValueStage.OBJECTS, k.ATTRACT, p, q, bits, Palette.KEEP, attract, doc)


def _draw(name: str, p: int, bits: int, doc: str, palette: Palette = Palette.INPUT) -> Operator:
    return _set(
        name, ValueStage.GRID, pieces.PAINT, p, a.MANY, bits, palette, paint, doc, ShapeEffect.INPUT
    )


def _over(name: str, p: int, bits: int, doc: str, palette: Palette = Palette.BLACK) -> Operator:
    return _set(name, ValueStage.GRID, k.OVERLAY, p, 0, bits, palette, overlay, doc)


def _lay(name: str, p: int, bits: int, doc: str, q: int = 0) -> Operator:
    return _set(name, ValueStage.GRID, k.LAY_OUT, p, q, bits, Palette.BLACK, lay_out, doc)


PICKS: tuple[Operator, ...] = (
    _pick("pick_most_cells", m.CELLS, k.MOST, 4, "The object with the most cells."),
    _pick("pick_fewest_cells", m.CELLS, k.LEAST, 4, "The object with the fewest cells."),
    _pick("pick_largest_box", m.AREA, k.MOST, 5, "The object with the largest box."),
    _pick("pick_smallest_box", m.AREA, k.LEAST, 5, "The object with the smallest box."),
    _pick("pick_most_colours", m.COLOURS, k.MOST, 5, "The object with the most colours."),
    _pick("pick_most_holes", m.HOLES, k.MOST, 6, "The object with the most holes."),
    _pick("pick_odd_shape", _SAME + m.SHAPE, k.LEAST, 5, "The only object with its shape."),
    _pick("pick_odd_colour", _SAME + m.COLOUR, k.LEAST, 5, "The only object of its colour."),
    _pick("pick_odd_size", _SAME + m.CELLS, k.LEAST, 6, "The only object with its cell count."),
    _pick("pick_symmetric", m.SYMMETRY, k.MOST, 5, "The object that most mirrors leave as it is."),
    _pick("pick_asymmetric", m.SYMMETRY, k.LEAST, 6,
          "The object that the fewest mirrors leave as it is."),
    _pick("pick_inland", m.BORDER, k.LEAST, 6, "The only object that does not reach the border."),
    _pick("pick_at_border", m.BORDER, k.MOST, 6, "The only object that reaches the border."),
    _pick("pick_top", m.TOP, k.FIRST_LEAST, 5, "The topmost object, the first of equals."),
    _pick("pick_bottom", m.BOTTOM, k.FIRST_MOST, 5, "The lowest object, the first of equals."),
    _pick("pick_left", m.LEFT, k.FIRST_LEAST, 5, "The leftmost object, the first of equals."),
    _pick("pick_right", m.RIGHT, k.FIRST_MOST, 5, "The rightmost object, the first of equals."),
    _pick("pick_usual_shape", _SAME + m.SHAPE, k.FIRST_MOST, 6,
          "The first object of the most frequent shape."),
    _pick("pick_rarest_colour", m.ABUNDANCE, k.LEAST, 6,
          "The object whose colour the fewest cells of the input have."),
)  # fmt: skip

FILTERS: tuple[Operator, ...] = (
    _keep("keep_largest", m.CELLS, k.IS_MOST, 5, "The objects with the most cells."),
    _keep("keep_smallest", m.CELLS, k.IS_LEAST, 5, "The objects with the fewest cells."),
    _keep("drop_largest", m.CELLS, k.NOT_MOST, 6, "All but the objects with the most cells."),
    _keep("drop_smallest", m.CELLS, k.NOT_LEAST, 6, "All but the objects with the fewest cells."),
    _keep("keep_single_cells", m.CELLS, k.IS_ONE, 6, "The objects of one cell."),
    _keep("drop_single_cells", m.CELLS, k.IS_MANY, 5, "The objects of more than one cell."),
    _keep("keep_at_border", m.BORDER, k.IS_SOME, 6, "The objects that reach the border."),
    _keep("keep_inland", m.BORDER, k.IS_ZERO, 5, "The objects that do not reach the border."),
    _keep("keep_rectangles", m.SOLID, k.IS_SOME, 6, "The objects that fill their boxes."),
    _keep("keep_symmetric", m.SYMMETRY, k.IS_SOME, 7, "The objects that a mirror leaves as is."),
    _keep("keep_with_holes", m.HOLES, k.IS_SOME, 6, "The objects with a hole."),
    _keep("keep_usual_colour", _SAME + m.COLOUR, k.IS_MOST, 6,
          "The objects of the colour that most objects have."),
    _keep("keep_rare_colour", _SAME + m.COLOUR, k.IS_LEAST, 6,
          "The objects of the colour that the fewest objects have."),
    _keep("keep_repeated_shapes", _SAME + m.SHAPE, k.IS_MANY, 6,
          "The objects whose shape occurs again."),
    _keep("keep_single_shapes", _SAME + m.SHAPE, k.IS_ONE, 6,
          "The objects whose shape occurs once."),
)  # fmt: skip

CHANGES: tuple[Operator, ...] = (
    _sort("sort_by_cells", m.CELLS, k.UP, 6, "By cell count, smallest first."),
    _sort("sort_by_cells_down", m.CELLS, k.DOWN, 6, "By cell count, largest first."),
    _sort("sort_by_column", m.LEFT, k.UP, 6, "From left to right."),
    _label("colour_by_size_rank", m.CELLS, k.BY_RANK_DOWN, 5,
           "Each in colour 1, 2, … by its cell count, largest first."),
    _label("colour_by_cells", m.CELLS, k.BY_VALUE, 5, "Each in the colour of its cell count."),
    _label("colour_by_holes", m.HOLES, k.BY_VALUE, 6, "Each in the colour of its number of holes."),
    _label("colour_by_height", m.HEIGHT, k.BY_VALUE, 7, "Each in the colour of its height."),
    _label("colour_by_shape", m.SHAPE, k.BY_RANK_UP, 6,
           "Each in colour 1, 2, … by its shape, in order of first occurrence."),
    _each("each_mirror_columns", 1, 6, "Each mirrored left to right in place."),
    _each("each_mirror_rows", 2, 6, "Each mirrored top to bottom in place."),
    _each("each_rotate_180", 3, 7, "Each turned by half in place."),
    _each("each_fill_box", a.FILL_BOX, 6, "Each filling its box in its colour."),
    _each("each_box_of_input", a.FILL_INPUT, 6, "Each with all the input's cells in its box.",
          Palette.INPUT),
    _each("each_outline", a.OUTLINE, 6, "The outer cells of each."),
    _each("each_fill_holes", a.FILL_HOLES, 6, "Each with its holes filled in its colour."),
    _each("each_holes", a.HOLES_ALONE, 6, "The holes of each, in its colour."),
    _each("each_main_colour", a.MAIN_COLOUR, 7, "The cells of each in its main colour."),
    _each("each_ring", a.RING, 6, "The places around each, in its colour."),
    _fall("objects_fall_down", 0, 6, "Objects fall down on each other or the border."),
    _fall("objects_fall_up", 1, 7, "Objects rise to each other or the border."),
    _fall("objects_fall_left", 2, 7, "Objects go left to each other or the border."),
    _fall("objects_fall_right", 3, 7, "Objects go right to each other or the border."),
    _attract("objects_to_largest", at.TO_LARGEST, at.TOUCH, 6,
             "Objects go to the one with the most cells until they touch it."),
    _attract("objects_into_largest", at.TO_LARGEST, at.ENTER, 7,
             "Objects go to the one with the most cells and one step into it."),
    _attract("objects_to_smallest", at.TO_SMALLEST, at.TOUCH, 7,
             "Objects go to the one with the fewest cells until they touch it."),
    _attract("objects_to_own", at.TO_OWN, at.TOUCH, 6,
             "Objects go to the largest of their colour; the smallest without one are left out."),
)  # fmt: skip

RESULTS: tuple[Operator, ...] = (
    _draw("draw_all", a.ON_BLACK, 4, "All objects on black.", Palette.BLACK),
    _draw("draw_all_over", a.ON_INPUT, 4, "All objects over the input."),
    _draw("erase_all", a.ERASE, 5, "The input with the objects black."),
    _draw("show_all", a.KEEP, 6, "The input where the objects lie, else black."),
    _draw("draw_boxes_over", a.BOXES_ON_INPUT, 6,
          "All objects over the input, empty places in their boxes black."),
    _over("overlay_and", g.ALL, 5, "The first piece where all have cells."),
    _over("overlay_first", g.FIRST_SEEN, 5, "Equally large pieces, the first on top."),
    _over("overlay_last", g.LAST_SEEN, 5, "Equally large pieces, the last on top."),
    _over("overlay_none", g.NO, 5, "1 where no piece has a cell.", Palette.ANY),
    _over("overlay_code", g.CODE, 5, "Which of two or three pieces have a cell: 1 + 2 + 4.",
          Palette.ANY),
    _over("overlay_majority", g.MAJORITY, 6, "The colour that most pieces have there."),
    _lay("side_by_side", g.ROW, 5, "Equally large pieces from left to right."),
    _lay("stacked", g.COLUMN, 5, "Equally large pieces from top to bottom."),
    _lay("cell_each", g.CELL_EACH, 5, "One cell per object as they lie, in its colour."),
    _lay("cell_each_majority", g.CELL_EACH, 6,
         "One cell per object as they lie, in the colour of most of its box.", 1),
    _lay("row_of_colours", g.ROW_OF_CELLS, 6, "A row of one cell per object."),
    _lay("column_of_colours", g.COLUMN_OF_CELLS, 6, "A column of one cell per object."),
    _set("count_of", ValueStage.COUNT, k.SUM, m.INDEX, k.HOW_MANY, 5, Palette.KEEP, choosing.total,
         "How many objects there are."),
    _set("usual_colour", ValueStage.COLOUR, k.SUM, m.COLOUR, k.USUAL, 6, Palette.BLACK,
         choosing.total,
         "The colour that most objects have."),
    _set("merged", ValueStage.OBJECT, k.MERGE, 0, 0, 6, Palette.KEEP, choosing.merge,
         "All objects as one."),
)  # fmt: skip

OPERATORS: tuple[Operator, ...] = (*PICKS, *FILTERS, *CHANGES, *RESULTS)

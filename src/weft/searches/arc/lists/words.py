"""The names and descriptions of a cell's features, in the order of their numbers.

Colours may be copied, and are 10 (written x) if there is none; numbers are only tested.
"""

from __future__ import annotations

_SIDES = {
    "north": "above",
    "south": "below",
    "west": "to the left",
    "east": "to the right",
    "northwest": "above to the left",
    "northeast": "above to the right",
    "southwest": "below to the left",
    "southeast": "below to the right",
}
"""Directions, as worded at the end of a feature's description."""
COLOURS: dict[str, str] = {
    "own": "the cell's colour",
    **{side: f"its neighbour {words}" for side, words in _SIDES.items()},
    **{f"sees_{side}": f"the first other colour {words}" for side, words in _SIDES.items()},
    "across": "the first other colour to the left and right, if both are the same",
    "down": "the first other colour above and below, if both are the same",
    "falling": "the same along the diagonal from top left to bottom right",
    "rising": "the same along the diagonal from bottom left to top right",
    "mirrored_across": "the cell at its position in the left-right mirror image",
    "mirrored_down": "the cell at its position in the top-bottom mirror image",
    "turned_half": "the cell at its position in the grid rotated by 180°",
    "transposed": "the cell at its position in the transposed grid, if the grid is square",
    "row_start": "the first cell of its row",
    "row_end": "the last cell of its row",
    "column_start": "the first cell of its column",
    "column_end": "the last cell of its column",
    "row_ink": "the most common non-black colour of its row",
    "column_ink": "the most common non-black colour of its column",
    "touching": "the colour that touches its area most (sides only)",
    "blob_main": "the most common colour of its blob",
    "blob_rare": "the rarest colour of its blob",
    "nearest": "of a black cell: the nearest non-black colour, by sides (ties: the lowest)",
    "box_across": "the cell at its position in the left-right mirror image of its box",
    "box_down": "the cell at its position in the top-bottom mirror image of its box",
    "box_half": "the cell at its position in its box rotated by 180°",
    "box_transposed": "the cell at its position in its transposed box, if the box is square",
    "box_main": "the most common colour of its box's blob",
    "box_rare": "the rarest colour of its box's blob",
    "commonest": "the most common colour of the grid",
    "main_ink": "the most common non-black colour of the grid",
    "rarest": "the rarest colour of the grid",
}
NUMBERS: dict[str, str] = {
    "area_size": "number of cells of its area, 60 at most",
    "area_height": "height of its area",
    "area_width": "width of its area",
    "area_at_edge": "1 if its area reaches the edge",
    "area_solid": "1 if its area fills its box",
    "area_square": "1 if its area's box is a square",
    "area_rank": "1 if its area is one of the largest not black, plus 2 if one of the smallest",
    "area_row": "rows from its area's top",
    "area_column": "columns from its area's left",
    "area_row_up": "rows from its area's bottom",
    "area_column_back": "columns from its area's right",
    "area_depth": "steps from the edge of its area's box",
    "area_row_parity": "rows from its area's top, modulo 2",
    "area_off_row": "twice its distance from its area's middle row",
    "area_off_column": "twice its distance from its area's middle column",
    "blob_size": "number of cells of its blob, 60 at most",
    "blob_height": "height of its blob",
    "blob_width": "width of its blob",
    "blob_colours": "number of colours of its blob",
    "blob_rank": "1 if its blob is one of the largest, plus 2 if one of the smallest",
    "row": "rows from the top",
    "column": "columns from the left",
    "row_up": "rows from the bottom",
    "column_back": "columns from the right",
    "depth": "steps from the edge",
    "row_parity": "rows from the top, modulo 2",
    "column_parity": "columns from the left, modulo 2",
    "chessboard": "row plus column, modulo 2",
    "row_third": "rows from the top, modulo 3",
    "column_third": "columns from the left, modulo 3",
    "rising_third": "row plus column, modulo 3",
    "falling_third": "row minus column, modulo 3",
    "off_falling": "steps from the diagonal through the top left corner",
    "off_rising": "steps from the diagonal through the top right corner",
    "near_ink": "how many of 8 neighbours are not black",
    "beside_ink": "how many of 4 neighbours are not black",
    "near_like": "how many of 8 neighbours have its colour",
    "beside_like": "how many of 4 neighbours have its colour",
    "row_inked": "number of non-black cells in its row",
    "column_inked": "number of non-black cells in its column",
    "row_plain": "1 if its row has one colour",
    "column_plain": "1 if its column has one colour",
    "row_like": "number of cells of its colour in its row",
    "column_like": "number of cells of its colour in its column",
    "colour_rank": "number of colours that are more common than its own",
    "colour_rank_up": "number of colours that are less common than its own",
    "colours": "number of colours of the grid",
    "in_box": "1 if it is in the box of a blob",
    "box_row": "rows from its box's top",
    "box_column": "columns from its box's left",
    "box_row_up": "rows from its box's bottom",
    "box_column_back": "columns from its box's right",
    "box_depth": "steps from its box's edge",
    "box_size": "number of cells of its box's blob, 60 at most",
    "box_height": "height of its box",
    "box_width": "width of its box",
    "box_colours": "number of colours of its box's blob",
    "box_rank": "1 if its box's blob is one of the largest, plus 2 if one of the smallest",
    "gap_north": "steps to the first other colour above, 0 if there is none",
    "gap_south": "steps to the first other colour below, 0 if there is none",
    "gap_west": "steps to the first other colour to the left, 0 if there is none",
    "gap_east": "steps to the first other colour to the right, 0 if there is none",
    "distance": "steps by sides to the nearest non-black cell, 60 at most",
    "reach": "steps by sides or corners to the nearest non-black cell, 60 at most",
    "reach_parity": "`reach`, modulo 2",
    "row_of_rarest": "1 if its row has the rarest colour",
    "column_of_rarest": "1 if its column has the rarest colour",
    "askew_of_rarest": "1 if one of its diagonals has the rarest colour",
    "row_repeated": "1 if another row is equal to its row",
    "column_repeated": "1 if another column is equal to its column",
    "row_as_first": "1 if its row is equal to the first",
    "row_as_last": "1 if its row is equal to the last",
    "column_as_first": "1 if its column is equal to the first",
    "column_as_last": "1 if its column is equal to the last",
}
FAMILIES: dict[str, str] = {
    "row_has": "1 if its row has the colour",
    "column_has": "1 if its column has the colour",
    "touches": "1 if the colour touches its area (sides only)",
    "blob_has": "1 if its blob has the colour",
    "grid_has": "1 if the grid has the colour",
}
"""Features that exist once for each non-black colour."""
INKS = range(1, 10)
PLAIN: frozenset[str] = frozenset((*COLOURS, *NUMBERS))
"""Names of features that belong to no family, in lists without a canvas."""
NUMBERS |= {f"{name}_{ink}": words for name, words in FAMILIES.items() for ink in INKS}
NEIGHBOUR_COLOURS = list(COLOURS)[: list(COLOURS).index("rising") + 1]
BLOCKS: dict[str, str] = {f"block_{name}": COLOURS[name] for name in NEIGHBOUR_COLOURS}
"""The same features in the coarse grid of blocks between lines."""
COLOURS |= BLOCKS
COLOURS["block_pattern"] = "the cell at its position in the block with the most non-black cells"
COLOURS["block_next"] = (
    "the cell at its position in the next block, row by row; after the last comes the first"
)
NUMBERS |= {
    "block_row": "which row of blocks it is in",
    "block_column": "which column of blocks it is in",
    "block_inner_row": "rows from its block's top",
    "block_inner_column": "columns from its block's left",
    "block_ink": "number of non-black cells in its block, 60 at most",
    "block_rank": "1 if its block has the most non-black cells, plus 2 if it has the fewest",
    "block_votes": "number of blocks that have its colour at its position",
    "block_as_first": "1 if the first block has its colour at its position, or on lines",
    "block_as_last": "1 if the last block has its colour at its position, or on lines",
}
NAMES: tuple[str, ...] = (*COLOURS, *NUMBERS)

CANVAS_COLOURS: dict[str, str] = {
    "tiled": "the input's cell at its position, if the canvas were tiled with copies of the input",
    "spread": "the input's cell at its position, if the input were stretched to fill the canvas",
    "folded": "like `tiled`, every second copy mirrored",
}
CANVAS_NUMBERS: dict[str, str] = {
    "tile_row": "which row of copies it is in",
    "tile_column": "which column of copies it is in",
    "tile": "number of the copy it is in, row by row",
}
CORNERS = ("top_left", "top_right", "bottom_left", "bottom_right")
"""Corners from which copies or cells can be counted."""
COUNTED: dict[str, str] = {
    "input": "the count of the input, 60 at most",
    "tile_under": "1 if fewer copies than the count come before its own, row by row",
    **{
        f"tile_{order}_{corner}_under": f"like `tile_under`, {words} from the "
        + corner.replace("_", " ")
        for order, words in (("rows", "row by row"), ("columns", "column by column"))
        for corner in CORNERS
        if (order, corner) != ("rows", CORNERS[0])
    },
    "place_under": "1 if fewer cells than the count come before it, row by row",
    "row_under": "1 if fewer rows than the count are above it",
    "column_under": "1 if fewer columns than the count are to its left",
}
"""Features that exist once for each count of the input."""
COUNTS = ("cells", "gaps", "marks", "blobs")
"""Counts of an input: non-black cells, black cells, non-black colours, blobs."""
CANVAS_NUMBERS |= {f"{name}_{what}": words for what in COUNTS for name, words in COUNTED.items()}
CANVAS_NAMES: tuple[str, ...] = (*CANVAS_COLOURS, *CANVAS_NUMBERS)
MADE: dict[str, str] = {
    "made_back": "the cell before it in its line",
    "made_back_2": "the second cell before it in its line",
    "made_over": "the cell at its position in the line before",
    "made_over_2": "the cell at its position two lines before",
    "made_over_back": "the cell before that position in the line before",
    "made_over_on": "the cell after that position in the line before",
}
"""Colours of cells already filled, in lists that scan a grid."""
TESTED: frozenset[str] = frozenset((*NUMBERS, *CANVAS_NUMBERS))
"""Names of features that are only tested, never copied."""
WORDS: frozenset[str] = frozenset((*NAMES, *CANVAS_NAMES, *MADE))
"""Names of all features."""

"""The features of a cell: their names and what they are, in the order of their numbers.

Colours may be copied, and are 10 (written x) where there is none; numbers are only tested.
"""

from __future__ import annotations

_FARTHER = {
    "south": "below",
    "west": "to the left",
    "east": "to the right",
    "northwest": "above to the left",
    "northeast": "above to the right",
    "southwest": "below to the left",
    "southeast": "below to the right",
}
"""Directions after the first, which says of what."""
COLOURS: dict[str, str] = {
    "own": "the cell's colour",
    "north": "its neighbour above",
    **_FARTHER,
    "sees_north": "the first other colour above it",
    **{f"sees_{side}": words for side, words in _FARTHER.items()},
    "across": "what it sees left and right, if that is the same",
    "down": "what it sees above and below, if that is the same",
    "falling": "what it sees along the falling diagonal, if both are the same",
    "rising": "what it sees along the rising diagonal, if both are the same",
    "mirrored_across": "the cell at its place in the left-right mirror image",
    "mirrored_down": "in the top-bottom mirror image",
    "turned_half": "in the grid turned by half",
    "transposed": "in the transposed grid, if that is square",
    "row_start": "the first cell of its row",
    "row_end": "the last cell of its row",
    "column_start": "the first cell of its column",
    "column_end": "the last cell of its column",
    "row_ink": "the commonest colour of its row, black apart",
    "column_ink": "the commonest colour of its column, black apart",
    "touching": "the colour that touches its area most, by sides",
    "blob_main": "the commonest colour of its blob",
    "blob_rare": "the rarest colour of its blob",
    "nearest": "of black cells: the nearest other colour, by sides, the lowest of equals",
    "box_across": "the cell at its place in the left-right mirror image of its box",
    "box_down": "in the top-bottom mirror image of its box",
    "box_half": "in its box turned by half",
    "box_transposed": "in its box transposed, if that is square",
    "box_main": "the commonest colour of its box's blob",
    "box_rare": "the rarest colour of its box's blob",
    "commonest": "the commonest colour of the grid",
    "main_ink": "the commonest colour of the grid, black apart",
    "rarest": "the rarest colour of the grid",
}
NUMBERS: dict[str, str] = {
    "area_size": "cells of its area, 60 at most",
    "area_height": "height of its area",
    "area_width": "width of its area",
    "area_at_edge": "1 if its area reaches the edge",
    "area_solid": "1 if its area fills its box",
    "area_square": "1 if its area's box is a square",
    "area_rank": "1 if its area is among the largest not black, plus 2 if among the smallest",
    "area_row": "rows from its area's top",
    "area_column": "columns from its area's left",
    "area_row_up": "rows from its area's bottom",
    "area_column_back": "columns from its area's right",
    "area_depth": "steps from its area's box's edge",
    "area_row_parity": "rows from its area's top, even 0 or odd 1",
    "area_off_row": "how far it is from its area's middle row, doubled",
    "area_off_column": "how far it is from its area's middle column, doubled",
    "blob_size": "cells of its blob, 60 at most",
    "blob_height": "height of its blob",
    "blob_width": "width of its blob",
    "blob_colours": "colours of its blob",
    "blob_rank": "1 if its blob is among the largest, plus 2 if among the smallest",
    "row": "rows from the top",
    "column": "columns from the left",
    "row_up": "rows from the bottom",
    "column_back": "columns from the right",
    "depth": "steps from the edge",
    "row_parity": "rows from the top, even 0 or odd 1",
    "column_parity": "columns from the left, even 0 or odd 1",
    "chessboard": "0 and 1 like the fields of a chessboard",
    "row_third": "rows from the top modulo 3",
    "column_third": "columns from the left modulo 3",
    "rising_third": "row plus column modulo 3",
    "falling_third": "row minus column modulo 3",
    "off_falling": "steps from the falling diagonal of the top left corner",
    "off_rising": "steps from the rising diagonal of the top right corner",
    "near_ink": "how many of eight neighbours are not black",
    "beside_ink": "how many of four neighbours are not black",
    "near_like": "how many of eight neighbours are like it",
    "beside_like": "how many of four neighbours are like it",
    "row_inked": "cells of its row that are not black",
    "column_inked": "cells of its column that are not black",
    "row_plain": "1 if its row has one colour",
    "column_plain": "1 if its column has one colour",
    "row_like": "cells of its row that are like it",
    "column_like": "cells of its column that are like it",
    "colour_rank": "colours that more cells have than its own",
    "colour_rank_up": "colours that fewer cells have than its own",
    "colours": "how many colours the grid has",
    "in_box": "1 if it is in the box of a blob",
    "box_row": "rows from its box's top",
    "box_column": "columns from its box's left",
    "box_row_up": "rows from its box's bottom",
    "box_column_back": "columns from its box's right",
    "box_depth": "steps from its box's edge",
    "box_size": "cells of its box's blob, 60 at most",
    "box_height": "height of its box",
    "box_width": "width of its box",
    "box_colours": "colours of its box's blob",
    "box_rank": "1 if its box's blob is among the largest, plus 2 if among the smallest",
    "gap_north": "steps to the first other colour above it, 0 if there is none",
    "gap_south": "below",
    "gap_west": "to the left",
    "gap_east": "to the right",
    "distance": "steps by sides to the nearest cell that is not black, 60 at most",
    "reach": "the same with steps by corners too",
    "reach_parity": "the same, even 0 or odd 1",
    "row_of_rarest": "1 if its row has the rarest colour",
    "column_of_rarest": "1 if its column has the rarest colour",
    "askew_of_rarest": "1 if one of its diagonals has the rarest colour",
}
FAMILIES: dict[str, str] = {
    "row_has": "1 if its row has the colour",
    "column_has": "1 if its column has the colour",
    "touches": "1 if the colour touches its area, by sides",
    "blob_has": "1 if its blob has the colour",
    "grid_has": "1 if the grid has the colour",
}
"""Features of which there is one for each colour but black."""
INKS = range(1, 10)
PLAIN: frozenset[str] = frozenset((*COLOURS, *NUMBERS))
"""Names of features that are not of a family, in lists without a canvas."""
NUMBERS |= {f"{name}_{ink}": words for name, words in FAMILIES.items() for ink in INKS}
NEIGHBOUR_COLOURS = list(COLOURS)[: list(COLOURS).index("rising") + 1]
BLOCKS: dict[str, str] = {f"block_{name}": COLOURS[name] for name in NEIGHBOUR_COLOURS}
"""The same features in the coarse grid of blocks between lines."""
COLOURS |= BLOCKS
COLOURS["block_pattern"] = "the cell at its place in the block with the most ink"
NUMBERS |= {
    "block_row": "which row of blocks it is in",
    "block_column": "which column of blocks it is in",
    "block_inner_row": "rows from its block's top",
    "block_inner_column": "columns from its block's left",
    "block_ink": "cells of its block that are not black, 60 at most",
    "block_rank": "1 if its block has the most ink, plus 2 if it has the least",
}
NAMES: tuple[str, ...] = (*COLOURS, *NUMBERS)

CANVAS_COLOURS: dict[str, str] = {
    "tiled": "the input's cell at its place, if copies of the input lay side by side",
    "spread": "the input's cell at its place, if the input were stretched to fill the canvas",
    "folded": "like `tiled`, every second copy mirrored",
}
CANVAS_NUMBERS: dict[str, str] = {
    "tile_row": "which row of copies it is in",
    "tile_column": "which column of copies it is in",
    "tile": "which copy it is in, row by row",
}
COUNTED: dict[str, str] = {
    "input": "how many the input has, 60 at most",
    "tile_under": "1 if fewer copies come before its own",
    "place_under": "1 if fewer cells come before it, row by row",
    "row_under": "1 if fewer rows are above it",
    "column_under": "1 if fewer columns are left of it",
}
"""Features of which there is one for each count of the input."""
COUNTS = ("cells", "gaps", "marks", "blobs")
"""What is counted of an input: cells that are not black, black ones, colours but black, blobs."""
CANVAS_NUMBERS |= {f"{name}_{what}": words for what in COUNTS for name, words in COUNTED.items()}
CANVAS_NAMES: tuple[str, ...] = (*CANVAS_COLOURS, *CANVAS_NUMBERS)
MADE: dict[str, str] = {
    "made_back": "the cell made before it in its line",
    "made_back_2": "the one before that",
    "made_over": "the cell made at its place in the line before",
    "made_over_2": "two lines before",
    "made_over_back": "in the line before, one place back",
    "made_over_on": "in the line before, one place on",
}
"""Colours of cells filled before, in lists that scan a grid."""
TESTED: frozenset[str] = frozenset((*NUMBERS, *CANVAS_NUMBERS))
"""Names of features that are tested and never copied."""
WORDS: frozenset[str] = frozenset((*NAMES, *CANVAS_NAMES, *MADE))
"""Names of all features."""

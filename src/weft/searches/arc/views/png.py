"""The drawings of `svg` as PNG files; the same input gives the same bytes."""

from __future__ import annotations

import io

from PIL import Image, ImageDraw, ImageFont

from weft.searches.arc.values import EMPTY
from weft.searches.arc.views.layout import (
    TEXT,
    PlacedGrid,
    Sheet,
    task_sheet,
)
from weft.searches.arc.views.model import TaskView
from weft.searches.arc.views.palette import LINE, rgb

GROUND = (255, 255, 255)
NO_CELL = (238, 238, 238)
INK = (80, 84, 90)
_COLOURS = b"".join([*(bytes(rgb(colour)) for colour in range(EMPTY)), bytes(NO_CELL)])


def task_png(view: TaskView) -> bytes:
    """Draw a task with its answers."""
    return draw(task_sheet(view))


def draw(sheet: Sheet) -> bytes:
    """Return a sheet as a PNG file."""
    image = Image.new("RGB", (sheet.width, sheet.height), GROUND)
    pen = ImageDraw.Draw(image)
    font = ImageFont.load_default(TEXT)
    for placed in sheet.grids:
        _draw_grid(image, pen, placed)
    for text in sheet.texts:
        width = 1 if text.bold else 0  # the built-in font has one weight
        place = (text.x, text.y)
        pen.text(place, text.text, INK, font, "ls", stroke_width=width / 2, stroke_fill=INK)
    out = io.BytesIO()
    image.save(out, "PNG", optimize=False, compress_level=9)
    return out.getvalue()


def _draw_grid(image: Image.Image, pen: ImageDraw.ImageDraw, placed: PlacedGrid) -> None:
    grid, cell, x, y = placed.grid, placed.cell, placed.x, placed.y
    width, height = grid.width * cell, grid.height * cell
    cells = Image.frombytes("P", (grid.width, grid.height), grid.cells)
    cells.putpalette(_COLOURS)
    image.paste(cells.resize((width, height), Image.Resampling.NEAREST).convert("RGB"), (x, y))
    for r in range(grid.height + 1):
        pen.line((x, y + r * cell, x + width, y + r * cell), LINE)
    for c in range(grid.width + 1):
        pen.line((x + c * cell, y, x + c * cell, y + height), LINE)

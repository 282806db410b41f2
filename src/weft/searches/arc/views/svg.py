"""Grids and tasks as SVG files: small, sharp at any size, readable on light and dark pages."""

from __future__ import annotations

from markupsafe import Markup

from weft.inspect.report.svg import element
from weft.searches.arc.values import Grid
from weft.searches.arc.views.layout import (
    TEXT,
    PlacedGrid,
    PlacedText,
    Sheet,
    task_sheet,
)
from weft.searches.arc.views.model import TaskView
from weft.searches.arc.views.palette import LINE, PALETTE
from weft.searches.arc.views.paths import paths

INK = "#7a7f87"
"""Colour of labels, visible on white and on black."""
FONT = "system-ui, 'Segoe UI', Roboto, 'Noto Sans', sans-serif"


def task_svg(view: TaskView) -> str:
    """Draw a task with its answers."""
    return draw(task_sheet(view))


def draw(sheet: Sheet) -> str:
    """Return a sheet as an SVG document."""
    parts = [element("title", sheet.title)]
    parts += [_grid(placed) for placed in sheet.grids]
    parts += [_text(placed) for placed in sheet.texts]
    document = element(
        "svg",
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {sheet.width} {sheet.height}",
        width=sheet.width,
        height=sheet.height,
        role="img",
    )
    return f"{document}\n"


def _grid(placed: PlacedGrid) -> Markup:
    grid, cell = placed.grid, placed.cell
    # Offset by half a pixel, so that lines one pixel wide fill whole pixels.
    cells = [element("path", d=data, fill=PALETTE[colour]) for colour, data in paths(grid)]
    scaled = element("g", *cells, transform=f"scale({cell})", shape_rendering="crispEdges")
    lines = element("path", d=_lines(grid, cell), stroke=LINE, fill="none")
    place = f"translate({placed.x + 0.5} {placed.y + 0.5})"
    return element("g", scaled, lines, transform=place)


def _lines(grid: Grid, cell: int) -> str:
    width, height = grid.width * cell, grid.height * cell
    rows = "".join(f"M0 {r * cell}h{width}" for r in range(grid.height + 1))
    return rows + "".join(f"M{c * cell} 0v{height}" for c in range(grid.width + 1))


def _text(placed: PlacedText) -> Markup:
    weight = "600" if placed.bold else None
    return element(
        "text",
        placed.text,
        x=placed.x,
        y=placed.y,
        fill=INK,
        font_size=TEXT,
        font_family=FONT,
        font_weight=weight,
        style="white-space:pre",
    )

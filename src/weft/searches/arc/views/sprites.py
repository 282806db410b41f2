"""All grids of a task in one small image, a sprite sheet, from which the page cuts each.

A pixel is a cell; grids are stacked, equal grids only once. Inputs, outputs and steps of a task are
similar, so together they compress to a fraction of the size of separate drawings: about 500 bytes
for a whole task, where paths need 5,000.
"""

from __future__ import annotations

import base64
import io

from markupsafe import Markup
from PIL import Image

from weft.searches.arc.values import EMPTY, MAX_SIDE, Grid
from weft.searches.arc.views.palette import rgb

MAX_PIXELS = 120
"""Most pixels of the longest side of the largest grid, unless cells would be too small."""
_COLOURS = b"".join(bytes(rgb(colour)) for colour in range(EMPTY)) + bytes(3)


class Sprites:
    """Collects the grids of one task; `style` then returns their image."""

    def __init__(self) -> None:
        self._places: dict[Grid, int] = {}
        self._height = 0

    def place(self, grid: Grid) -> Markup:
        """Return an element that shows a grid."""
        if grid not in self._places:
            self._places[grid] = self._height
            self._height += grid.height
        place = self._places[grid]
        return Markup(  # noqa: S704 - numbers only
            f"<i style=--w:{grid.width};--h:{grid.height};--y:{place}></i>"
        )

    def style(self) -> str:
        """Return the style of the enclosing element: the image, and the size of a cell."""
        sides = [max(grid.height, grid.width) for grid in self._places]
        cell = max(4, min(16, MAX_PIXELS // max(sides, default=1)))
        data = base64.b64encode(self.png()).decode()
        return f"--c:{cell}px;--g:url(data:image/png;base64,{data})"

    def png(self) -> bytes:
        """Return the image: as wide as the widest possible grid, four bits per cell."""
        image = Image.new("P", (MAX_SIDE, max(1, self._height)))
        image.putpalette(_COLOURS)
        for grid, top in self._places.items():
            cells = Image.frombytes("P", (grid.width, grid.height), grid.cells)
            image.paste(cells, (0, top))
        out = io.BytesIO()
        see_through = any(EMPTY in grid.cells for grid in self._places)
        more = {"transparency": EMPTY} if see_through else {}
        image.save(out, "PNG", bits=4, compress_level=9, **more)
        return out.getvalue()

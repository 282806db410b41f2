"""All grids of a task in one small image, from which the page cuts each.

A pixel is a cell; grids stand one below the other, equal ones once. Inputs, outputs and steps of
a task are alike, so together they compress to a fraction of what drawings of each would need:
about 500 bytes for a whole task, where paths need 5,000.
"""

from __future__ import annotations

import base64
import io

from markupsafe import Markup
from PIL import Image

from weft.searches.arc.values import EMPTY, MAX_SIDE, Grid
from weft.searches.arc.views.palette import rgb

MAX_PIXELS = 120
"""Of the longest side of the largest grid, where cells can be whole pixels."""
_COLOURS = b"".join(bytes(rgb(colour)) for colour in range(EMPTY)) + bytes(3)


class Sprites:
    """Collects the grids of one task; then `style` holds their image."""

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
        """Return the style of the element around: the image, and how large a cell is."""
        sides = [max(grid.height, grid.width) for grid in self._places]
        cell = max(4, min(16, MAX_PIXELS // max(sides, default=1)))
        data = base64.b64encode(self.png()).decode()
        return f"--c:{cell}px;--g:url(data:image/png;base64,{data})"

    def png(self) -> bytes:
        """Return the image: as wide as the widest grid may be, four bits for a cell."""
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

"""One grid as a small SVG, from its cells alone, for notebooks."""

from __future__ import annotations

from weft.searches.arc.views.palette import LINE, PALETTE

MAX_CELL = 20
MAX_WIDTH = 400


def cells_svg(height: int, width: int, cells: bytes) -> str:
    """Draw a grid; cells without a colour are transparent."""
    side = min(MAX_CELL, MAX_WIDTH // max(height, width))
    squares = "".join(
        f'<rect x="{i % width}" y="{i // width}" width="1" height="1" fill="{PALETTE[cell]}"/>'
        for i, cell in enumerate(cells)
        if cell < len(PALETTE)
    )
    lines = "".join(f"M0 {r}h{width}" for r in range(height + 1))
    lines += "".join(f"M{c} 0v{height}" for c in range(width + 1))
    return (
        f'<svg role="img" aria-label="ARC grid of {height} rows and {width} columns"'
        f' width="{width * side + 2}" height="{height * side + 2}"'
        f' viewBox="-0.05 -0.05 {width + 0.1} {height + 0.1}" shape-rendering="crispEdges">'
        f'{squares}<path d="{lines}" fill="none" stroke="{LINE}" stroke-width="0.05"/></svg>'
    )

"""Draws two pictures side by side in a terminal that has colours and is wide enough."""

from __future__ import annotations

import sys

from rich.color import Color
from rich.segment import Segment, Segments
from rich.style import Style

from weft.console import render

Pixel = tuple[int, int, int]
Pixels = list[list[Pixel]]


def draw(target: Pixels, rebuilt: Pixels) -> None:
    """Draw both pictures, two pixels to a character."""
    console = render.console(sys.stdout)
    if console.no_color or console.color_system is None or console.width < 2 * len(target[0]) + 6:
        return
    for y in range(0, len(target), 2):
        line = []
        for picture in (target, rebuilt):
            line += [_half_block(*pair) for pair in zip(picture[y], picture[y + 1], strict=True)]
            line.append(Segment("   "))
        console.print(Segments([*line, Segment.line()]), end="")
    console.print()


def _half_block(upper: Pixel, lower: Pixel) -> Segment:
    style = Style(color=Color.from_rgb(*upper), bgcolor=Color.from_rgb(*lower))
    return Segment("▀", style)

"""The colours of ARC, as in its official testing interface."""

from __future__ import annotations

PALETTE = (
    "#000000", "#0074d9", "#ff4136", "#2ecc40", "#ffdc00",
    "#aaaaaa", "#f012be", "#ff851b", "#7fdbff", "#870c25",
)  # fmt: skip
LINE = "#555555"
"""Colour of the lines between cells."""


def rgb(colour: int) -> tuple[int, int, int]:
    """Return a colour's red, green and blue."""
    red, green, blue = bytes.fromhex(PALETTE[colour][1:])
    return red, green, blue

"""ARC values: grids from text, random values of every stage, and one compiled operator."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

from weft.searches.arc.kernels.expand import FAMILIES, family_of
from weft.searches.arc.ops.operator import Operator
from weft.searches.arc.values import (
    EMPTY,
    MAX_BYTES,
    Grid,
    Piece,
    Value,
    ValueStage,
    decode,
    encode,
)

GUARD = 77


def grid(text: str) -> Grid:
    """Return a grid from the text of its rows: `01/10`."""
    return Grid.of([[int(cell) for cell in row] for row in text.split("/")])


def _cells(n: int, colours: list[int]) -> st.SearchStrategy[bytes]:
    return st.lists(st.sampled_from(colours), min_size=n, max_size=n).map(bytes)


@st.composite
def grids(draw: st.DrawFn, side: int = 8) -> Grid:
    """Small grids of few colours, so that objects, lines and symmetries occur."""
    height, width = draw(st.integers(1, side)), draw(st.integers(1, side))
    palette = [*draw(st.lists(st.integers(0, 9), min_size=1, max_size=3)), 0, 0]
    if draw(st.booleans()):
        return Grid(height, width, draw(_cells(height * width, palette)))
    base = draw(st.sampled_from(palette))  # a plain canvas with a few rectangles on it
    cells = [[base] * width for _ in range(height)]
    for _ in range(draw(st.integers(0, 4))):
        top, left = draw(st.integers(0, height - 1)), draw(st.integers(0, width - 1))
        bottom, right = draw(st.integers(top, height - 1)), draw(st.integers(left, width - 1))
        colour = draw(st.sampled_from(palette))
        for r in range(top, bottom + 1):
            for c in range(left, right + 1):
                cells[r][c] = colour
    return Grid.of(cells)


@st.composite
def pieces(draw: st.DrawFn) -> Piece:
    height, width = draw(st.integers(1, 5)), draw(st.integers(1, 5))
    colours = [*draw(st.lists(st.integers(0, 9), max_size=3)), 2, EMPTY]
    row, col = draw(st.integers(-3, 12)), draw(st.integers(-3, 12))
    return Piece(row, col, height, width, draw(_cells(height * width, colours)))


def values(stage: ValueStage) -> st.SearchStrategy[Value]:
    """Any value of a stage."""
    return {
        ValueStage.GRID: grids(),
        ValueStage.OBJECTS: st.lists(pieces(), max_size=6).map(tuple),
        ValueStage.OBJECT: pieces(),
        ValueStage.COLOUR: st.integers(0, 9),
        ValueStage.COUNT: st.integers(0, 40),
    }[stage]  # fmt: skip


def compiled(operator: Operator, value: Value, given: Grid) -> Value | None:
    """The kernel's result for a value; checks that it wrote only where it may."""
    src = np.frombuffer(bytearray(b"\x05" + encode(operator.takes, value)), np.uint8)
    inp = np.frombuffer(bytearray(b"\x06" + encode(ValueStage.GRID, given)), np.uint8)
    out = np.full(MAX_BYTES + 20, GUARD, np.uint8)
    ops = np.array([(operator.kernel, operator.p, operator.q)], np.int64)
    single, ends = np.array([1], np.int64), np.zeros((1, 1), np.int64)
    end = FAMILIES[family_of(operator.kernel)](ops, src, single, inp, single, out, ends, 10)
    assert (out[:10] == GUARD).all()
    assert (out[10 + MAX_BYTES :] == GUARD).all()
    if end == 10:
        return None
    result, read = decode(operator.gives, out.tobytes(), 10)
    assert read == end, "the value ends elsewhere than the kernel says"
    return result

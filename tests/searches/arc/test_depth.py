"""Depths of overlapping objects: planted piles of frames and lines, and charts by depth."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from tests.support.arcvalues import grid
from weft.searches.arc.fitted.choose import segment
from weft.searches.arc.fitted.depth import MOST_OBJECTS, depths_of, whole_cells
from weft.searches.arc.ops.objectparts import Cell, colour_of
from weft.searches.arc.program import parse as read_program
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learncharts import learn_charts
from weft.searches.arc.synthesis.sample import GridVector, VectorSample
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid, decode_grids, encode_grids


def depths(rows: str) -> dict[int, int]:
    """The depth of each colour of a grid."""
    objects = segment("layers", grid(rows))
    return dict(zip(map(colour_of, objects), depths_of(objects), strict=True))


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        ("00200/11211/00200", {1: 0, 2: 1}),
        ("10002/01020/00100/02010/20001", {1: 1, 2: 0}),
        ("2000/1111/0020/0002", {1: 1, 2: 0}),
        ("1110/1313/1113/0303/0333", {1: 1, 3: 0}),
        ("11100/12122/11102/02002/02222", {1: 1, 2: 0}),
        ("110/022", {1: 0, 2: 0}),
        ("00200/11211/00200/33233/00200", {1: 0, 2: 1, 3: 0}),
        ("00200/11211/00200/33333/00200", {1: 0, 2: 1, 3: 2}),
    ],
)
def test_what_has_cells_of_another_line_lies_above_it(rows: str, expected: dict[int, int]) -> None:
    assert depths(rows) == expected


def test_a_circle_and_many_objects_have_no_depths() -> None:
    assert depths("00200/30200/13111/00200/00230") == {1: 0, 2: 0, 3: 0}
    objects = segment("objects_4", grid("10" * (MOST_OBJECTS + 1)))
    assert depths_of(objects) == [0] * (MOST_OBJECTS + 1)


def test_other_shapes_are_whole() -> None:
    (piece,) = segment("objects_8", grid("110/010/011/110"))
    assert whole_cells(piece) == {(0, 0), (0, 1), (1, 1), (2, 1), (2, 2), (3, 0), (3, 1)}


PILES = (
    ((7, 1), (9, 4), (2, 3), (3, 2)),
    ((4, 3), (8, 1), (1, 2), (6, 4)),
    ((2, 2), (5, 4), (3, 1), (9, 3)),
)
"""Frames from the bottom up: their colours, and their heights above the middle."""


def pile(frames: Sequence[tuple[int, int]]) -> Grid:
    """Frames drawn over one another that all cross: the higher a frame, the narrower it is."""
    cells: dict[Cell, int] = {}
    for colour, high in frames:
        wide = (6, 5, 3, 2)[high - 1]
        ends = [(r, c) for r in (-high, high) for c in range(-wide, wide + 1)]
        sides = [(r, c) for c in (-wide, wide) for r in range(-high, high + 1)]
        cells |= dict.fromkeys([*ends, *sides], colour)
    return Grid.of([[cells.get((r, c), 0) for c in range(-6, 7)] for r in range(-5, 6)])


def test_planted_piles_are_learned_as_rings() -> None:
    values = [pile(frames) for frames in PILES]
    program = read_program('return chart(I, "layers: all; up depth; rings 1; fit; own")\n')
    outputs = [own for own in map(program.run, values) if own is not None]
    rings = [[own.at(n, n) for n in range(4)] for own in outputs]
    assert rings == [[colour for colour, _ in frames] for frames in PILES]
    pairs = [Pair(value, own) for value, own in zip(values, outputs, strict=True)]
    task = ArcTask("planted", tuple(pairs[:-1]), (pairs[-1].input,))
    vector = GridVector((), 0, encode_grids(values))
    sample = VectorSample((vector,), (), (vector,), (), False, False, 0)
    learned = learn_charts(EncodedTask(task), sample, vector)
    assert learned[0].program.parameters == "layers: all; up depth; rings 1; fit; own"
    assert decode_grids(learned[0].outputs) == (outputs[-1],)

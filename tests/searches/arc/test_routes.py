"""Lines that turn at obstacles: masks against walks over cells, and planted tables."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings

from tests.support.arcvalues import grid, grids
from weft.searches.arc.fitted.choose import segment
from weft.searches.arc.ops.objectparts import Cell, cells_of
from weft.searches.arc.tables.actions import applied
from weft.searches.arc.tables.learn import TableSearch
from weft.searches.arc.tables.routes import CRAWL, MOST_CELLS, MOST_TURNS, is_thin
from weft.searches.arc.tables.scene import Body, Scene, places
from weft.searches.arc.tables.table import drawn, parse
from weft.searches.arc.values import Grid

STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))
GOAL = 2


def scene(value: Grid) -> Scene:
    return Scene(value, segment("objects_4", value))


def own_cells(body: Body) -> set[Cell]:
    return {place for place, colour in cells_of(body.piece).items() if colour}


class Walk:
    """Walks over the black cells of a grid to cells of a colour, one step at a time."""

    def __init__(self, own: Scene, body: Body) -> None:
        self.own, self.body = own, body
        goals = [other for other in own.objects if other.colour == GOAL]
        self.ends = {cell for other in goals for cell in own_cells(other)}

    def is_free(self, cell: Cell) -> bool:
        r, c = cell
        is_inside = 0 <= r < self.own.height and 0 <= c < self.own.width
        return is_inside and not self.own.grid.at(r, c)

    def lines(self) -> Iterator[tuple[int, int, int, int]]:
        """Yield each line's numbers of turns and cells, and the sums of its columns and rows."""
        tall, wide = self.body.piece.height, self.body.piece.width
        for cell in own_cells(self.body):
            for step in STEPS:
                if tall == wide or bool(step[0]) == (tall > wide):
                    for turns, path in self.walks(cell, step, MOST_TURNS, []):
                        columns, rows = sum(c for _, c in path), sum(r for r, _ in path)
                        yield turns, len(path), columns, rows

    def walks(
        self, cell: Cell, step: Cell, turns: int, path: list[Cell]
    ) -> Iterator[tuple[int, list[Cell]]]:
        ahead = (cell[0] + step[0], cell[1] + step[1])
        if ahead in self.ends and path:
            yield 0, path
        elif self.is_free(ahead):
            if ahead not in path:
                yield from self.walks(ahead, step, turns, [*path, ahead])
        elif turns and path:
            for side in ((step[1], step[0]), (-step[1], -step[0])):
                first = (cell[0] + side[0], cell[1] + side[1])
                if self.is_free(first) or first in self.ends:
                    for more, way in self.walks(cell, side, turns - 1, path):
                        yield more + 1, way


@given(value=grids(side=6))
@settings(max_examples=80, deadline=None)
def test_lines_have_the_fewest_turns_and_cells(value: Grid) -> None:
    own = scene(value)
    for body in own.bodies:
        result = applied(own, body, (CRAWL, str(GOAL), "7"))
        lines = list(Walk(own, body).lines())
        is_able = body.colour != GOAL and len(own_cells(body)) <= MOST_CELLS
        if not lines or not is_able:
            assert result is None
            continue
        assert result is not None
        ((_, mask),) = result.below
        cells = [divmod(place, own.width) for place in places(mask)]
        sums = (len(cells), sum(c for _, c in cells), sum(r for r, _ in cells))
        assert sums == min(lines)[1:]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("01000/00040/00000/40002", "01000/01040/01000/41112"),
        ("110004/000000/000000/200000", "111114/000010/000010/211110"),
        ("110004/000000/000000/204000", None),
        ("100/000/000", None),
    ],
)
def test_lines_turn_where_something_is_in_their_way(before: str, after: str | None) -> None:
    output = drawn(scene(grid(before)), parse("by colour 1 crawl 2 own, else stay"))
    assert output == (None if after is None else grid(after))


def test_planted_lines_are_found() -> None:
    inputs = ("330004/000000/000000/200000", "3000/3000/0004/0000/0002", "00300/00300/00000/02000")
    scenes, text = [scene(grid(each)) for each in inputs], "by colour 3 crawl 2 own, else stay"
    targets = [target for target in (drawn(own, parse(text)) for own in scenes) if target]
    assert len(targets) == len(scenes)
    assert any(CRAWL in table.text() for table in TableSearch(scenes, targets).fitting())


@pytest.mark.parametrize(
    ("before", "after", "is_line"),
    [
        ("100/000/001", "111/001/001", True),
        ("100/000/001", "100/000/001", False),
        ("100/000/001", "011/001/001", False),
        ("100/000/001", "111/011/001", False),
        ("100/200/001", "100/300/111", False),
    ],
)
def test_lines_are_tried_where_targets_add_thin_ones(
    before: str, after: str, is_line: bool
) -> None:
    assert is_thin([scene(grid(before))], [grid(after)]) == is_line

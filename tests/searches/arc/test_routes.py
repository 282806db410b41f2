"""Routes around obstacles: masks against walks over cells, and planted tables."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.arcvalues import grid, grids
from weft.searches.arc.fitted.choose import segment
from weft.searches.arc.ops.objectparts import Cell, cells_of
from weft.searches.arc.tables.actions import applied
from weft.searches.arc.tables.learn import TableSearch
from weft.searches.arc.tables.routes import MOST_CELLS, MOST_TURNS, SAME, is_thin
from weft.searches.arc.tables.scene import Body, Scene, places
from weft.searches.arc.tables.table import drawn, parse
from weft.searches.arc.values import Grid

STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1))


def scene(value: Grid) -> Scene:
    return Scene(value, segment("objects_4", value))


def own_cells(body: Body) -> set[Cell]:
    return {place for place, colour in cells_of(body.piece).items() if colour}


class Walk:
    """Walks over the black cells of a grid to cells of a colour, one step at a time."""

    def __init__(self, own: Scene, body: Body, name: str) -> None:
        self.own, self.body, self.name = own, body, name
        kin = [o for o in own.objects if o is not body and o.colour == body.colour]
        self.ends = {cell for other in kin for cell in own_cells(other)}

    def is_free(self, cell: Cell) -> bool:
        r, c = cell
        is_inside = 0 <= r < self.own.height and 0 <= c < self.own.width
        return is_inside and not self.own.grid.at(r, c)

    def lines(self) -> Iterator[tuple[int, int, int, int]]:
        """How many turns and cells each line to the ends has, and the sums of their places."""
        tall, wide = self.body.piece.height, self.body.piece.width
        for cell in own_cells(self.body):
            for step in STEPS:
                if self.name == "route" or tall == wide or bool(step[0]) == (tall > wide):
                    for turns, path in self.walks(cell, step, MOST_TURNS[self.name], []):
                        columns, rows = sum(c for _, c in path), sum(r for r, _ in path)
                        yield turns, len(set(path)), columns, rows

    def walks(
        self, cell: Cell, step: Cell, turns: int, path: list[Cell]
    ) -> Iterator[tuple[int, list[Cell]]]:
        ahead = (cell[0] + step[0], cell[1] + step[1])
        if ahead in self.ends and path:
            yield 0, path
        may_turn = turns and path and (self.name == "route" or not self.is_free(ahead))
        if may_turn and (self.name == "route" or ahead not in self.ends):
            for side in ((step[1], step[0]), (-step[1], -step[0])):
                is_crossed = (cell[0] + side[0], cell[1] + side[1]) in path
                if not is_crossed:
                    for more, way in self.walks(cell, side, turns - 1, path):
                        yield more + 1, way
        if self.is_free(ahead) and ahead not in path:
            yield from self.walks(ahead, step, turns, [*path, ahead])


@given(value=grids(side=6), name=st.sampled_from(sorted(MOST_TURNS)))
@settings(max_examples=60, deadline=None)
def test_lines_have_the_fewest_turns_and_cells(value: Grid, name: str) -> None:
    own = scene(value)
    for body in own.bodies:
        result = applied(own, body, (name, SAME, "7"))
        if len(own_cells(body)) > MOST_CELLS:
            assert result is None
            continue
        assert result is not None
        ((_, mask),) = result.below
        cells = [divmod(place, own.width) for place in places(mask)]
        best = min(Walk(own, body, name).lines(), default=(0, 0, 0, 0))
        assert (len(cells), sum(c for _, c in cells), sum(r for r, _ in cells)) == best[1:]


@pytest.mark.parametrize(
    ("before", "text", "after"),
    [
        ("10000/00400/00001", "route same own", "10000/10400/11111"),
        ("10004/00444/00001", "route same 7", "10004/70444/77771"),
        ("1000/4440/0003", "route 3 7", "1777/4447/0003"),
        ("100/040/001", "route 3 7", None),
        ("01000/00040/00000/40002", "crawl 2 own", "01000/01040/01000/41112"),
        ("110004/000000/000000/300000", "crawl 3 own", "111114/000010/000010/311110"),
        ("110004/000000/000000/304000", "crawl 3 own", None),
    ],
)
def test_lines_go_around_what_is_in_the_way(before: str, text: str, after: str | None) -> None:
    own = scene(grid(before))
    body = next(body for body in own.bodies if body.colour == 1)
    result = applied(own, body, tuple(text.split()))
    table = parse(f"by colour 1 {text}, else stay")
    assert (result is None) == (after is None)
    if after is not None and text.split()[1] != SAME:
        assert drawn(own, table) == grid(after)


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        (
            "by colour 4 stay, else route same own",
            ("10000/00400/04001", "0020000/0044400/0000000/2000003/0000000/0003000"),
        ),
        (
            "by colour 3 crawl 2 own, else stay",
            ("330004/000000/000000/200000", "3000/3000/0004/0000/0002", "00300/00300/00000/02000"),
        ),
    ],
)
def test_planted_lines_are_found(text: str, inputs: tuple[str, ...]) -> None:
    scenes = [scene(grid(each)) for each in inputs]
    targets = [target for target in (drawn(own, parse(text)) for own in scenes) if target]
    assert len(targets) == len(scenes)
    verb = text.split()[-3 if "route" in text else 3]
    tables = TableSearch(scenes, targets).fitting()
    assert any(verb in table.text() for table in tables)


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

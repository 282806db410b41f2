"""Tables over objects: masks against cells one by one, texts, planted tables, coloured ground."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.arctasks import options, phase_with_learned
from tests.support.arcvalues import grids
from weft.errors import InputError
from weft.searches.arc.fitted.choose import segment
from weft.searches.arc.ops.objectparts import cells_of, neighbours
from weft.searches.arc.program import parse as read_program
from weft.searches.arc.synthesis.ablation import VIEWS
from weft.searches.arc.synthesis.log import GROUNDED
from weft.searches.arc.synthesis.planner import ParallelPlanner
from weft.searches.arc.tables.actions import ACTIONS, LEAVE, applied
from weft.searches.arc.tables.measures import columns_of
from weft.searches.arc.tables.scene import STEPS, Body, Scene, masks_of, places
from weft.searches.arc.tables.table import ObjectTable, drawn, parse
from weft.searches.arc.tables.vocabulary import actions, check
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid, decode_grids

Cells = dict[tuple[int, int], int]
KNOWN = tuple(actions((2, 5), [(1, -1)]))


def grid(text: str) -> Grid:
    """A grid from its rows: `01/10`."""
    return Grid.of([[int(cell) for cell in row] for row in text.split("/")])


def scene(value: Grid) -> Scene:
    return Scene(value, segment("objects_8", value))


def body_cells(own: Scene, body: Body) -> Cells:
    """The cells of an object by place."""
    return {place: colour for place, colour in cells_of(body.piece).items() if colour}


def made(own: Scene, body: Body, text: str) -> tuple[Cells, Cells] | None:
    """What an action draws: the object, and what lies below, cell by cell."""
    result = applied(own, body, tuple(text.split()))
    if result is None:
        return None
    layers = (result.body, result.below)
    first, second = (
        {divmod(place, own.width): colour for colour, mask in each for place in places(mask)}
        for each in layers
    )
    return first, second


# -- masks against cells --------------------------------------------------------------------------


def slid(own: Scene, body: Body, side: str, stops: bool) -> Cells:
    """An object moved step by step, slowly."""
    cells, (down, along) = body_cells(own, body), STEPS[side]
    others = (
        {p for o in own.bodies if o is not body for p in body_cells(own, o)} if stops else set()
    )
    while True:
        moved = {(r + down, c + along): colour for (r, c), colour in cells.items()}
        if any(
            not (0 <= r < own.height and 0 <= c < own.width) or (r, c) in others for r, c in moved
        ):
            return cells
        cells = moved


def rayed(own: Scene, body: Body, side: str, stops: bool) -> Cells:
    """Lines from every cell of an object, slowly."""
    cells, (down, along) = body_cells(own, body), STEPS[side]
    others = {p for o in own.bodies if o is not body for p in body_cells(own, o)}
    line: Cells = {}
    for row, column in cells:
        r, c = row + down, column + along
        while 0 <= r < own.height and 0 <= c < own.width and not (stops and (r, c) in others):
            line[r, c] = body.colour
            r, c = r + down, c + along
    return {place: colour for place, colour in line.items() if place not in cells}


def enclosed(own: Scene, body: Body) -> set[tuple[int, int]]:
    """The black cells that an object encloses, by flooding from outside."""
    wall = set(body_cells(own, body))
    free = {(r, c) for r in range(-1, own.height + 1) for c in range(-1, own.width + 1)} - wall
    reached = [(-1, -1)]
    for cell in reached:
        reached += [n for n in neighbours(cell, False) if n in free and n not in reached]
    return {(r, c) for r, c in free - set(reached) if own.grid.at(r, c) == 0}


@given(value=grids(), side=st.sampled_from(list(STEPS)[:4]))
@settings(max_examples=80, deadline=None)
def test_masks_do_what_cells_one_by_one_do(value: Grid, side: str) -> None:
    own = scene(value)
    for body in own.bodies:
        cells = body_cells(own, body)
        assert made(own, body, "stay") == (cells, {})
        assert made(own, body, f"slide {side}") == (slid(own, body, side, stops=True), {})
        assert made(own, body, f"edge {side}") == (slid(own, body, side, stops=False), {})
        assert made(own, body, f"ray {side} own") == (cells, rayed(own, body, side, stops=True))
        assert made(own, body, f"beam {side} own") == (cells, rayed(own, body, side, stops=False))
        holes = dict.fromkeys(enclosed(own, body), 3)
        assert made(own, body, "add holes 3") == (cells, holes)
        around = {n for cell in cells for n in neighbours(cell, True)} - set(cells)
        inside = {(r, c) for r, c in around if 0 <= r < own.height and 0 <= c < own.width}
        black = {place: 4 for place in inside if value.at(*place) == 0}
        assert made(own, body, "add outline 4") == (cells, black)


@given(value=grids(), action=st.sampled_from(KNOWN))
@settings(max_examples=150, deadline=None)
def test_no_action_leaves_the_grid_or_fails(value: Grid, action: tuple[str, ...]) -> None:
    own = scene(value)
    for body in own.bodies:
        result = applied(own, body, action)
        for colour, mask in () if result is None else (*result.body, *result.below):
            assert 0 <= colour <= 9
            assert not mask & ~own.everything


@given(value=grids())
@settings(max_examples=40, deadline=None)
def test_staying_objects_are_the_grid(value: Grid) -> None:
    own = scene(value)
    assert drawn(own, ObjectTable((), (), ("stay",))) == value
    assert sum(masks_of(value)) == own.everything


# what an object is, the action, what becomes of it alone
BECOMES = (
    ("00000/01120/00000", "slide ahead", "00000/00112/00000"),
    ("00000/01120/00000", "ray behind own", "00000/11120/00000"),
    ("00000/01000/00003", "turn half", "00000/01000/00003"),
    ("1000/0000/0003", "paint nearest", "3000/0000/0003"),
    ("1003/0000/0000", "meet 3", "0013/0000/0000"),
    ("1003/0000/0000", "slide toward", "0013/0000/0000"),
    ("0000/1000/0000", "edge inward", "0000/0001/0000"),
    ("1001/0000/0003", "link row same own", "1111/0000/0003"),
    ("1002/0000/0001", "link row same own", "1002/0000/0001"),
    ("1002/0000/0001", "link row any 5", "1552/0000/0001"),
    ("11000/00000", "copies east 1", "11011/00000"),
    ("1100/0000", "leave shift 1 1", "1100/0110"),
    ("1100/0000", "shift 1 1 in 7", "0000/0770"),
    ("100/110/000", "reflect east", "100/111/000"),
    ("1000/0000", "by east cells", "0100/0000"),
)


@pytest.mark.parametrize(("before", "text", "after"), BECOMES)
def test_action_is_what_its_words_say(before: str, text: str, after: str) -> None:
    own = Scene(grid(before), segment("blobs_8", grid(before)))
    first, *rest = own.bodies
    layers = made(own, first, text)
    assert layers is not None
    kept = {p: c for other in rest for p, c in body_cells(own, other).items()}
    cells = {**layers[1], **layers[0], **kept}
    assert cells == {p: c for p, c in _cells(grid(after)).items() if c}


def _cells(value: Grid) -> Cells:
    return {(r, c): value.at(r, c) for r in range(value.height) for c in range(value.width)}


# -- texts ----------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(0, 9), st.sampled_from(KNOWN)), max_size=4),
    st.sampled_from(KNOWN),
)
def test_table_is_read_back_as_it_was_written(
    groups: list[tuple[int, tuple[str, ...]]], rest: tuple[str, ...]
) -> None:
    table = ObjectTable(("colour",), tuple(((v,), a) for v, a in groups), rest)
    table = table if groups else replace(table, columns=())
    assert parse(table.text()) == table
    assert table.millibits > 0


@pytest.mark.parametrize(
    "text",
    ["objects_8: else fly", "objects_9: else stay", "objects_8: by size 1 stay, else stay",
     "objects_8: by colour 1 stay", "objects_8: else shift 1", "objects_8: else shift x 1",
     "objects_8: by colour&cells 1 stay, else gone", "objects_8: for colour 1 stay, else gone",
     "objects_8: else leave stay", "objects_8: else paint", "objects_8"],
)  # fmt: skip
def test_bad_tables_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a parameter of objects"):
        read_program(f'return objects(I, "{text}")\n')


def test_every_action_can_be_written() -> None:
    assert {action[0] for action in KNOWN} == {*ACTIONS, LEAVE}
    assert all(check(action) == action for action in KNOWN)


@given(value=grids())
@settings(max_examples=30, deadline=None)
def test_every_column_has_a_number_for_every_object(value: Grid) -> None:
    own = scene(value)
    if own.bodies:
        assert all(len(values) == len(own.bodies) for values in columns_of(own).values())


# -- planted tables -------------------------------------------------------------------------------

INPUTS = (
    "0000000/0110000/0000200/0000000", "2000000/0000000/0001000/0000000",
    "0000020/0000000/1100000/0000000", "0000000/0200000/0000001/0000000",
)  # fmt: skip
TABLE = 'return objects(I, "objects_8: by colour 1 slide south, else paint 5")\n'


def planted(ground: int = 0) -> ArcTask:
    """Blue falls and red turns grey, on a ground."""

    def on_ground(value: Grid) -> Grid:
        names = bytes.maketrans(bytes((0, ground)), bytes((ground, 0)))
        return Grid(value.height, value.width, value.cells.translate(names))

    program, pairs = read_program(TABLE), []
    for text in INPUTS:
        output = program.run(grid(text))
        assert output is not None
        pairs.append(Pair(on_ground(grid(text)), on_ground(output)))
    return ArcTask("planted", tuple(pairs[:3]), (pairs[3].input,), (pairs[3].output,))


def test_planted_table_is_learned_and_predicts_every_pair() -> None:
    phase = phase_with_learned(planted(), options("mirror_rows", depth=1))
    tables = [c for c in phase.guesses if c.program.fitted == "objects"]
    assert tables
    assert tables[0].program.text() == TABLE
    assert decode_grids(tables[0].outputs) == planted().truth
    assert tables[0].loo_passed == 3
    assert tables[0].program.run(planted().test[0]) == planted().truth[0]


def test_puzzle_on_a_coloured_ground_is_searched_on_black_ground_too() -> None:
    task, own = planted(ground=7), options("mirror_rows", depth=1)
    found = ParallelPlanner(own).search(task)
    assert found.verdict.groups[0].outputs == task.truth
    program = found.verdict.groups[0].programs[0]
    assert program.text() == "view ground_black\n" + TABLE
    assert program.run(task.test[0]) == task.truth[0]
    assert any(event.slice >= GROUNDED - 1 for event in found.log.events)
    without = ParallelPlanner(replace(own, without=(VIEWS,))).search(task)
    assert all(p.view is None for g in without.verdict.groups for p in g.programs)
    assert all(event.slice < GROUNDED - 1 for event in without.log.events)


def test_black_ground_is_searched_once() -> None:
    found = ParallelPlanner(options("mirror_rows", depth=1)).search(planted())
    assert found.verdict.groups[0].outputs == planted().truth
    assert all(event.slice < GROUNDED - 1 for event in found.log.events)

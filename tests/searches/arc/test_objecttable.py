"""Tables over objects: masks against single cells, texts, planted tables, other backgrounds."""

from __future__ import annotations

from dataclasses import replace
from itertools import cycle
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.arcruns import BUDGET, run_tasks
from tests.support.arctasks import options, phase_with_learned, task_of
from tests.support.arcvalues import grid, grids
from weft.errors import InputError
from weft.searches.arc.assessment import Found
from weft.searches.arc.check import check_run
from weft.searches.arc.failure import analyse
from weft.searches.arc.fitted.choose import segment
from weft.searches.arc.normal.registry import FittedView
from weft.searches.arc.ops.objectparts import cells_of, neighbours
from weft.searches.arc.program import parse as read_program
from weft.searches.arc.recorded import read_run
from weft.searches.arc.request import ArcRequest
from weft.searches.arc.symmetries import transposed
from weft.searches.arc.synthesis.ablation import LISTS, VIEWS
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learntables import PARTS, joined, learn_input_tables, learn_tables
from weft.searches.arc.synthesis.log import GROUNDED
from weft.searches.arc.synthesis.planner import ParallelPlanner
from weft.searches.arc.synthesis.sample import GridVector
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.tables.actions import ACTIONS, AND, IN, LEAVE, ONLY, applied, parts_of
from weft.searches.arc.tables.groupactions import GroupActions, Row
from weft.searches.arc.tables.learn import TableSearch, above
from weft.searches.arc.tables.measures import columns_of
from weft.searches.arc.tables.scene import STEPS, Body, Scene, masks_of, places
from weft.searches.arc.tables.sides import OPPOSITE, WAYS, side_of
from weft.searches.arc.tables.table import ObjectTable, drawn, parse
from weft.searches.arc.tables.vocabulary import actions, check
from weft.searches.arc.tables.wording import ACTION_WORDS, MODIFIER_WORDS, SIDE_WORDS
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.tasks import planner_of
from weft.searches.arc.values import Grid, decode_grids
from weft.searches.arc.wire import answer_to_wire

Cells = dict[tuple[int, int], int]
KNOWN = tuple(actions((2, 5), [(1, -1)]))


def scene(value: Grid) -> Scene:
    return Scene(value, segment("objects_8", value))


def body_cells(own: Scene, body: Body) -> Cells:
    """The cells of an object by position."""
    return {place: colour for place, colour in cells_of(body.piece).items() if colour}


def made(own: Scene, body: Body, text: str) -> tuple[Cells, Cells] | None:
    """The cells that an action draws: the object itself, and what lies below or above it."""
    result = applied(own, body, tuple(text.split()))
    if result is None:
        return None
    layers = (result.body, (*result.below, *result.above))
    first, second = (
        {divmod(place, own.width): colour for colour, mask in each for place in places(mask)}
        for each in layers
    )
    return first, second


# -- masks against cells --------------------------------------------------------------------------


def slid(own: Scene, body: Body, side: str, stops: bool) -> Cells:
    """An object moved step by step, computed slowly."""
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
    """Lines from every cell of an object, computed slowly."""
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


# grid, action of its first object, resulting grid
BECOMES = (
    ("00000/01120/00000", "slide ahead", "00000/00112/00000"),
    ("00000/01120/00000", "ray behind own", "00000/11120/00000"),
    ("00000/01000/00003", "turn half", "00000/01000/00003"),
    ("1000/0000/0003", "paint nearest", "3000/0000/0003"),
    ("1003/0000/0000", "meet 3", "0013/0000/0000"),
    ("1003/0000/0000", "slide toward", "0013/0000/0000"),
    ("100033/000000/020000", "ray main own", "111133/000000/020000"),
    ("01033/00000/20000", "edge off", "10033/00000/20000"),
    ("0000/1000/0000", "edge inward", "0000/0001/0000"),
    ("1001/0000/0003", "link row same own", "1111/0000/0003"),
    ("1002/0000/0001", "link row same own", "1002/0000/0001"),
    ("1002/0000/0001", "link row any 5", "1552/0000/0001"),
    ("11000/00000", "copies east 1", "11011/00000"),
    ("1100/0000", "leave shift 1 1", "1100/0110"),
    ("1100/0000", "shift 1 1 in 7", "0000/0770"),
    ("100/110/000", "reflect east", "100/111/000"),
    ("1000/0000", "by east cells", "0100/0000"),
    ("0000/0110/0000", "by south cells", "0000/0000/0000"),
    ("10000/10000/00000", "by centre one", "00000/01000/01000"),
    ("11000/10000/00000", "by notch one", "00000/01100/01000"),
    ("1000/0000/1111", "by kin one", "0000/1000/1111"),
    ("1000/0000/0001", "by kin one", "1000/0000/0001"),
    ("1000/0000/0300", "by to_3 one", "0000/0100/0300"),
    ("000000/011000/011000/000000", "add ring 4", "444400/411400/411400/444400"),
    ("0000000/0000000/1111000/0000000/0000000", "add ring 4",
     "4444440/4444440/1111440/4444440/4444440"),
    ("00100/00100/00100/00100/00000", "add ring 4", "44144/44144/44144/44144/44444"),
    ("10222/00000/30000", "paint nearest", "30222/00000/30000"),
    ("103/000/200/200/200", "paint nearest", "303/000/200/200/200"),
    ("1003/0000/0000", "by to_3 one", "0103/0000/0000"),
    ("0010300/0000000", "slide from_3", "1000300/0000000"),
    ("0010300/0000000", "edge from_3", "1000300/0000000"),
    ("00000/00103/00000", "ray from_3 7", "00000/77103/00000"),
    ("0000000/0010000/0000000/0000300", "slide from_3",
     "0100000/0000000/0000000/0000300"),
    ("1000/0003/0000", "meet 3", "1000/0003/0000"),
    ("10005/00000/00000", "pile 5", "00015/00000/00000"),
    ("101005/000000", "pile 5", "001105/000000"),
    ("0000/0103/0003", "align bottom 3", "0000/0003/0103"),
    ("1000/0003", "align bottom 3", "0000/1003"),
    ("1000/0000/0003", "align right 3", "0001/0000/0003"),
    ("10000/00000/03030/00000/03030", "settle 3", "00000/00000/03030/00100/03030"),
    ("1100000/1003000", "mirror near 3", "0000011/0003001"),
    ("0010330000", "mirror near 3", "0000331000"),
    ("0010330000", "mirror far 3", "0000330010"),
    ("1100000/1003000", "image across 3", "1100011/1003001"),
    ("10000/00300/00000", "image fourfold 3", "10001/00300/10001"),
    ("11000/00000/33333/00000/00000", "axis 3", "11000/00000/33333/00000/11000"),
    ("1003000/0103000", "axis 3", "1003001/0103010"),
    ("01000/00000/00300/00030", "axis 3", "01000/10000/00300/00030"),
    ("1003/0030/0300/3000", "axis 3", "1003/0030/0300/3001"),
    ("10000/00300/00000", "image half 3", "10000/00300/00001"),
    ("0010000/0000300/3333333/0000300/0000300", "image fourfold 3",
     "0010001/0000300/3333333/0000300/0010301"),
    ("000/010/000", "only add sides 4 and only add corners own", "141/404/141"),
    ("11020000/11020000", "trail", "11022022/11022022"),
    ("110200/110000", "trail", "110220/110220"),
    ("00000/01100/01000/00000", "complete half", "00000/01100/01100/00000"),
    ("0000000/0101000/0111000/0000000", "complete fourfold", "0000000/0111000/0111000/0000000"),
    ("000000/012000/032000/000000", "complete across", "000000/212000/232000/000000"),
    ("0000/0120/0330/0000", "complete fourfold", "0000/0120/0330/0000"),
    ("10300/00000", "pack east", "00301/00000"),
    ("01021/00001/00000", "pack kin", "00121/00001/00000"),
    ("120000/000000/000200", "dock plain", "000000/000000/001200"),
    ("120000/000000/000200", "leave dock across", "120000/000000/000210"),
    ("120000/000000/000300", "dock plain", "120000/000000/000300"),
    ("01000/11000/00000/00000", "turn left", "11000/01000/00000/00000"),
    ("000/111/000", "turn right", "010/010/010"),
    ("11000/00000", "tile east 1", "11011/00000"),
    ("1200/0000", "tile east 1", "1201/0000"),
    ("10300/00000", "cut east 7", "17777/00000"),
    ("10300/00000", "beam east 7", "17377/00000"),
    ("1120/0000/0000/0000", "reach south colours 5", "1120/5550/5550/0000"),
    ("1100/1000/0000/0000", "ray notch own", "1100/1000/0010/0001"),
    ("1000/0000/0003", "elbow row 3 7", "1777/0007/0003"),
    ("1000/0000/0003", "elbow column 3 7", "1000/7000/7773"),
    ("000/000/000/000/100", "bounce north own", "100/010/001/010/100"),
    ("0100/0000/0000/0000", "bounce south 7", "0100/0070/0007/0070"),
    ("1000/0000/0030/0000", "bounce south 7", "1000/0700/7030/0700"),
    ("00000/00000/00000/00000/10000", "stairs northeast row 2 7",
     "00007/00007/00777/00700/17700"),
    ("10000/00030/00000", "stairs southeast row 1 7", "17000/07730/00770"),
    ("00000/01010/01110/00000", "spill straight 4", "00400/01410/01110/00000"),
    ("000000/011010/010010/011110/000000", "spill spread 4",
     "004440/011410/014410/011110/000000"),
    ("0000/0110/0110/0000", "add wings 4", "0440/4114/4114/0440"),
    ("00000000/00010000/00000000/03000030/00000000", "add wings 4",
     "00040000/00414000/00040000/03000030/00000000"),
    ("1000/0000/0000", "add southeast 4", "1000/0400/0000"),
    ("0000/0110/0000", "add north own", "0110/0110/0000"),
    ("1001/1111/0000", "add box 4", "1441/1111/0000"),
    ("0000/0110/0000", "add northwest 1 and add southeast 2", "1000/0110/0002"),
)  # fmt: skip
COVERED = (
    ("000000/011500/011500/000000", "cover frame 4", "444400/411400/411400/444400"),
    ("10300/00000", "cut row own", "11111/00000"),
)


@pytest.mark.parametrize(("before", "text", "after"), COVERED)
def test_what_covers_others_is_drawn_above_them(before: str, text: str, after: str) -> None:
    own = scene(grid(before))
    colour = own.bodies[0].colour
    table = ObjectTable(("colour",), (((colour,), tuple(text.split())),), ("stay",))
    assert drawn(own, table) == grid(after)


@pytest.mark.parametrize(("before", "text", "after"), BECOMES)
def test_action_is_what_its_words_say(before: str, text: str, after: str) -> None:
    own = Scene(grid(before), segment("blobs_8", grid(before)))
    first, *rest = own.bodies
    layers = made(own, first, text)
    assert layers is not None
    unchanged = {p: c for other in rest for p, c in body_cells(own, other).items()}
    is_above = text.startswith("cut")
    cells = {**unchanged, **layers[1]} if is_above else {**layers[1], **layers[0], **unchanged}
    cells |= layers[0] if is_above else {}
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
     "objects_8: else leave stay", "objects_8: else only stay", "objects_8: else paint",
     "objects_8",
     "objects_8: else stay and add box 1", "objects_8: else add box 1 and", "objects_8: else and",
     "objects_8: else cover holes 1", "objects_8: else by to_0 one"],
)  # fmt: skip
def test_bad_tables_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a parameter of objects"):
        read_program(f'return objects(I, "{text}")\n')


def test_every_action_can_be_written() -> None:
    assert {action[0] for action in KNOWN} == {*ACTIONS, LEAVE, ONLY}
    assert all(check(action) == action for action in KNOWN)


def test_every_action_drawn_above_others_can_be_written() -> None:
    for action in actions(range(10), ()):
        assert check(above(action)) == above(action)


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


def planted(*grounds: int) -> ArcTask:
    """Blue falls and red turns grey, on alternating backgrounds."""

    def on_ground(value: Grid, ground: int) -> Grid:
        names = bytes.maketrans(bytes((0, ground)), bytes((ground, 0)))
        return Grid(value.height, value.width, value.cells.translate(names))

    program, pairs = read_program(TABLE), []
    for text, ground in zip(INPUTS, cycle(grounds or (0,)), strict=False):
        output = program.run(grid(text))
        assert output is not None
        pairs.append(Pair(on_ground(grid(text), ground), on_ground(output, ground)))
    return ArcTask("planted", tuple(pairs[:3]), (pairs[3].input,), (pairs[3].output,))


def fitted(text: str, *inputs: str) -> list[str]:
    """The texts of the tables learned from a table's outputs on some grids."""
    scenes, table = [scene(grid(each)) for each in inputs], parse(text)
    targets = [drawn(own, table) for own in scenes]
    assert None not in targets
    return [table.text() for table in TableSearch(scenes, [t for t in targets if t]).fitting()]


@pytest.mark.parametrize(
    ("text", "side"),
    [
        ("00000/01300/00330/00000", "east"),
        ("03330/03130/03030", "north"),
        ("0300/0130/0000", "north"),
        ("0000/0100/0030", "southeast"),
        ("0000/0100/0000", None),
    ],
)
def test_way_to_a_colour_is_where_it_touches_or_lies_nearest(text: str, side: str | None) -> None:
    own = scene(grid(text))
    body = next(body for body in own.bodies if body.colour == 1)
    assert side_of(own, body, "to_3") == side
    assert side_of(own, body, "from_3") == (None if side is None else OPPOSITE[side])


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("else add northwest 3 and add southeast 4", ("00000/00110/00000", "20000/00000/00050")),
        (
            "by tall 1 beam column own, else cut row own",
            ("00022/00000/01000/01000", "003300/000000/100000/100000", "2200/0000/0003/0003"),
        ),
        ("by colour 5 stay, else pile 5 in 5", ("1010005/0000015", "0105/1005", "5001")),
        ("by count_3 0 mirror near 3, else stay", ("10300/10000/00000", "0030100", "02300")),
        ("by colour 2 stay, else elbow column 2 8", ("2000/0000/0003", "0030/0000/2000")),
    ],
)
def test_planted_actions_are_found(text: str, inputs: tuple[str, ...]) -> None:
    *_, verb = (word for word in ("and", "cut", "pile", "mirror", "elbow") if word in text.split())
    assert any(verb in table.split() for table in fitted(text, *inputs))


@given(st.lists(grids(), min_size=1, max_size=2), st.sampled_from(KNOWN), st.sampled_from(KNOWN))
@settings(max_examples=25, deadline=None)
def test_every_table_that_fits_makes_the_targets(
    values: list[Grid], first: tuple[str, ...], rest: tuple[str, ...]
) -> None:
    scenes = [scene(value) for value in values]
    targets = [drawn(own, ObjectTable(("colour",), (((1,), first),), rest)) for own in scenes]
    if not all(own.bodies for own in scenes) or None in targets:
        return
    for table in TableSearch(scenes, [t for t in targets if t is not None]).fitting():
        assert [drawn(own, parse(table.text())) for own in scenes] == targets


@given(
    st.lists(
        st.dictionaries(st.integers(0, 4), st.integers(0, 15), min_size=1), min_size=3, max_size=3
    ),
    st.integers(0, 15),
    st.booleans(),
)
def test_chosen_actions_are_consistent_and_draw_what_is_needed(
    covers: list[dict[int, int]], need: int, may_join: bool
) -> None:
    names = (("stay",), ("gone",), ("ray", "east", "own"), ("add", "box", "2"), ("paint", "2"))
    rows = [Row(own, sum(1 << n for n in own)) for own in covers]
    choice = GroupActions(names, [1, 2, 3, 4, 5], rows, need).choice(
        (0b110, 0b1), may_join=may_join
    )
    cells = 0
    for group, action in (choice or {}).items():
        for row in (rows[n] for n in places(group)):
            for part in parts_of(action):
                cells |= row.covers[names.index(part)]
    assert choice is None or not need & ~cells


def test_planted_table_is_learned_and_predicts_every_pair() -> None:
    phase = phase_with_learned(planted(), options("mirror_rows", depth=1))
    tables = [c for c in phase.guesses if c.program.fitted == "objects"]
    assert tables
    assert tables[0].program.text() == TABLE
    assert decode_grids(tables[0].outputs) == planted().truth
    assert tables[0].loo_passed == 3
    assert tables[0].program.run(planted().test[0]) == planted().truth[0]


@pytest.mark.parametrize("is_transposed", [False, True])
def test_what_an_object_adds_last_lies_above_what_another_adds_first(is_transposed: bool) -> None:
    """The left object's line crosses the frame of the right one, which is first in the grid."""
    given_, side = grid("000000/000010/100000/000000"), "east"
    expected = grid("000444/440414/142444/440000")
    if is_transposed:
        given_, expected, side = transposed(given_), transposed(expected), "south"
    table = parse(f"else ray {side} 2 and add frame 4")
    assert drawn(scene(given_), table) == expected


def test_puzzle_on_another_ground_is_searched_as_if_it_were_black() -> None:
    own = options("mirror_rows", depth=1)
    result, black = (ParallelPlanner(own).search(planted(ground)) for ground in (7, 0))
    task, view = planted(7), FittedView("ground_black", "7")
    assert result.verdict == black.verdict.through(view, task.test)
    assert result.verdict.groups[0].outputs == task.truth
    program = result.verdict.groups[0].programs[0]
    assert program.text() == 'view ground_black "7"\n' + TABLE
    assert program.run(task.test[0]) == task.truth[0]
    texts = [event.data["program"] for event in result.log.events if "program" in event.data]
    assert all(str(text).startswith('view ground_black "7"\n') for text in texts)
    assert result.programs == black.programs


def test_run_on_another_ground_records_what_the_planner_finds(tmp_path: Path) -> None:
    task = planted(7)
    run_tasks(tmp_path / "run", [task])
    run = read_run(tmp_path / "run")
    answer = run.items[0].answer
    planner = planner_of(ArcRequest((task,), BUDGET).options())
    result = planner.search(task)
    assert answer is not None
    recorded = {key: value for key, value in answer.items() if key != "log"}
    assert recorded == answer_to_wire(result, analyse(result))
    assert all(text.startswith("view ground_") for g in answer["groups"] for text in g["programs"])
    checked = list(check_run(run))
    assert checked
    assert all(each.exact for each in checked)


def test_puzzle_on_coloured_grounds_is_searched_on_black_ground_too() -> None:
    task, own = planted(7, 8), options("mirror_rows", depth=1)
    result = ParallelPlanner(own).search(task)
    assert result.verdict.groups[0].outputs == task.truth
    program = result.verdict.groups[0].programs[0]
    assert program.text() == "view ground_black\n" + TABLE
    assert program.run(task.test[0]) == task.truth[0]
    assert any(event.slice >= GROUNDED - 1 for event in result.log.events)
    without = ParallelPlanner(replace(own, without=(VIEWS,))).search(task)
    assert all(p.view is None for g in without.verdict.groups for p in g.programs)
    assert all(event.slice < GROUNDED - 1 for event in without.log.events)


def test_objects_of_a_grid_as_large_as_the_outputs_are_decided_about() -> None:
    """For outputs of another size, a program resizes the grid before its table draws."""
    program = read_program(
        'a = scale_2(I)\nreturn objects(a, "objects_8: by colour 1 ray cross 4, else stay")\n'
    )
    task = task_of(program, [grid(t) for t in ("100/020", "03/00/01", "0010/0200", "002/100")])
    assert task is not None
    own = replace(options("scale_2", depth=1, prune=()), without=(LISTS,))
    guesses = [g for g in phase_with_learned(task, own).guesses if g.program.fitted == "objects"]
    assert guesses[0].program.names == ("scale_2",)
    assert decode_grids(guesses[0].outputs) == task.truth
    assert guesses[0].program.run(task.test[0]) == task.truth[0]


def test_only_a_program_without_a_view_makes_black_ground_needless() -> None:
    task, planner = planted(7, 8), ParallelPlanner(options("mirror_rows", depth=1))
    plain = ProgramCandidate(read_program("return mirror_rows(I)\n"), 5000, b"", 1, None)
    viewed = replace(plain, program=read_program("view lines_lie\nreturn mirror_rows(I)\n"))
    assert planner.ground(task, None, Found((), ())) is not None
    assert planner.ground(task, None, Found((viewed,), ())) is not None
    assert planner.ground(task, None, Found((viewed, plain), ())) is None


def test_black_ground_is_searched_once() -> None:
    result = ParallelPlanner(options("mirror_rows", depth=1)).search(planted())
    assert result.verdict.groups[0].outputs == planted().truth
    assert all(event.slice < GROUNDED - 1 for event in result.log.events)


@settings(max_examples=60, deadline=None)
@given(
    covers=st.lists(st.dictionaries(st.integers(0, 4), st.integers(0, 63)), min_size=3, max_size=5),
    divisions=st.lists(st.lists(st.integers(0, 2), min_size=5, max_size=5), max_size=8),
)
def test_a_search_that_remembers_undrawn_cells_chooses_as_a_new_one(
    covers: list[dict[int, int]], divisions: list[list[int]]
) -> None:
    names, prices = [("add", str(n)) for n in range(5)], [1, 2, 3, 4, 5]
    rows = [Row(own, sum(1 << n for n in own)) for own in covers]
    remembering = GroupActions(names, prices, rows, 63)
    for division in divisions:
        groups: dict[int, int] = {}
        for n, group in enumerate(division[: len(rows)]):
            groups[group] = groups.get(group, 0) | 1 << n
        new = GroupActions(names, prices, rows, 63)
        expected = new.choice(tuple(groups.values()), may_join=True)
        assert remembering.choice(tuple(groups.values()), may_join=True) == expected


def test_tables_learned_in_parts_are_those_learned_at_once() -> None:
    problem = EncodedTask(planted().without_truth())
    whole = learn_tables(problem, GridVector((), 0, problem.root), time=7)
    parts = [learn_input_tables(problem, part) for part in range(len(PARTS))]
    assert whole
    assert joined(parts, 7) == whole


def test_the_language_page_describes_every_action_modifier_and_direction() -> None:
    assert set(ACTION_WORDS) == set(ACTIONS)
    assert set(MODIFIER_WORDS) == {LEAVE, IN, ONLY, AND}
    directions = {word for words in SIDE_WORDS for word in words.split("`, `")}
    assert directions == {name for name in WAYS if name[-1] not in "12456789"}

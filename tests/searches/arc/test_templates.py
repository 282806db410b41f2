"""Repeated templates, and objects drawn to one: planted truth, and kernels on planted grids."""

from __future__ import annotations

from random import Random

import pytest

from tests.support.arcvalues import compiled
from weft.searches.arc.ops.operator import Operator
from weft.searches.arc.ops.registry import BY_NAME
from weft.searches.arc.ops.templates import OPERATORS
from weft.searches.arc.values import Grid, Value

SIDE = 11


def grid(*rows: str) -> Grid:
    """A grid from its rows; a dot is black."""
    return Grid.of([[0 if cell == "." else int(cell) for cell in row] for row in rows])


def run(value: Grid, *names: str) -> Value | None:
    """The result of a chain's kernels on a grid."""
    result: Value | None = value
    for name in names:
        if result is not None:
            result = compiled(BY_NAME[name], result, value)
    return result


def planted(seed: int) -> Grid:
    """A blob of two or three colours, scaled and transformed parts of it, and some marks."""
    chance = Random(seed)
    back, *inks = chance.sample(range(10), 5)
    cells = [[back] * SIDE for _ in range(SIDE)]
    h, w = chance.randint(1, 3), chance.randint(2, 3)
    kinds = [*inks[:3], inks[0], inks[0]]
    template = {(r, c): chance.choice(kinds) for r in range(h) for c in range(w)}
    template[h - 1, w - 1] = chance.choice([back, inks[1]])
    _draw(cells, template, 0, 1, chance.randint(0, 2), chance.randint(0, 2))
    for _ in range(chance.randint(0, 3)):
        chosen = inks[:1] if chance.random() < 0.3 else inks[1:3]
        part = {cell: colour for cell, colour in template.items() if colour in chosen}
        size, turn = chance.choice((1, 1, 2, 3)), chance.choice((0, 0, *range(8)))
        _draw(cells, part, turn, size, chance.randrange(SIDE), chance.randrange(SIDE))
    for _ in range(chance.randint(0, 2)):
        cells[chance.randrange(SIDE)][chance.randrange(SIDE)] = chance.choice(inks)
    return Grid.of(cells)


def _draw(
    cells: list[list[int]], part: dict[tuple[int, int], int], turn: int, size: int, top: int,
    left: int,
) -> None:  # fmt: skip
    """Draw cells transformed and scaled, cropped to the grid."""
    for (r, c), colour in part.items():
        y, x = (2 - r if turn & 2 else r), (2 - c if turn & 1 else c)
        y, x = (x, y) if turn & 4 else (y, x)
        for i in range(size * size):
            b, a = top + y * size + i // size, left + x * size + i % size
            if b < SIDE and a < SIDE:
                cells[b][a] = colour


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda o: o.name)
def test_kernel_on_planted_copies_equals_its_twin(operator: Operator) -> None:
    drawn = 0
    for seed in range(60):
        value = planted(seed)
        expected = operator.plain(value, value)
        assert compiled(operator, value, value) == expected
        drawn += expected is not None
    assert drawn > 3, "too few grids had something to draw"


def test_copies_where_all_rare_cells_recur_are_completed() -> None:
    """One rare cell alone, or both at another distance, is not a part."""
    value = grid(
        "211.......",
        "1.3.......",
        "..........",
        "......2...",
        "........3.",
        "..........",
        "....2.....",
        "...3......",
        "..........",
        "2.........",
    )
    assert run(value, "complete_copies") == grid(
        "211.......",
        "1.3.......",
        "..........",
        "......211.",
        "......1.3.",
        "..........",
        "....2.....",
        "...3......",
        "..........",
        "2.........",
    )


def test_copies_turned_and_larger_are_completed() -> None:
    value = grid(
        "21.........",
        "113........",
        "...........",
        "...33......",
        "...33......",
        ".......22..",
        ".......22..",
        "...........",
    )
    copy = ("...331111..", "...331111..", ".....1122..", ".....1122..", "...........")
    assert run(value, "complete_copies") == grid("21.........", "113........", "." * 11, *copy)
    assert run(value, "copies_alone") == grid("." * 11, "." * 11, "." * 11, *copy)


def test_copies_of_the_commonest_colour_alone_are_completed() -> None:
    value = grid("111.....", "121..111", "111..1.1", ".....111", "........")
    assert run(value, "complete_copies") == grid(
        "111.....", "121..111", "111..121", ".....111", "........"
    )


def test_copies_inside_forget_what_touches_the_template_and_are_cut_off() -> None:
    value = grid(
        "..........",
        ".4111.....",
        "..141...4.",
        "..141...4.",
        "..111.....",
        "..........",
        ".....44...",
    )
    assert run(value, "complete_copies_inside") == grid(
        "..........",
        ".4111..111",
        "..141..141",
        "..141..141",
        "..111..111",
        "....1111..",
        "....1441..",
    )
    assert run(value, "complete_copies") is None


def test_stamp_on_marks_is_centred_on_each() -> None:
    """The separating line is neither a blob nor part of one."""
    value = grid("121....5..", "323....5..", "121..4.5..", ".......5..", ".......5..")
    assert run(value, "stamp_on_marks") == grid(
        "121....5..", "323.1215..", "121.3235..", "....1215..", ".......5.."
    )


def test_stamp_without_marks_or_without_a_common_centre_fails() -> None:
    assert run(grid("12...", "21...", "....."), "stamp_on_marks") is None
    assert run(grid("12...", "21...", "....3", "....."), "stamp_on_marks") is None


def test_objects_to_largest_go_straight_or_askew_over_others() -> None:
    value = grid(
        ".3.....",
        ".......",
        "...22..",
        "...22.1",
        ".......",
        "....5..",
        "....6..",
    )
    assert run(value, "objects_4", "objects_to_largest", "draw_all") == grid(
        ".......",
        "..3....",
        "...22..",
        "...221.",
        "....6..",
        ".......",
        ".......",
    )


def test_objects_into_largest_come_over_it() -> None:
    value = grid("3......", ".......", "..22...", "..22..1")
    assert run(value, "objects_4", "objects_into_largest", "draw_all") == grid(
        ".......", ".......", "..32...", "..21..."
    )


def test_objects_to_own_leave_out_the_smallest_without_a_larger_one() -> None:
    value = grid("2..3...", "2....44", "2.2...3", "2......")
    assert run(value, "objects_4", "objects_to_own", "draw_all") == grid(
        "2......", "2....44", "22.....", "2......"
    )


def test_objects_drawn_to_nobody_fail() -> None:
    assert run(grid("1.2", "..."), "objects_4", "objects_to_largest") is None
    assert run(grid("11.", "..."), "objects_4", "objects_to_own") is None
    assert run(grid("112", "..."), "objects_4", "objects_to_largest") is None

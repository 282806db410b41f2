"""Colours passed around a cycle: orders, steps, failures, and learning planted cycles."""

from __future__ import annotations

from math import atan2, tau

import pytest

from tests.support.arcvalues import grid
from weft.errors import InputError
from weft.searches.arc.fitted.cycle import WAYS, parameters
from weft.searches.arc.program import parse as read_program
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learncycles import learn_cycles
from weft.searches.arc.synthesis.learntables import PARTS, learn_input_tables
from weft.searches.arc.synthesis.sample import GridVector
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid, decode_grids, encode_grids


def cycled(text: str, value: Grid) -> Grid | None:
    """The output of a cycle's program on a grid."""
    return read_program(f'return cycle_colours(I, "{text}")\n').run(value)


CORNERS = "102/000/403"


@pytest.mark.parametrize(
    ("text", "rows", "after"),
    [
        ("clockwise next: 0", CORNERS, "203/000/104"),
        ("clockwise previous: 0", CORNERS, "401/000/302"),
        ("clockwise next: 0 4", CORNERS, "203/000/401"),
        ("clockwise next:", CORNERS, None),
        ("clockwise next: 0 1 2 3", CORNERS, None),
        ("down next:", "11/22/33", "22/33/11"),
        ("down next: 0", CORNERS, None),
        ("right reversed:", "1234", "4321"),
        ("first previous: 0", CORNERS, "301/000/204"),
        ("size next:", "1112/1233", None),
        ("size reversed:", "111/223", "333/221"),
    ],
)
def test_colours_are_passed_on(text: str, rows: str, after: str | None) -> None:
    assert cycled(text, grid(rows)) == (None if after is None else grid(after))


def test_the_way_round_is_that_of_angles() -> None:
    cells = [(r, c) for r in range(7) for c in range(7) if (r, c) != (3, 3)]
    for first in cells:
        for second in cells:
            angles = [atan2(c - 3, 3 - r) % tau for r, c in (first, second)]
            if abs(angles[0] - angles[1]) < 1e-9:
                continue
            third = next(
                own
                for own in cells
                if min(abs(atan2(own[1] - 3, 3 - own[0]) % tau - angle) for angle in angles) > 1e-9
            )
            marked = {first: 1, second: 2, third: 3}
            rows = [[marked.get((r, c), 0) for c in range(7)] for r in range(7)]
            order = sorted(marked, key=lambda own: atan2(own[1] - 3, 3 - own[0]) % tau)
            following = dict(zip(order, [*order[1:], order[0]], strict=True))
            expected = {own: marked[following[own]] for own in order}
            after = [[expected.get((r, c), 0) for c in range(7)] for r in range(7)]
            assert cycled("clockwise next: 0", Grid.of(rows)) == Grid.of(after)


@pytest.mark.parametrize(
    "text",
    ["", "clockwise", "clockwise next", "clockwise reversed:", "up next:", "down next: 2 1",
     "down next: 1 1", "down next: 10", "down next: "],
)  # fmt: skip
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a parameter of cycle_colours"):
        read_program(f'return cycle_colours(I, "{text}")\n')


VALUES = tuple(map(grid, ("5102/0005/4035", "5607/0005/8095", "1503/0075/2005", "5406/0005/7885")))


def learned(values: tuple[Grid, ...], outputs: list[Grid]) -> list[tuple[str, Grid, int | None]]:
    """The cycles learned from all pairs but the last, with their last output and `loo_passed`."""
    pairs = tuple(map(Pair, values[:-1], outputs[:-1]))
    vector = GridVector((), 0, encode_grids(values))
    candidates = learn_cycles(EncodedTask(ArcTask("planted", pairs, values[-1:])), vector)
    return [
        (c.program.text().split('"')[1], decode_grids(c.outputs)[0], c.loo_passed)
        for c in candidates
    ]


@pytest.mark.parametrize("way", ["clockwise next: 0 5", "first previous: 0 5"])
def test_planted_cycles_are_learned_as_by_trying_all(way: str) -> None:
    outputs = [own for own in (cycled(way, value) for value in VALUES) if own is not None]
    assert len(outputs) == len(VALUES)
    plain: dict[Grid, str] = {}
    for order, step in WAYS:
        text = parameters(order, step, [0, 5])
        results = [cycled(text, value) for value in VALUES]
        last = results[-1]
        if results[:-1] == outputs[:-1] and last is not None:
            plain.setdefault(last, text)
    assert outputs[-1] in plain
    assert learned(VALUES, outputs) == [(text, own, 3) for own, text in plain.items()]


def test_two_pairs_show_too_little_to_answer() -> None:
    outputs = [own for own in (cycled("clockwise next: 0 5", v) for v in VALUES) if own is not None]
    assert {passed for _, _, passed in learned(VALUES[1:], outputs[1:])} == {0}


@pytest.mark.parametrize("after", ["5102/0005/4035", "5102/0005/4036", "5210/0005/4035", "51/02"])
def test_targets_that_are_no_exchange_of_colours_are_refused(after: str) -> None:
    assert learned(VALUES[:1] * 2, [grid(after), VALUES[0]]) == []


def test_cycles_are_learned_beside_tables_on_the_input() -> None:
    outputs = [own for own in (cycled("clockwise next: 0 5", v) for v in VALUES) if own is not None]
    pairs = tuple(map(Pair, VALUES[:3], outputs[:3]))
    problem = EncodedTask(ArcTask("planted", pairs, VALUES[3:]))
    parts = [learn_input_tables(problem, part) for part in range(len(PARTS))]
    by_rule = {candidate.program.fitted: candidate.outputs for part in parts for candidate in part}
    assert by_rule["cycle_colours"] == encode_grids(outputs[3:])

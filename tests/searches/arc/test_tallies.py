"""Actions that continue rows of objects, draw lines from middles, and draw counts as bars."""

from __future__ import annotations

import pytest

from tests.support.arcvalues import grid
from weft.searches.arc.program import parse as read_program
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learntables import learn_input_tables
from weft.searches.arc.tables.segmentation import scene_of
from weft.searches.arc.tables.tallies import is_tallied
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid, decode_grids


def drawn(text: str, rows: str) -> Grid | None:
    """The output of a table on a grid."""
    return read_program(f'return objects(I, "{text}")\n').run(grid(rows))


@pytest.mark.parametrize(
    ("text", "rows", "after"),
    [
        ("objects_8: else march east", "1010000", "1010101"),
        ("objects_8: else march west", "0000101", "1010101"),
        ("objects_8: else march south", "1/0/0/1/0/0/0", "1/0/0/1/0/0/1"),
        ("objects_8: else march east", "102010000", "102010001"),
        ("objects_8: else march southeast", "1000/0000/0010/0000", "1000/0000/0010/0000"),
        ("objects_8: else march southeast", "10000/00000/00100/00000/00000",
         "10000/00000/00100/00000/00001"),
        ("objects_8: else march east", "1100110000", "1100110011"),
        ("objects_8: else march east", "110011000", "110011001"),
        ("objects_8: else march east", "100200000", "100200000"),
        ("objects_8: else ray mid_row 3", "00000/01110/01110/01110/00000",
         "00000/01110/31113/01110/00000"),
        ("objects_8: else ray mid_cross 3", "0000/0110/0110/0000", "0330/3113/3113/0330"),
        ("objects_8: else ray mid_column 3", "000/010/000", "030/010/030"),
        ("blobs_8: else tally south out rest 3", "121/111/000/000", "121/111/030/000"),
        ("blobs_8: else tally east first rest 3", "1200/2100/1100", "1230/2130/1100"),
        ("blobs_8: else tally east last rest 3", "1200/2100/1100", "1200/2130/1130"),
        ("objects_8: else tally south off place_east 3", "102/000/000/000", "102/000/303/003"),
        ("objects_8: else tally south off place_west 3", "102/000/000/000", "102/000/303/300"),
        ("objects_8: else tally south out holes 3", "111/101/111/000", "111/101/111/030"),
        ("objects_8: else tally south out holes 3", "11/11/00", None),
        ("objects_8: else tally south out cells 3", "111/000/000", None),
    ],
)  # fmt: skip
def test_action_draws_what_its_words_say(text: str, rows: str, after: str | None) -> None:
    assert drawn(text, rows) == (None if after is None else grid(after))


@pytest.mark.parametrize(
    ("before", "after", "is_asked"),
    [
        ("102/000/000/000", "102/303/003/000", True),
        ("102/000/000/000", "102/303/000/000", False),
        ("102/000/000/000", "102/333/003/000", False),
        ("102/000/000/000", "302/303/003/000", False),
        ("100/000/000/000", "100/303/003/000", False),
    ],
)
def test_bars_are_tried_only_where_targets_add_bars_of_different_lengths(
    before: str, after: str, is_asked: bool
) -> None:
    scene = scene_of("objects_8", grid(before))
    assert scene is not None
    assert is_tallied([scene], [grid(after)]) is is_asked


def test_planted_places_in_order_are_learned() -> None:
    text = "objects_8: else tally south off place_east 3"
    rows = ("1020400/0000000/0000000/0000000/0000000/0000000",
            "0201/0000/0000/0000/0000", "5000706/0000000/0000000/0000000/0000000",
            "80901020/00000000/00000000/00000000/00000000/00000000/00000000")  # fmt: skip
    outputs = [own for own in (drawn(text, value) for value in rows) if own is not None]
    pairs = tuple(map(Pair, map(grid, rows[:3]), outputs[:3]))
    problem = EncodedTask(ArcTask("planted", pairs, (grid(rows[3]),)))
    learned = [candidate for part in (0, 1) for candidate in learn_input_tables(problem, part)]
    assert outputs[3] in {decode_grids(candidate.outputs)[0] for candidate in learned}

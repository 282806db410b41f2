"""Blocks drawn by a key: what is drawn, what fails, and learning planted keys."""

from __future__ import annotations

import pytest

from tests.support.arcvalues import grid
from weft.errors import InputError
from weft.searches.arc.fitted.keyblock import CRITERIA, parameters
from weft.searches.arc.program import parse as read_program
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learnkeyblocks import learn_key_blocks
from weft.searches.arc.synthesis.learntables import PARTS, learn_input_tables
from weft.searches.arc.synthesis.sample import GridVector
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid, decode_grids, encode_grids


def drawn(text: str, value: Grid) -> Grid | None:
    """The output of a key's program on a grid."""
    return read_program(f'return key_block(I, "{text}")\n').run(value)


FOUR = "10511/42511/55555/11511/10501"
WIDE = "10513501/42531513"


@pytest.mark.parametrize(
    ("text", "rows", "after"),
    [
        ("most count_4: spread", FOUR, "11500/11500/55555/44522/44522"),
        ("most count_4: copy", FOUR, "10510/42542/55555/10510/42542"),
        ("most count_4: at 4", FOUR, "00500/00500/55555/10500/42500"),
        ("most count_4: at 3", FOUR, "00500/00500/55555/00500/00500"),
        ("odd count_2: copy", FOUR, "10510/42542/55555/10510/42542"),
        ("most count_9: copy", FOUR, None),
        ("most count_4: spread", WIDE, None),
        ("most count_4: copy", WIDE, "10510510/42542542"),
        ("most count_4: copy", "1054/1154", None),
        ("most count_4: copy", "1234", None),
    ],
)
def test_blocks_are_drawn_by_the_key(text: str, rows: str, after: str | None) -> None:
    assert drawn(text, grid(rows)) == (None if after is None else grid(after))


@pytest.mark.parametrize(
    "text",
    ["", "most count_4", "is count_4 1: copy", "most ink: copy", "most rest: tile", "most: copy",
     "most rest: at 0", "most rest:  copy"],
)  # fmt: skip
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a parameter of key_block"):
        read_program(f'return key_block(I, "{text}")\n')


VALUES = tuple(
    map(
        grid,
        (
            "10511/42511/55555/11511/10501",
            "33530/03533/55555/33507/33504",
            "61511/11518/55555/11504/16520",
            "99599/09599/55555/04590/70599",
        ),
    )
)


@pytest.mark.parametrize("text", ["most count_4: spread", "most count_4: at 4"])
def test_planted_keys_are_learned_as_by_trying_all(text: str) -> None:
    outputs = [own for own in (drawn(text, value) for value in VALUES) if own is not None]
    assert len(outputs) == len(VALUES)
    pairs = tuple(map(Pair, VALUES[:3], outputs[:3]))
    vector = GridVector((), 0, encode_grids(VALUES))
    task = EncodedTask(ArcTask("planted", pairs, VALUES[3:]))
    learned = list(learn_key_blocks(task, vector))
    drawings = ("spread", "at 4")
    texts = [parameters(criterion, drawing) for drawing in drawings for criterion in CRITERIA]
    results = {own: [drawn(own, value) for value in VALUES] for own in texts}
    plain = {own[3] for own in results.values() if own[:3] == outputs[:3] and own[3] is not None}
    assert {decode_grids(candidate.outputs)[0] for candidate in learned} == plain
    assert outputs[3] in plain
    assert len(learned) == len(plain)
    assert {candidate.loo_passed for candidate in learned} == {3}


@pytest.mark.parametrize("after", ["10511/42511/55555/11511/10501", "1", "1234"])
def test_grids_without_equal_blocks_or_size_are_not_tried(after: str) -> None:
    value = grid("1234") if after == "1234" else VALUES[0]
    vector = GridVector((), 0, encode_grids([value, value]))
    task = EncodedTask(ArcTask("planted", (Pair(value, grid(after)),), (value,)))
    assert list(learn_key_blocks(task, vector)) == []


def test_keys_are_learned_beside_tables_on_the_input() -> None:
    outputs = [own for own in (drawn("most count_4: at 4", v) for v in VALUES) if own is not None]
    pairs = tuple(map(Pair, VALUES[:3], outputs[:3]))
    problem = EncodedTask(ArcTask("planted", pairs, VALUES[3:]))
    parts = [learn_input_tables(problem, part) for part in range(len(PARTS))]
    by_rule = {candidate.program.fitted: candidate.outputs for part in parts for candidate in part}
    assert by_rule["key_block"] == encode_grids(outputs[3:])

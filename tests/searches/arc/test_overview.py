"""Overviews of objects: what they show, which texts are refused, and learning planted ones."""

from __future__ import annotations

import pytest

from tests.support.arcvalues import grid
from weft.errors import InputError
from weft.searches.arc.fitted.choose import SEGMENTATIONS
from weft.searches.arc.fitted.overview import COLOURS, OverviewSettings, bands_of, cuts_of
from weft.searches.arc.program import parse as read_program
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learncharts import MOST
from weft.searches.arc.synthesis.learnoverviews import learn_overviews
from weft.searches.arc.synthesis.sample import GridVector, VectorSample
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid, decode_grids, encode_grids

ROOMS = "888888/800808/830858/888888/800808/800868/888888"


@pytest.mark.parametrize(
    ("text", "rows", "after"),
    [
        ("objects_4: all; only", "1100/1102/0002/3300", "12/30"),
        ("objects_4: most cells; only", "110011/110011/000000/220011/000011", "11/01"),
        ("objects_4: is height 2; only", "11022/11022/00000/33300", "12"),
        ("split_lines: least colours; only", "1149/1142/4444/2245", "10/25"),
        ("holes_4: all; rare", "88888/80808/80808/88888", "00"),
        ("split_lines: all; rare", ROOMS.replace("8", "9"), "35/06"),
        ("split_lines: all; main", ROOMS.replace("8", "9"), "00/00"),
        ("split_lines: all; only", ROOMS.replace("8", "9"), None),
        ("objects_8: all; only", "100/000/001", "10/01"),
        ("objects_4: all; only", "1112/1302/1112", None),
        ("objects_4: all; only", "11122/11122/33344/66644/66644", "12/34/64"),
        ("objects_4: all; main", "0033/0033/2033/2211/2211", "03/23/21"),
        ("objects_4: outer; main", "11100/10000/10122/00022", "12"),
        ("objects_4: outer; only", "1202/2222", None),
        ("objects_4: all; only", "000/000", None),
    ],
)
def test_each_object_is_one_cell(text: str, rows: str, after: str | None) -> None:
    result = read_program(f'return overview(I, "{text}")\n').run(grid(rows))
    assert result == (None if after is None else grid(after))


@pytest.mark.parametrize(
    "text",
    ["", "objects_4: all", "objects_4: all; odd", "nothing: all; only", "objects_4: some; only",
     "objects_4: is cells; only", "objects_4: most size; only", "objects_4: all cells; only",
     "objects_4: outer cells; only",
     "objects_4: is cells 01; only", "objects_4: all; only; only"],
)  # fmt: skip
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a parameter of overview"):
        read_program(f'return overview(I, "{text}")\n')


def test_spans_that_overlap_are_in_one_band() -> None:
    assert bands_of([]) == []
    assert bands_of([(5, 7), (0, 2), (1, 4), (3, 5), (8, 9)]) == [1, 0, 0, 0, 2]


def test_spans_cover_bands_that_are_cut_where_one_begins() -> None:
    assert cuts_of([]) == []
    assert cuts_of([(1, 4), (4, 6), (1, 6), (8, 9)]) == [
        range(1), range(1, 2), range(2), range(2, 3),
    ]  # fmt: skip


INPUTS = (
    "114334156/114334616/444444444/554774622/554774262",
    "334114/334114/444444/664884/664884/444444/154224/614224",
    "2253395/2253359/5555555/6751158/7651158/5555555/8850054/8850054",
)


def planted(overview: str) -> tuple[ArcTask, list[Grid]]:
    """A task whose outputs are overviews, and the overviews of all its inputs."""
    program = read_program(f'return overview(I, "{overview}")\n')
    values = [grid(rows) for rows in INPUTS]
    outputs = [own for own in map(program.run, values) if own is not None]
    pairs = [Pair(value, own) for value, own in zip(values, outputs, strict=True)]
    return ArcTask("planted", tuple(pairs[:-1]), (values[-1],)), outputs


@pytest.mark.parametrize("text", ["split_lines: all; rare", "split_lines: least colours; only"])
def test_planted_overviews_are_learned_and_all_that_is_learned_fits(text: str) -> None:
    task, outputs = planted(text)
    vector = GridVector((), 0, encode_grids([*(p.input for p in task.train), *task.test]))
    sample = VectorSample((vector,), (), (vector,), (), False, False, 0)
    learned = learn_overviews(EncodedTask(task), sample, vector)
    assert (outputs[-1],) in [decode_grids(candidate.outputs) for candidate in learned]
    assert 0 < len(learned) <= MOST
    for candidate in learned:
        assert [candidate.program.run(p.input) for p in task.train] == outputs[:-1]
        assert (candidate.program.run(task.test[0]),) == decode_grids(candidate.outputs)


def test_without_a_measure_the_same_is_learned_as_by_trying_all() -> None:
    task, outputs = planted("split_lines: all; rare")
    vector = GridVector((), 0, encode_grids([*(p.input for p in task.train), *task.test]))
    sample = VectorSample((vector,), (), (vector,), (), False, False, 0)
    learned = {
        candidate.program.parameters
        for candidate in learn_overviews(EncodedTask(task), sample, vector)
    }
    every = [
        OverviewSettings(name, ("all",), kind).text() for name in SEGMENTATIONS for kind in COLOURS
    ]
    fitting = {
        text
        for text in every
        if [read_program(f'return overview(I, "{text}")\n').run(p.input) for p in task.train]
        == outputs[:-1]
    }
    assert fitting == {text for text in learned if ": all;" in text}


@pytest.mark.parametrize("rows", ["123", "1/2/3", "1" * 9 + ("/" + "1" * 9) * 8])
def test_targets_of_one_line_or_many_cells_are_not_tried(rows: str) -> None:
    given = grid("102/000/304")
    task = ArcTask("planted", (Pair(given, grid(rows)),), (given,))
    vector = GridVector((), 0, encode_grids([given, given]))
    sample = VectorSample((vector,), (), (vector,), (), False, False, 0)
    assert learn_overviews(EncodedTask(task), sample, vector) == []

"""Charts of objects: what they draw, which texts are refused, and learning planted ones."""

from __future__ import annotations

from itertools import pairwise

import pytest

from weft.errors import InputError
from weft.searches.arc.fitted.chart import BARS, RINGS, RUNS, SQUARES, path_of
from weft.searches.arc.program import parse as read_program
from weft.searches.arc.synthesis.chartreadings import readings_of
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learncharts import learn_charts
from weft.searches.arc.synthesis.sample import GridVector, VectorSample
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid, decode_grids, encode_grids


def grid(text: str) -> Grid:
    """A grid from its rows: `01/10`."""
    return Grid.of([[int(cell) for cell in row] for row in text.split("/")])


INPUTS = ("330/302/000", "2000/0111/0111", "40040/44000/00055/60055", "330/000/088/088")
CHARTS = [
    ("layers: all; down cells; columns_top cells; fit; own", "220/203/000", "23/20/20"),
    ("layers: all; up cells; rows_right cells; fit; own", "220/203/000", "003/222"),
    ("layers: all; place; columns_bottom height; 3x4; own", "220/203/000", "0000/2000/2300"),
    ("objects_4: most cells; place; along_rows 1; 1x3; own", "110/110/022", "100"),
    ("objects_4: all; place; along_columns 1; fit; 7", "101/000/020", "7/7/7"),
    ("objects_4: all; up left; snake_rows 1; 2x2; own", "00002/01000/00300", "13/02"),
    ("objects_4: all; place once; along_rows 1; fit; own", "10102/00000/20301", "123"),
    (
        "layers: all; slots 4 2 0 3 once; columns_bottom cells; fit; own",
        "220/203/000",
        "0200/0200/0203",
    ),
    ("objects_4: all; slots 2 1 once; rows_left kin; 2x4; own", "10101/00000/20301", None),
    (
        "objects_4: all; slots 2 1 3 once; rows_left kin; 3x4; own",
        "10102/00000/20301",
        "2200/1110/3000",
    ),
    ("layers: all; down cells; rings 1; fit; own", "220/203/000", "222/232/222"),
    ("layers: all; up cells; squares cells; fit; own", "330/332/000", "0033/2033"),
    ("layers: all; up cells; squares cells; fit; own", "330/302/000", None),
    ("objects_8: is count_1 4; place; path 0.0 1.1 1; 2x2; 5", "110011/110011/100000", "50/00"),
]


@pytest.mark.parametrize(("text", "before", "after"), CHARTS)
def test_charts_show_objects(text: str, before: str, after: str | None) -> None:
    program = read_program(f'return chart(I, "{text}")\n')
    assert program.run(grid(before)) == (None if after is None else grid(after))
    assert read_program(program.text()) == program


@pytest.mark.parametrize(
    ("text", "before"),
    [
        ("objects_4: all; place; along_rows 1; 1x2; own", "10101"),
        ("objects_4: all; place; rows_left cells; 2x2; own", "1110/0000/2000"),
        ("objects_4: all; place; rows_left holes; fit; own", "10"),
        ("objects_4: all; place; rows_left cells; fit; own", "000"),
    ],
)
def test_charts_that_have_no_room_or_show_nothing_fail(text: str, before: str) -> None:
    assert read_program(f'return chart(I, "{text}")\n').run(grid(before)) is None


@pytest.mark.parametrize(
    "text",
    [
        "layers: all; place; columns_top cells; fit",
        "layers: most; place; columns_top cells; fit; own",
        "layers: is cells 04; place; columns_top cells; fit; own",
        "layers: all; up; columns_top cells; fit; own",
        "layers: all; place cells; columns_top cells; fit; own",
        "layers: all; place; columns_top beauty; fit; own",
        "layers: all; slots 1 2; columns_top cells; fit; own",
        "layers: all; slots 1 1 once; columns_top cells; fit; own",
        "layers: all; slots 0 once; columns_top cells; fit; own",
        "layers: all; slots x once; columns_top cells; fit; own",
        "layers: all; slots 1 2 once; rings 1; fit; own",
        "layers: all; place; columns_top 0.0 1; fit; own",
        "layers: all; place; path 1; 3x3; own",
        "layers: all; place; columns_top cells; 3x31; own",
        "layers: all; place; columns_top cells; fit; 10",
        "nothing: all; place; columns_top cells; fit; own",
    ],
)
def test_texts_that_are_no_chart_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a parameter of chart"):
        read_program(f'return chart(I, "{text}")\n')


@pytest.mark.parametrize("layout", RUNS)
def test_a_run_fills_every_cell_once(layout: str) -> None:
    path = path_of(layout, (3, 4))
    assert sorted(path) == [(row, column) for row in range(3) for column in range(4)]
    steps = [abs(a - c) + abs(b - d) for (a, b), (c, d) in pairwise(path)]
    assert (set(steps) == {1}) == layout.startswith("snake")


@pytest.mark.parametrize("run", ["along_rows", "along_columns", "snake_rows", "snake_columns"])
def test_a_run_from_another_corner_is_the_mirrored_run(run: str) -> None:
    plain = path_of(run, (3, 4))
    assert path_of(f"{run}_top_right", (3, 4)) == [(r, 3 - c) for r, c in plain]
    assert path_of(f"{run}_bottom_left", (3, 4)) == [(2 - r, c) for r, c in plain]
    assert path_of(f"{run}_bottom_right", (3, 4)) == [(2 - r, 3 - c) for r, c in plain]


def test_a_target_that_is_no_chart_has_no_reading() -> None:
    assert readings_of([grid("1020/3040"), grid("0101/0202")]) == []
    layouts = {reading.layout for reading in readings_of([grid("20/23/23"), grid("100/140/144")])}
    assert "columns_bottom" in layouts
    assert layouts <= set(BARS)


@pytest.mark.parametrize(
    ("targets", "layout"),
    [(("222/232/222", "11111/14441/14741/14441/11111"), RINGS),
     (("222/232/222", "111/141/111"), None),
     (("0033/2033", "600000999/600000999"), None),
     (("0033/2033", "000999/220999/220999"), SQUARES),
     (("222/232/222", "11111/14441/14041/14441/11111"), None)],
)  # fmt: skip
def test_rings_and_squares_are_read_where_all_targets_are(
    targets: tuple[str, ...], layout: str | None
) -> None:
    layouts = {reading.layout for reading in readings_of([grid(each) for each in targets])}
    assert layouts & {RINGS, SQUARES} == ({layout} if layout else set())


@pytest.mark.parametrize(
    ("targets", "slots"),
    [(("0200/0203", "4000/4200"), (4, 2, 0, 3)),
     (("0200/0203", "2000/4200"), ()),
     (("0200/0203", "0002/4000"), ()),
     (("0200/0203", "4200/0200"), ()),
     (("2000/2300", "4000/4500"), ()),
     (("0200/0203", "040/042"), ())],
)  # fmt: skip
def test_slots_are_read_where_each_colour_has_its_own_line(
    targets: tuple[str, ...], slots: tuple[int, ...]
) -> None:
    readings = readings_of([grid(each) for each in targets])
    assert [r.slots for r in readings if r.layout == "columns_bottom" and r.slots] == (
        [slots, slots] if slots else []
    )


def learned(text: str, *inputs: str) -> list[str]:
    """The programs learned from a chart's outputs on all grids but the last, right on the last."""
    program = read_program(f'return chart(I, "{text}")\n')
    values = [grid(each) for each in inputs]
    outputs = [own for own in map(program.run, values) if own is not None]
    pairs = [Pair(value, own) for value, own in zip(values, outputs, strict=True)]
    task = ArcTask("planted", tuple(pairs[:-1]), (values[-1],), (outputs[-1],))
    vector = GridVector((), 0, encode_grids(values))
    sample = VectorSample((), (), (vector,), (), False, False, 0)
    candidates = learn_charts(EncodedTask(task), sample, vector)
    for candidate in candidates:
        assert tuple(map(candidate.program.run, values[:-1])) == tuple(outputs[:-1])
    return [c.program.text() for c in candidates if decode_grids(c.outputs) == task.truth]


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("layers: all; down cells; columns_top cells; fit; own", INPUTS),
        ("objects_4: all; up left; snake_rows 1; 3x3; own",
         ("00002/01000/00300", "40005/00600/07000", "90000/00008", "00102/40000/05030")),
        ("layers: all; slots 4 2 0 3 once; columns_bottom cells; fit; own",
         ("220/203/000", "402/402/400", "443/023/000", "300/340/320")),
        ("layers: all; down cells; rings 1; fit; own", INPUTS),
        ("layers: all; up cells; squares cells; fit; own",
         ("3300/3302", "11100/11100/11122/00022/60000", "5000/0660/0660", "88000/88070")),
        ("objects_4: all; place; path 0.0 0.2 1.1 1; 2x3; 1",
         ("2200/2200", "2202/0000/2200", "22022/00000/02200", "0022/2000/2000")),
    ],
)  # fmt: skip
def test_planted_charts_are_learned(text: str, inputs: tuple[str, ...]) -> None:
    programs = learned(text, *inputs)
    assert any(text.split("; ", 2)[2] in program for program in programs)

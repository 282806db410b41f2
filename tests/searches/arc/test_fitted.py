"""Fitted rules: each solves its toy task, keeps its contract, and equals its slow definition."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.arcvalues import grid, grids
from weft.errors import ValueInvalid
from weft.searches.arc.fitted.gates import survivors
from weft.searches.arc.fitted.registry import BY_NAME, RULES, finish
from weft.searches.arc.fitted.rule import MAX_PARAMS, EncodedExamples, FittedRule, RuleFit
from weft.searches.arc.values import Grid, ValueStage, decode


def grids_of(texts: str) -> list[Grid]:
    return [grid(text) for text in texts.split()]


def outputs(fitted: RuleFit) -> list[Grid]:
    """The outputs of a fitted rule on all examples."""
    values, at = [], 0
    while at < len(fitted.outputs):
        value, at = decode(ValueStage.GRID, fitted.outputs, at)
        assert isinstance(value, Grid)
        values.append(value)
    return values


# rule, parameters it must find, node (training then test), targets and the test's answer; where
# the input is not the node, a fifth text.
TOYS: tuple[tuple[str, ...], ...] = (
    ("colour_map", "1:2 keep", "01/10 11/03 15/51", "02/20 22/03 25/52"),
    ("colour_map", "0:3 1:2", "01/10 11/01 10/11", "32/23 22/32 23/22"),
    ("cell_table", "0=keep 1=7", "01/10 11/00 10/00", "57/75 77/56 75/66", "56/65 55/56 55/66"),
    (
        "cell_table",
        "0=keep 1=5:6,6:5",
        "01/10 11/00 10/00",
        "56/65 65/56 65/66",
        "55/55 56/56 55/66",
    ),
    (
        "neighbours",
        "count 01:3",
        "00000/00000/00100/00000 00000/01000/00000/00000 000000/000100/000000/000000",
        "00000/03330/03130/03330 33300/31300/33300/00000 003330/003130/003330/000000",
    ),
    ("tile_layout", "2x2 01/23", "12/34 56/07 80/12", "1221/3443/3443/1221 "
     "5665/0770/0770/5665 8008/1221/1221/8008"),
    ("tile_layout", "1x3 0.0", "12/34 56/07 80/12", "120012/340034 560056/070007 800080/120012"),
    ("block_reduce", "only block 1x2", "1122/3344 5566/7788 1100/0022", "12/34 56/78 10/02"),
    ("scale", "2x1", "12/34 56/07 80/12", "12/12/34/34 56/56/07/07 80/80/12/12"),
    ("scale", "marks", "12/00 10/01 12/30", "1122/1122/0000/0000 10/01 "
     "111222/111222/111222/333000/333000/333000"),
    ("window", "top_left 0 1 1x2", "1234/5678 4321/8765 2468/1357", "23 32 46"),
    ("window", "bottom_left 0 0 1x2", "12/34/56 78/91 23/45/67/81 "
     "11/22/33/44/59", "56 91 81 59"),
    ("window", "bottom_left 0 1 2x2", "1234/5678/9123 123/456/789/987 23456/65432/23987/11122 "
     "999/998/987/876", "67/12 89/87 39/11 87/76"),
    ("block_reduce", "marked block 2x2", "1200/2000/0000/0044 "
     "340022/041020/002233/000203 1000/3300", "20/04 412/023 30"),
    ("border", "add 1 3", "1 22 45", "333/313/333 3333/3223/3333 3333/3453/3333"),
    ("border", "rim 5", "111/121/111 111/131/100 888/898/888", "555/525/555 555/535/555 "
     "555/595/555"),
    (
        "stamp",
        "0 2=...../...../.323./...../.....",
        "00000/02000/00000/00000 00000/00000/00000/00020 00000/00000/00200/00000",
        "00000/32300/00000/00000 00000/00000/00000/00323 00000/00000/03230/00000",
    ),
    ("extend_period", "1h+0 1w+3", "12121/33333 45454/60606 78787/11111",
     "12121212/33333333 45454545/60606060 78787878/11111111"),
    ("extend_period", "1h+0 1w+0 hole 0", "121212/343034 450545/666606 780878/111111",
     "121212/343434 454545/666666 787878/111111"),
    ("table_of_parts", "1x2+ 00:0 01:2 10:2 11:0", "01510/10500/11511 "
     "11510/01501/00501 00501/10511", "22/20/00 02/00/02 02/02"),
)  # fmt: skip


def toy_view(toy: tuple[str, ...]) -> tuple[EncodedExamples, list[Grid]]:
    node, targets = grids_of(toy[2]), grids_of(toy[3])
    inputs = grids_of(toy[4]) if len(toy) > 4 else node
    return EncodedExamples.of(node, inputs, targets[:-1]), targets


def ids(toy: tuple[str, ...]) -> str:
    return f"{toy[0]} {toy[1]}"


@pytest.mark.parametrize("toy", TOYS, ids=ids)
def test_rule_solves_its_toy(toy: tuple[str, ...]) -> None:
    view, targets = toy_view(toy)
    by_name = {fitted.rule: fitted for fitted in finish(view)}
    assert toy[0] in by_name
    assert BY_NAME[toy[0]].show(by_name[toy[0]].params) == toy[1]
    assert outputs(by_name[toy[0]]) == targets
    check_contract(view)


def test_every_rule_has_a_toy() -> None:
    assert {toy[0] for toy in TOYS} == {rule.name for rule in RULES}


@pytest.mark.parametrize("toy", TOYS, ids=ids)
def test_contradiction_in_one_cell_makes_every_rule_fail(toy: tuple[str, ...]) -> None:
    examples = toy_view(toy)[0].examples()
    first = examples.expected[0]
    for at in range(len(first.cells)):
        other = bytearray(first.cells)
        other[at] = (other[at] + 1) % 10
        wrong = replace(first, cells=bytes(other))
        view = EncodedExamples.of(
            (examples.values[0], *examples.values),
            (examples.given[0], *examples.given),
            (wrong, *examples.expected),
        )
        assert finish(view) == []


@pytest.mark.parametrize("toy", TOYS, ids=ids)
def test_changed_target_never_fits_the_same_parameters(toy: tuple[str, ...]) -> None:
    view, _ = toy_view(toy)
    params = {fitted.rule: fitted.params for fitted in finish(view)}[toy[0]]
    examples = view.examples()
    for at in range(len(examples.expected[1].cells)):
        other = bytearray(examples.expected[1].cells)
        other[at] = (other[at] + 1) % 10
        expected = (examples.expected[0], replace(examples.expected[1], cells=bytes(other)))
        expected += examples.expected[2:]
        changed = EncodedExamples.of(examples.values, examples.given, expected)
        check_contract(changed)
        assert (toy[0], params) not in [(f.rule, f.params) for f in finish(changed)]


def check_contract(view: EncodedExamples) -> None:
    """Check everything that a fitted result promises, and that the fast fit equals the slow one."""
    rules = finish(view)
    examples = view.examples()
    for fitted in rules:
        rule, grids_found = BY_NAME[fitted.rule], outputs(fitted)
        assert tuple(grids_found[: len(examples.expected)]) == examples.expected
        for value, inp, result in zip(examples.values, examples.given, grids_found, strict=True):
            assert rule.apply(fitted.params, value, inp) == result
        assert rule.parse(rule.show(fitted.params)) == fitted.params
        assert len(fitted.params) <= MAX_PARAMS
        assert isinstance(fitted.millibits, int)
        assert fitted.millibits == rule.price(fitted.params) >= 1000
    slow = [rule.fit_plain(view) for rule in RULES]
    assert rules == [fitted for fitted in slow if fitted is not None]
    assert [rule.fit(view) for rule in RULES] == slow


TEXTS: dict[str, tuple[str, ...]] = {
    "colour_map": ("1:2 keep", "0:1 1:0 keep", "0:5 1:5 2:6"),
    "cell_table": ("0=keep 1=4", "0=3 1=0:1,1:2,2:2,3:1 2=keep", "0=keep 1=keep 2=0:1,1:0,2:5"),
    "neighbours": (
        "cross 00000:1", "cross 01000:2 0x000:3", "count 01:4", "count 03:2 12:0", "equal 14:3",
        "single 01:2 0x:3", "turned 000000001:5", "turned 011001000:2 111111111:0",
        "full 000000001:5", "full 000111000:2 010010010:3",
    ),
    "tile_layout": ("1x2 01", "2x2 03/56", "3x1 0/./2", "2x3 010/2.2"),
    "block_reduce": (
        "only block 2x2", "common into 2x2", "marked block 1x3", "first into 1x2", "full block 2x1",
        "common block 2x3",
    ),
    "scale": ("2x2", "1x3", "colours", "marks", "cells", "height", "width", "own"),
    "window": ("top_left 0 1 2x2", "bottom_right 0 0 1x3", "margins 0 1 1 0", "top_right 1 0 2x1"),
    "border": ("add 1 3", "add 2 0", "rim 4"),
    "stamp": ("0 1=...../.3.../..1../...3./.....", "0 1=..4../...../.515./...../..4.. "
              "2=...../..3../..2../...../....."),
    "extend_period": ("1h+2 1w+0", "0h+6 2w+0", "1h+0 1w+0 hole 0", "2h-1 1w+3"),
    "table_of_parts": ("1x2 00:0 01:1 10:1 11:0", "2x1 00:3 01:0 10:4 11:5 20:1 02:2 22:0 12:3",
                       "1x3 000:1 111:2 001:3", "2x2 0000:0 1111:1"),
}  # fmt: skip


def planted_params(rule: FittedRule, text: str) -> bytes:
    """Parse the parameters of a text whose entries may be unsorted."""
    words = text.split(" ")
    if rule.name == "table_of_parts":
        text = " ".join([words[0], *sorted(words[1:])])
    return rule.parse(text)


@st.composite
def planted(draw: st.DrawFn, rule: FittedRule) -> EncodedExamples:
    """A task that the rule generates: grids of few colours, sometimes with one target damaged."""
    params = planted_params(rule, draw(st.sampled_from(TEXTS[rule.name])))
    side = draw(st.integers(2, 6))
    values, inputs, targets = [], [], []
    same_input = draw(st.booleans())
    for _ in range(draw(st.integers(2, 5))):
        value = draw(grids(side))
        if draw(st.integers(0, 3)):  # mostly 0, 1, 2: the colours in the parameters
            value = replace(value, cells=bytes(cell % 3 for cell in value.cells))
        if rule.name == "extend_period":
            value = repeated(value, draw(st.integers(1, 3)), draw(st.integers(1, 3)), draw)
        if rule.name in ("block_reduce", "table_of_parts"):
            value = Grid.of([row * 2 for row in value.rows()] * 2)
        same = same_input and rule.name != "cell_table"
        inp = value if same else other_cells(draw, value)
        target = rule.apply(params, value, inp)
        if target is not None:
            values.append(value)
            inputs.append(inp)
            targets.append(target)
    if not targets:
        values, inputs, targets = [grid("12")] * 2, [grid("12")] * 2, [grid("21")]
    if draw(st.integers(0, 4)) == 0:
        cells = bytearray(targets[0].cells)
        at = draw(st.integers(0, len(cells) - 1))
        cells[at] = (cells[at] + 1) % 10
        targets[0] = replace(targets[0], cells=bytes(cells))
    tests = draw(st.integers(0, max(0, len(targets) - 1)))
    return EncodedExamples.of(values, inputs, targets[: len(targets) - tests])


def other_cells(draw: st.DrawFn, value: Grid) -> Grid:
    n = len(value.cells)
    return replace(value, cells=bytes(draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))))


def repeated(value: Grid, p: int, q: int, draw: st.DrawFn) -> Grid:
    """A periodic grid with a few black cells."""
    rows = value.rows()
    cells = [
        rows[r % min(p, value.height)][c % min(q, value.width)] + 1
        for r in range(value.height)
        for c in range(value.width)
    ]
    for at in draw(st.lists(st.integers(0, len(cells) - 1), max_size=3)):
        cells[at] = 0
    return replace(value, cells=bytes(cell % 10 for cell in cells))


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@settings(max_examples=20, deadline=None, derandomize=True, database=None)
@given(data=st.data())
def test_planted_task_is_judged_as_by_the_slow_twins(rule: FittedRule, data: st.DataObject) -> None:
    _check_planted(rule, data)


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@settings(max_examples=200, deadline=None, database=None)
@given(data=st.data())
def test_many_planted_tasks_are_judged_as_by_the_slow_twins(
    rule: FittedRule, data: st.DataObject
) -> None:
    _check_planted(rule, data)


def _check_planted(rule: FittedRule, data: st.DataObject) -> None:
    view = data.draw(planted(rule))
    check_contract(view)
    bits = survivors(
        view.src, view.offsets, view.inp, view.inp_offsets, view.targets, view.target_offsets
    )
    for place, other in enumerate(RULES):
        assert bits >> place & 1 or other.fit_plain(view) is None, f"the gate loses {other.name}"


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
def test_parameter_text_round_trips_and_anything_else_is_refused(rule: FittedRule) -> None:
    for text in TEXTS[rule.name]:
        params = planted_params(rule, text)
        assert rule.parse(rule.show(params)) == params
        assert rule.price(params) >= 1000
    for wrong in ("", " ", "keep keep", "x", "1:", "01:2", "1:2:3", text + " ", " " + text, "-1"):
        with pytest.raises(ValueInvalid):
            rule.parse(wrong)


@pytest.mark.parametrize(
    ("name", "short", "long"),
    [
        ("colour_map", "1:2 keep", "1:2 3:4 keep"),
        ("cell_table", "0=keep", "0=keep 1=keep"),
        ("cell_table", "0=keep 1=4", "0=keep 1=1:4,2:5"),
        ("neighbours", "count 01:2", "count 01:2 02:2"),
        ("neighbours", "full 000000001:5", "full 000000001:5 000000011:5"),
        ("tile_layout", "1x2 00", "1x2 01"),
        ("tile_layout", "1x2 00", "1x3 000"),
        ("stamp", "0 1=...../.3.../..1../...../.....", "0 1=...../.3.../..1../...3./....."),
        ("table_of_parts", "1x2 00:0 11:1", "1x2 00:0 01:0 11:1"),
        ("extend_period", "1h+0 1w+1", "1h+0 1w+3"),
    ],
)
def test_price_grows_with_what_was_fitted(name: str, short: str, long: str) -> None:
    rule = BY_NAME[name]
    assert rule.price(rule.parse(short)) < rule.price(rule.parse(long))


def test_node_that_is_the_target_has_nothing_to_fit() -> None:
    node = grids_of("12/34 56/07 80/12")
    assert finish(EncodedExamples.of(node, node, node[:2])) == []


def test_unseen_colour_fails_closed() -> None:
    every = EncodedExamples.of(
        grids_of("01/10 11/01 15/11"), grids_of("1 1 1"), grids_of("32/23 22/32")
    )
    assert finish(every) == []
    once = EncodedExamples.of(
        grids_of("01/10 03/30 05/50"), grids_of("1 1 1"), grids_of("02/20 04/40")
    )
    assert finish(once) == []


def test_unseen_square_stays_only_if_its_cross_was_calm() -> None:
    train = grids_of("00000/00000/00500/00000/00000 000000/000000/005000/000000/000000/000000")
    targets = grids_of("00000/01010/00500/01010/00000 000000/010100/005000/010100/000000/000000")
    near = grid("0000000/0000000/0050000/0000000/0000500/0000000/0000000")
    far = grid("00000000/00000000/00500000/00000000/00000000/00000500/00000000/00000000")
    rule = BY_NAME["neighbours"]
    between = EncodedExamples.of([*train, near], [*train, near], targets)
    assert rule.fit(between) == rule.fit_plain(between) is None
    apart = EncodedExamples.of([*train, far], [*train, far], targets)
    fitted = rule.fit(apart)
    assert fitted is not None
    assert fitted == rule.fit_plain(apart)
    assert rule.show(fitted.params) == "turned 000000005:1"


def test_turned_pattern_needs_two_positions_or_the_one_seen() -> None:
    train = grids_of("00000/01010/00000 00000/01010/00000/00000 01010/00000/00000")
    targets = grids_of("00000/01210/00000 00000/01210/00000/00000 01210/00000/00000")
    upright = grid("000/010/000/010/000")
    rule = BY_NAME["neighbours"]
    view = EncodedExamples.of([*train, upright], [*train, upright], targets)
    assert rule.fit(view) == rule.fit_plain(view) is None
    train.append(grid("000/010/000/010/000"))
    targets.append(grid("000/010/020/010/000"))
    view = EncodedExamples.of([*train, upright], [*train, upright], targets)
    fitted = rule.fit(view)
    assert fitted is not None
    assert fitted == rule.fit_plain(view)
    assert outputs(fitted)[-1] == grid("000/010/020/010/000")

"""Extended grids: what is drawn, which texts are refused, and learning planted extensions."""

from __future__ import annotations

import pytest

from weft.errors import InputError
from weft.searches.arc.fitted.extend import LENGTHS, SIDES, WAYS, grid_of, lines_of, shifted
from weft.searches.arc.program import parse as read_program
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learnextended import learn_extensions
from weft.searches.arc.synthesis.sample import GridVector, VectorSample
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid, decode_grids, encode_grids


def grid(text: str) -> Grid:
    """A grid from its rows: `01/10`."""
    return Grid.of([[int(cell) for cell in row] for row in text.split("/")])


def extended(text: str, value: Grid) -> Grid | None:
    """The output of an extension's program on a grid."""
    return read_program(f'return extend_lines(I, "{text}")\n').run(value)


@pytest.mark.parametrize(
    ("text", "before", "after"),
    [
        ("down shift to 4", "1100/0110", "1100/0110/0011/0001"),
        ("up shift to 3", "0010/0001", "0100/0010/0001"),
        ("right shift times 2", "121/212", "121212/212121"),
        ("left shift to 5", "010/101", "01010/10101"),
        ("down shift to 6", "1100/0100/0110/0010", "1100/0100/0110/0010/0011/0001"),
        ("down shift to 3", "12/21", None),
        ("down bounce passes 3", "1/2/3", "1/2/3/2/1/2/3"),
        ("right bounce to 5", "123/456", "12321/45654"),
        ("left bounce times 2", "123", "232123"),
        ("down bounce to 3", "11", None),
        ("down shift to 2", "1/1", None),
        ("down shift times 16", "1/1", None),
    ],
)
def test_lines_go_on_or_fail(text: str, before: str, after: str | None) -> None:
    assert extended(text, grid(before)) == (None if after is None else grid(after))


@pytest.mark.parametrize(
    "text",
    ["down shift", "down shift to 1", "down shift to 31", "down shift to 05", "north shift to 9",
     "down wave to 9", "down shift by 9"],
)  # fmt: skip
def test_texts_that_are_no_extension_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a parameter of extend_lines"):
        read_program(f'return extend_lines(I, "{text}")\n')


@pytest.mark.parametrize("side", SIDES)
def test_lines_and_grids_are_each_others_inverse(side: str) -> None:
    value = grid("123/456")
    assert grid_of(lines_of(value, side), side) == value


def test_lines_are_shifted_by_the_fewest_lines_then_places() -> None:
    """Compares with a slow twin: the first period and shift that explain every later line."""
    for number in range(3**6):
        cells = [number // 3**place % 3 for place in range(6)]
        lines = [cells[:2], cells[2:4], cells[4:]]
        explained = [
            (period, shift)
            for period in (1, 2)
            for shift in (0, 1, -1)
            if all(
                lines[row][column]
                == (lines[row - period][column - shift] if 0 <= column - shift < 2 else 0)
                for row in range(period, 3)
                for column in range(2)
            )
        ]
        result = shifted(lines, 4)
        assert (result is None) == (not explained)
        if result is not None:
            period, shift = explained[0]
            before = lines[3 - period]
            expected = [before[c - shift] if 0 <= c - shift < 2 else 0 for c in range(2)]
            assert list(result[3]) == expected


@pytest.mark.parametrize(
    ("text", "inputs"),
    [
        ("down shift to 7", ("1100/0110", "220/020/022", "3/3/3", "4400/0400/0440/0040")),
        ("left bounce passes 3", ("120/340", "1005/2006", "770/008", "4012/0300")),
        ("right shift times 2", ("121/212", "030/303", "15515/51151", "4040/0404")),
    ],
)
def test_planted_extensions_are_learned_as_by_trying_all(
    text: str, inputs: tuple[str, ...]
) -> None:
    values = [grid(each) for each in inputs]
    outputs = [own for own in (extended(text, value) for value in values) if own is not None]
    pairs = [Pair(value, own) for value, own in zip(values, outputs, strict=True)]
    task = ArcTask("planted", tuple(pairs[:-1]), (values[-1],))
    vector = GridVector((), 0, encode_grids(values))
    sample = VectorSample((), (), (vector,), (), False, False, 0)
    learned = {
        candidate.program.text().split('"')[1]: decode_grids(candidate.outputs)
        for candidate in learn_extensions(EncodedTask(task), sample, vector)
    }
    every = (f"{s} {w} {k} {n}" for s in SIDES for w in WAYS for k in LENGTHS for n in range(2, 31))
    plain = {
        name: (results[-1],)
        for name in every
        for results in [[extended(name, value) for value in values]]
        if results[:-1] == outputs[:-1] and results[-1] is not None
    }
    assert text in learned
    assert learned == plain


@pytest.mark.parametrize(
    ("outputs", "loo_passed"), [(("1/2/1", "3/4/3", "5/5/5"), 3), (("1/2/1", "3/4/3"), 0)]
)
def test_extensions_may_answer_if_each_pair_is_predicted_without_it(
    outputs: tuple[str, ...], loo_passed: int
) -> None:
    pairs = [Pair(grid(output[:3]), grid(output)) for output in outputs]
    values = [*(pair.input for pair in pairs), grid("7/8")]
    vector = GridVector((), 0, encode_grids(values))
    sample = VectorSample((), (), (vector,), (), False, False, 0)
    problem = EncodedTask(ArcTask("planted", tuple(pairs), (values[-1],)))
    learned = list(learn_extensions(problem, sample, vector))
    assert {candidate.loo_passed for candidate in learned} == {loo_passed}

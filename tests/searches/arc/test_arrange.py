"""Arrangements of objects: what they draw, which texts are refused, and learning planted ones."""

from __future__ import annotations

from itertools import product
from random import Random

import pytest

from weft.errors import InputError
from weft.searches.arc.fitted.arrange import LAYOUTS, SEGMENTATIONS, solutions
from weft.searches.arc.program import parse as read_program
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learnarranged import learn_arrangements
from weft.searches.arc.synthesis.sample import GridVector, VectorSample
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid, decode_grids, encode_grids

Cell = tuple[int, int]
Shape = dict[Cell, int]


def grid(text: str) -> Grid:
    """A grid from its rows: `01/10`."""
    return Grid.of([[int(cell) for cell in row] for row in text.split("/")])


def arranged(text: str, value: Grid) -> Grid | None:
    """The output of an arrangement's program on a grid."""
    return read_program(f'return arrange(I, "{text}")\n').run(value)


FOUND = [
    ("layers: stack centre", "100100/002000/100100", None),
    ("layers: stack centre", "10100/00020/10100", "101/020/101"),
    ("layers: stack top_left", "11000/00022/10020", "22/20/10"),
    ("layers: stack bottom_right", "111/000/022/020", "022/121"),
    ("blobs_8: meet 5", "6600/0500/0000/0057", "660/057"),
    ("blobs_8: meet 5", "66/55/00/57", None),
    ("blobs_8: meet 5", "66/05/00/77", None),
    ("blobs_8: stack top_left", "333/333/000/333/343/000/363/333", "363/343"),
    ("objects_8: jigsaw square", "33000/30000/30007/00077/00077", "337/377/377"),
    ("objects_8: jigsaw square", "10/00/02/00/30/00/04", None),
    ("objects_8: jigsaw square", "110/000/022/000/030", None),
    ("objects_4: jigsaw ring", "2200000/2000010/0000010/0400110", "221/201/411"),
    ("objects_4: jigsaw box", "3003000/3333066/3333000/3003066", "3663/3333/3333/3663"),
    ("objects_4: jigsaw box", "101020/111000/000000/000003", None),
    ("objects_4: stack centre", "111", None),
    ("objects_4: stack centre", "000", None),
]  # fmt: skip


@pytest.mark.parametrize(("text", "before", "after"), FOUND)
def test_objects_are_laid_or_fail(text: str, before: str, after: str | None) -> None:
    assert arranged(text, grid(before)) == (None if after is None else grid(after))


@pytest.mark.parametrize("layout", LAYOUTS)
def test_texts_are_read_as_they_are_written(layout: str) -> None:
    program = read_program(f'return arrange(I, "layers: {layout}")\n')
    assert read_program(program.text()) == program
    assert program.millibits() > 0


@pytest.mark.parametrize(
    "text",
    ["layers", "layers: stack", "layers: meet 0", "layers: meet 10", "rooms: jigsaw box", "a: b: c",
     "layers: jigsaw  box"],
)  # fmt: skip
def test_texts_that_are_no_arrangement_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a parameter of arrange"):
        read_program(f'return arrange(I, "{text}")\n')


def test_objects_that_are_too_many_are_not_arranged() -> None:
    rows = ["1010101010101", "0" * 13]
    assert arranged("objects_4: stack centre", grid("/".join(rows))) == grid("1")
    assert arranged("objects_4: stack centre", grid("/".join(rows * 2))) is None


def cut(random: Random, side: int, count: int) -> list[Shape]:
    """Cut a square into shapes in random order, each with its own origin and colour."""
    owner = {(r, c): random.randrange(count) for r in range(side) for c in range(side)}
    shapes = []
    for number in sorted(set(owner.values())):
        cells = sorted(cell for cell, own in owner.items() if own == number)
        top, left = min(r for r, _ in cells), min(c for _, c in cells)
        shapes.append({(r - top, c - left): number + 1 for r, c in cells})
    random.shuffle(shapes)
    return shapes


def plain_solutions(cells: list[Cell], shapes: list[Shape]) -> set[frozenset[tuple[Cell, int]]]:
    """The slow twin: every way to place or omit each shape that fills all cells exactly."""
    arrangements = set()
    for places in product([None, *cells], repeat=len(shapes)):
        used = [(shape, at) for shape, at in zip(shapes, places, strict=True) if at is not None]
        laid = [((r + a, c + b), x) for shape, (a, b) in used for (r, c), x in shape.items()]
        if sorted(cell for cell, _ in laid) == sorted(cells):
            arrangements.add(frozenset(laid))
    return arrangements


@pytest.mark.parametrize("seed", range(12))
def test_jigsaws_are_solved_as_by_trying_everything(seed: int) -> None:
    random = Random(seed)
    side, count = random.choice([(2, 2), (2, 3), (3, 2), (3, 3)])
    cells, shapes = [(r, c) for r in range(side) for c in range(side)], cut(random, side, count)
    expected = plain_solutions(cells, shapes)
    ways = solutions(cells, shapes)
    assert len(ways) == min(2, len(expected))
    assert {frozenset(way.items()) for way in ways} <= expected


def test_a_jigsaw_that_takes_too_long_has_no_solution() -> None:
    cells = [(r, c) for r in range(5) for c in range(5)]
    dominoes = [{(0, 0): n, (0, 1): n} for n in range(1, 13)]
    assert solutions(cells, [*dominoes, {(0, 0): 1, (1, 1): 1}]) == []


def planted(text: str, *inputs: str) -> tuple[ArcTask, list[Grid]]:
    """A task whose outputs come from an arrangement, and its inputs; the last one is the test."""
    values = [grid(each) for each in inputs]
    outputs = [own for own in (arranged(text, value) for value in values) if own is not None]
    pairs = [Pair(value, own) for value, own in zip(values, outputs, strict=True)]
    return ArcTask("planted", tuple(pairs[:-1]), (values[-1],), (outputs[-1],)), values


PLANTED = [
    ("layers: stack centre",
     ("10100/00020/10100", "300030/004000/300030", "11100000/10122200/10120204/10122200/11100000")),
    ("blobs_8: meet 5", ("6600/0500/0000/0057", "0500/1110/0000/0500/2000", "500/800/000/075")),
    ("objects_4: jigsaw square",
     ("33000/30000/30007/00077/00077", "1100/0100/0040", "2220/2000/2000/0000/0088/0088")),
    ("objects_8: jigsaw box", ("3003000/3333066/3333000/3003066", "111008/101000/111000",
                               "4440002/4040000/4440000")),
]  # fmt: skip


@pytest.mark.parametrize(("text", "inputs"), PLANTED)
def test_planted_arrangements_are_learned_as_by_trying_all(
    text: str, inputs: tuple[str, ...]
) -> None:
    task, values = planted(text, *inputs)
    vector = GridVector((), 0, encode_grids(values))
    sample = VectorSample((), (), (vector,), (), False, False, 0)
    learned = list(learn_arrangements(EncodedTask(task), sample, vector))
    targets = [pair.output for pair in task.train]
    names = (f"{name}: {layout}" for name in SEGMENTATIONS for layout in LAYOUTS)
    plain = {
        name: results[-1]
        for name in names
        for results in [[arranged(name, value) for value in values]]
        if results[:-1] == targets and results[-1] is not None
    }
    assert text in plain
    for candidate in learned:
        name = candidate.program.text().split('"')[1]
        assert decode_grids(candidate.outputs) == (plain[name],)
    assert {c.outputs for c in learned} == {encode_grids([own]) for own in plain.values()}


CENTRED = ("5100/0000/0052", "51/00/52")
"""Objects for which `stack centre` gives the same result as `meet 5`."""
MET = ("6600/0500/0000/0057", "0500/1110/0000/0500/2000", "500/800/000/075")


@pytest.mark.parametrize(
    ("inputs", "loo_passed"), [(MET, 3), (MET[:2], 0), ((*CENTRED, MET[0]), 0)]
)
def test_arrangements_may_answer_if_each_pair_is_predicted_without_it(
    inputs: tuple[str, ...], loo_passed: int
) -> None:
    task, values = planted("blobs_8: meet 5", *inputs, "500/200/000/051")
    vector = GridVector((), 0, encode_grids(values))
    sample = VectorSample((), (), (vector,), (), False, False, 0)
    learned = list(learn_arrangements(EncodedTask(task), sample, vector))
    assert {candidate.loo_passed for candidate in learned} == {loo_passed}


def test_targets_with_more_cells_than_the_grid_are_not_tried(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each object is used once, so a target cannot have more cells than the grid."""
    given, expected = grid("1100/0022"), grid("111/222")
    task = ArcTask("planted", (Pair(given, expected),), (given,))
    vector = GridVector((), 0, encode_grids([given, given]))
    sample = VectorSample((), (), (vector,), (), False, False, 0)
    segmented: list[str] = []
    monkeypatch.setattr(
        "weft.searches.arc.synthesis.learnarranged.segment", lambda name, _: segmented.append(name)
    )
    assert list(learn_arrangements(EncodedTask(task), sample, vector)) == []
    assert segmented == []

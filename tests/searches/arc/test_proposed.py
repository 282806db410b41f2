"""Rules whose parameters the pairs propose: what they draw, what fails, what is learned."""

from __future__ import annotations

import pytest

from tests.support.arcvalues import grid
from weft.errors import InputError
from weft.searches.arc.fitted.cropat import CropAt
from weft.searches.arc.fitted.onecolour import OneColour
from weft.searches.arc.fitted.repeat import Repeat, counts_of
from weft.searches.arc.fitted.rule import Proposed
from weft.searches.arc.fitted.sort import Sort
from weft.searches.arc.program import parse as read_program
from weft.searches.arc.symmetries import AUGMENTATIONS
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learnproposed import learn_proposed
from weft.searches.arc.synthesis.sample import GridVector
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid, decode_grids, encode_grids

RULES: dict[str, Proposed] = {rule.name: rule for rule in (CropAt(), Repeat(), Sort(), OneColour())}
RIGID = [change for change in AUGMENTATIONS if "colour" not in change.name]


def drawn(rule: str, text: str, value: Grid) -> Grid | None:
    """The output of a rule's program with some parameters on a grid."""
    return read_program(f'return {rule}(I, "{text}")\n').run(value)


MARKED = "1203/0030/4500/0021"


@pytest.mark.parametrize(
    ("rule", "text", "rows", "after"),
    [
        ("crop_at", "colour 4: edge first edge edge", MARKED, "1203/0030"),
        ("crop_at", "colour 4: last edge edge edge", MARKED, "0021"),
        ("crop_at", "colour 3: first last first last", MARKED, "03/30"),
        ("crop_at", "colour 5: first-1 last+1 first-1 last+1", MARKED, "003/450/002"),
        ("crop_at", "colour 5: centre-3 centre+3 centre-3 centre+3", MARKED, "003/450/002"),
        ("crop_at", "-: middle-2 middle+2 middle-2 middle+2", MARKED, "03/50"),
        ("crop_at", "-: middle-3 middle+3 middle-3 middle+3", MARKED, None),
        ("crop_at", "colour 9: edge first edge edge", MARKED, None),
        ("crop_at", "colour 1: edge first edge edge", MARKED, None),
        ("crop_at", "rarest: first last first last", MARKED, None),
        ("crop_at", "rarest: first last first last", "1102/0110", "2"),
        ("crop_at", "main: first last first last", "1102/0110", "110/011"),
        ("repeat", "copies 1 2", "12/03", "1212/0303"),
        ("repeat", "copies count_3 1", "13/30", "13/30/13/30"),
        ("repeat", "copies 2 2 apart 1 5", "12", "12512/55555/12512"),
        ("repeat", "copies 1 2 framed 1 5", "12", "5555555/5125125/5555555"),
        ("repeat", "scale cells 1", "12", "12/12"),
        ("repeat", "scale parts_1 parts_1", "101", "110011/110011"),
        ("repeat", "diagonal marks marks", "12", "1200/0012"),
        ("repeat", "copies count_9 1", "12", None),
        ("repeat", "copies 1 15", "123", None),
        ("sort", "single_columns: count_0 right", "300/300/320/321", "300/300/320/321"),
        ("sort", "single_columns: count_0 left", "300/300/320/321", "003/003/023/123"),
        ("sort", "single_rows: count_0 up", "300/000/320/321", "300/000/320/321"),
        ("sort", "objects_8: cells right", "0200/0201/3201", "0002/0102/3102"),
        ("sort", "objects_8: colour down", "3/0/1", "1/0/3"),
        ("sort", "objects_8: cells right", "0110", None),
        ("one_colour", "objects_8: least cells", "110/000/002", "220/000/002"),
        ("one_colour", "layers: most cells", "110/000/002", "110/000/001"),
        ("one_colour", "objects_8: least cells", "100/000/002", None),
        ("one_colour", "objects_8: least cells", "110", None),
    ],
)
def test_parameters_decide_what_is_drawn(
    rule: str, text: str, rows: str, after: str | None
) -> None:
    assert drawn(rule, text, grid(rows)) == (None if after is None else grid(after))


@pytest.mark.parametrize(
    ("rule", "text"),
    [
        ("crop_at", "colour 0: edge edge edge first"), ("crop_at", "edge edge edge edge"),
        ("crop_at", "rarest: edge edge edge"), ("crop_at", "rarest: edge edge edge begin"),
        ("crop_at", "rarest: edge edge edge first+0"), ("repeat", "copies 0 1"),
        ("repeat", "copies 1 2 apart 4 1"), ("repeat", "scale 2 2 apart 1 1"),
        ("repeat", "copies holes 1"), ("sort", "layers: cells right"),
        ("sort", "objects_8: top up"),
        ("sort", "objects_8: cells north"), ("one_colour", "holes_4: most cells"),
        ("one_colour", "layers: is cells 3"),
    ],
)  # fmt: skip
def test_other_texts_are_refused(rule: str, text: str) -> None:
    with pytest.raises(InputError, match=f"is not a parameter of {rule}"):
        read_program(f'return {rule}(I, "{text}")\n')


def test_counts_are_those_of_the_input() -> None:
    counts = counts_of(grid("1102/0003/1020"))
    assert (counts["marks"], counts["cells"], counts["blobs"], counts["others"]) == (3, 6, 3, 2)
    assert (counts["count_1"], counts["parts_1"], counts["parts_2"], counts["rarest"]) == (
        3,
        2,
        2,
        1,
    )


PLANTED = {
    "crop_at": (
        "colour 4: edge first edge edge",
        (
            "12300/05000/04004/11000",
            "5020/1300/0610/0434/0000",
            "700/430/001/100/000",
            "0203/1110/2040/0001",
        ),
    ),
    "repeat": (
        "copies 1 count_3",
        ("3103/0100", "330/031", "103/013/010", "3331/0120"),
    ),
    "sort": (
        "single_columns: count_0 left",
        ("0030/1030/1030/1032", "0400/0405/6405", "10200/10207/13207/13207", "0090/1090/1098"),
    ),
    "one_colour": (
        "objects_8: least cells",
        ("1100/1002/0000", "3330/0000/0400", "050/066/066", "7700/0000/0888"),
    ),
}


def planted(rule: str, change: str = "") -> tuple[list[ProgramCandidate], Grid]:
    """The programs learned from pairs that a rule drew, all transformed alike, and the truth."""
    text, rows = PLANTED[rule]
    values = tuple(map(grid, rows))
    outputs = [own for own in (drawn(rule, text, value) for value in values) if own is not None]
    assert len(outputs) == len(values)
    [apply] = [own.apply for own in RIGID if own.name == change] or [lambda same: same]
    values, outputs = tuple(map(apply, values)), list(map(apply, outputs))
    task = EncodedTask(ArcTask("planted", tuple(map(Pair, values[:3], outputs[:3])), values[3:]))
    learned = learn_proposed(task, GridVector((), 0, encode_grids(values)), [RULES[rule]])
    return list(learned), outputs[3]


@pytest.mark.parametrize("rule", PLANTED)
def test_planted_parameters_are_learned(rule: str) -> None:
    learned, truth = planted(rule)
    assert truth in {decode_grids(candidate.outputs)[0] for candidate in learned}
    assert learned[0].program.fitted == rule
    assert len({candidate.outputs for candidate in learned}) == len(learned)


@pytest.mark.parametrize("change", [change.name for change in RIGID])
@pytest.mark.parametrize("rule", PLANTED)
def test_transformed_pairs_are_explained_as_cheaply(rule: str, change: str) -> None:
    (plain, _), (learned, truth) = planted(rule), planted(rule, change)
    assert truth in {decode_grids(candidate.outputs)[0] for candidate in learned}
    assert min(c.millibits for c in learned) == min(c.millibits for c in plain)


def test_crop_is_cross_validated() -> None:
    assert {candidate.loo_passed for candidate in planted("crop_at")[0]} == {3}


@pytest.mark.parametrize("rule", RULES)
def test_pairs_of_nothing_alike_are_not_explained(rule: str) -> None:
    values = (grid("1203/0040"), grid("2200/0013"))
    pairs = (Pair(values[0], grid("55/56")), Pair(values[1], grid("66/56")))
    task = EncodedTask(ArcTask("nothing", pairs, values[:1]))
    vector = GridVector((), 0, encode_grids((*values, values[0])))
    assert list(learn_proposed(task, vector, [RULES[rule]])) == []

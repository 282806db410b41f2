"""Objects inlaid in a grid: where they fit best, what fails, and learning planted inlays."""

from __future__ import annotations

import pytest

from tests.support.arcvalues import grid
from weft.errors import InputError
from weft.searches.arc.fitted.inlay import SEGMENTATIONS
from weft.searches.arc.program import parse as read_program
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learninlays import learn_inlays
from weft.searches.arc.synthesis.sample import GridVector, VectorSample
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid, decode_grids, encode_grids


def laid(name: str, value: Grid) -> Grid | None:
    """The output of a program that applies the rule to the largest object's box."""
    text = (
        f'a = blobs_8(I)\nb = pick_most_cells(a)\nc = object_crop(b)\nreturn inlay(c, "{name}")\n'
    )
    return read_program(text).run(value)


FRAME, MARKED = "22222/20002/20002/20002/22222", "3333333/3000003/1000004/3000003/3333333"
BELOW = "00000"


@pytest.mark.parametrize(
    ("rows", "after"),
    [
        (f"{FRAME}/{BELOW}/08800/80000/08800", "22222/20882/28002/20882/22222"),
        ("222222/200002/200002/200002/200002/222222/000000/880000/080000",
         "222222/288882/288882/200882/200882/222222"),
        (f"{FRAME}/{BELOW}/80000", "22222/28882/28882/28882/22222"),
        (f"{FRAME}/{BELOW}/88888/80000", None),
        (FRAME, None),
        ("/".join(("2" * 16, *[f"2{'0' * 14}2"] * 11, "2" * 16, "0" * 16, "88" + "0" * 14)), None),
        (f"{MARKED}/0000000/0144000", None),
        (f"{MARKED}/0000000/0111440/0111440/0111440", "3333333/3111443/1111444/3111443/3333333"),
        (f"{MARKED}/0000000/0441110/0441110/0441110", "3333333/3111443/1111444/3111443/3333333"),
    ],
)  # fmt: skip
def test_objects_are_laid_where_they_fit_best(rows: str, after: str | None) -> None:
    assert laid("blobs_8", grid(rows)) == (None if after is None else grid(after))


@pytest.mark.parametrize("text", ["", "layers", "blobs_8 "])
def test_other_texts_are_refused(text: str) -> None:
    with pytest.raises(InputError, match="is not a parameter of inlay"):
        read_program(f'return inlay(I, "{text}")\n')


def test_planted_inlays_are_learned_as_by_trying_all() -> None:
    rows = [f"{FRAME}/{BELOW}/{piece}" for piece in ("08800/80000/08800", "444/040/444", "6/6/6")]
    values = [grid("/".join(row.ljust(5, "0") for row in each.split("/"))) for each in rows]
    values[2] = grid("2222/2002/2002/2222/0000/6600/0600")
    outputs = [own for own in (laid("blobs_8", value) for value in values) if own is not None]
    pairs = [Pair(value, own) for value, own in zip(values, outputs, strict=True)]
    task = ArcTask("planted", tuple(pairs[:-1]), (values[-1],))
    chain = ("blobs_8", "pick_most_cells", "object_crop")
    crops = [read_program("a = blobs_8(I)\nb = pick_most_cells(a)\nreturn object_crop(b)\n").run(v)
             for v in values]  # fmt: skip
    vector = GridVector(chain, 0, encode_grids(crop for crop in crops if crop is not None))
    sample = VectorSample((vector,), (), (vector,), (), False, False, 0)
    learned = {
        candidate.program.text().split('"')[1]: decode_grids(candidate.outputs)
        for candidate in learn_inlays(EncodedTask(task), sample, vector)
    }
    results = {name: [laid(name, value) for value in values] for name in SEGMENTATIONS}
    plain = {n: (own[-1],) for n, own in results.items() if own[:-1] == outputs[:-1] and own[-1]}
    assert "blobs_8" in learned
    assert learned == plain


def test_targets_that_lose_something_of_the_grid_are_not_tried() -> None:
    given = grid("220/200/008")
    vector = GridVector(("trim",), 0, encode_grids([grid("22/20"), grid("22/20")]))
    sample = VectorSample((vector,), (), (vector,), (), False, False, 0)
    for target, expected in (("22/28", 2), ("82/28", 0), ("22/20", 0)):
        task = ArcTask("planted", (Pair(given, grid(target)),), (given,))
        candidates = list(learn_inlays(EncodedTask(task), sample, vector))
        assert len(candidates) >= expected if expected else candidates == []

"""Two defensible rules that differ on the test: the answer is UNKNOWN, and both are shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.arcruns import TASKS, TINY, Here, ambiguous, write_tasks
from weft.searches.arc.program import parse
from weft.searches.arc.values import Grid
from weft.searches.arc.views.sprites import Sprites

pytestmark = pytest.mark.xdist_group("arc-runs")


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_tasks(tmp_path_factory.mktemp("arc") / "data", TASKS)


def test_both_rules_are_given_with_their_outputs(
    small_run: Path, data: Path, tmp_path: Path, weft: Here
) -> None:
    run, file = small_run, tmp_path / "submission.json"
    outcome = weft(
        "arc", "solve", "--data", data, *TINY, "--out", run, "--json", "--submission", file
    )
    [result] = [result for result in outcome.json["results"] if result["name"] == "torn"]
    assert result["outcome"] == "UNKNOWN/ambiguous"
    assert result["failure"]["class"] == "AMBIGUOUS"
    groups = result["groups"]
    by_program = {group["programs"][0].strip(): group["outputs"] for group in groups}
    assert {"return mirror_rows(I)", "return rotate_180(I)"} <= by_program.keys()
    for text, outputs in by_program.items():
        program = parse(text)
        assert all(program.run(pair.input) == pair.output for pair in ambiguous().train)
        assert [program.run(grid) for grid in ambiguous().test] == [Grid.of(o) for o in outputs]
    weighed = groups[result["weighing"]["place"]]
    prices = [g["millibits"] + g["evidence"]["doubt_millibits"] for g in groups if g["evidence"]]
    assert weighed["millibits"] + weighed["evidence"]["doubt_millibits"] == min(prices)
    assert all(g["evidence"] for g in groups[:2]), "both rules are guessed before learned lists"
    guesses = json.loads(file.read_text())["torn"][0]
    assert guesses == {"attempt_1": groups[0]["outputs"][0], "attempt_2": groups[1]["outputs"][0]}

    output = weft("arc", "show", run, "torn").out
    page = tmp_path / "report.html"
    assert weft("report", run, "--out", page).code == 0
    drawn = page.read_text()
    for letter, group in zip("AB", groups, strict=False):
        assert f"answer {letter}" in output
        assert f"answer {letter}" in drawn
        assert group["programs"][0].strip() in output
        assert group["programs"][0].strip() in drawn
        assert "".join(map(str, group["outputs"][0][0])) in output
    assert "UNKNOWN: ambiguous" in drawn
    sprites = Sprites()
    grid = Grid.of(groups[1]["outputs"][0])
    assert str(sprites.place(grid)).split(";--y")[0] in drawn, "a picture of that size is there"


def test_one_attempt_leaves_the_second_empty(
    small_run: Path, data: Path, tmp_path: Path, weft: Here
) -> None:
    file = tmp_path / "submission.json"
    words = ("--out", small_run, "--submission", file, "--attempts", "1")
    weft("arc", "solve", "--data", data, *TINY, *words)
    assert json.loads(file.read_text())["torn"][0]["attempt_2"] == [[0, 0], [0, 0]]


def test_margin_answers_only_where_it_is_exceeded(tmp_path: Path, weft: Here) -> None:
    """Both rules cost the same, so no margin can separate them."""
    data = write_tasks(tmp_path / "data", [ambiguous()])
    result = weft(
        "arc", "solve", "--data", data, *TINY, "--out", tmp_path / "run", "--margin-bits", "0"
    )
    assert result.code == 1

"""`weft arc show`: tasks and runs on screen, as pictures and JSON; sealed runs stay sealed."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from PIL import Image
from rich.console import Console

from tests.support.arcruns import TASKS, Here, ambiguous, solved, write_tasks
from weft.searches.arc.evidence import Evidence
from weft.searches.arc.program import parse
from weft.searches.arc.reasons import doubts
from weft.searches.arc.recorded import Recorded, read_run
from weft.searches.arc.runview import to_dict, view_of, view_of_program
from weft.searches.arc.values import Grid
from weft.searches.arc.views import terminal
from weft.searches.arc.views.model import TaskView

pytestmark = pytest.mark.xdist_group("arc-runs")


def digits(grid: Grid) -> list[str]:
    return ["".join(map(str, row)) for row in grid.rows()]


def drawn(view: TaskView, *, steps: bool) -> str:
    console = Console(file=io.StringIO(), width=200, no_color=True)
    terminal.show(view, console, steps=steps)
    file = console.file
    assert isinstance(file, io.StringIO)
    return file.getvalue()


# -- tasks -----------------------------------------------------------------------------------


def test_task_of_a_named_set_is_drawn(weft: Here) -> None:
    result = weft("arc", "show", "007bbfb7")
    assert result.code == 0
    assert result.out.startswith("007bbfb7  6dfa4641e916")
    assert "train 5" in result.out
    assert "SOLVED" not in result.out


def test_task_file_is_drawn_and_given_as_json(weft: Here, tmp_path: Path) -> None:
    task = solved()
    file = write_tasks(tmp_path, [task]) / "plain.json"
    result = weft("arc", "show", file, "--json")
    assert result.json == {**result.json, "name": "plain", "digest": task.digest}
    assert result.json["train"][0]["output"] == task.train[0].output.rows()
    assert "truth" not in result.json, "the output of the test is not shown"


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["nosuch"], 3, "no task 'nosuch'"),
        ([], 2, "name a task"),
        (["007bbfb7", "00d62c1b"], 2, "is not a run"),
        (["."], 3, "is a folder"),
        (["--bank", "nosuch.json"], 3, "nosuch.json"),
    ],
)
def test_what_cannot_be_shown_is_said_in_one_line(
    weft: Here, words: list[str], code: int, said: str
) -> None:
    weft("arc", "show", *words).check_one_line(code, said)


# -- runs ------------------------------------------------------------------------------------


def test_run_is_drawn_with_every_task_and_outcome(weft: Here, small_run: Path) -> None:
    result = weft("arc", "show", small_run)
    assert result.code == 0
    for words in ("plain  SOLVED", "torn  UNKNOWN: ambiguous", "lost  UNKNOWN: "):
        assert words in result.out
    assert "return mirror_down(I)" in result.out
    assert "step by step" not in result.out, "only for one task, or when asked for"


def test_one_task_of_a_run_is_drawn_step_by_step(weft: Here, small_run: Path) -> None:
    result = weft("arc", "show", small_run, "plain")
    task = solved()
    assert "torn" not in result.out
    after = result.out.split("step by step: train 1, test 1")[1].splitlines()
    rows = zip(digits(task.train[0].output), digits(task.truth[0]), strict=True)
    assert [line.rstrip() for line in after[3:]] == [f"{a}  {b}" for a, b in rows]


def test_competitors_are_shown_with_programs_and_pictures(weft: Here, small_run: Path) -> None:
    entry = weft("arc", "show", small_run, "torn", "--json").json["tasks"][0]
    assert entry["outcome"] == "UNKNOWN/ambiguous"
    outputs = [answer["outputs"] for answer in entry["answers"]]
    assert len(outputs) >= 2
    assert [ambiguous().truth[0].rows()] in outputs
    assert all(outputs.count(output) == 1 for output in outputs), "groups differ"
    printed = weft("arc", "show", small_run, "torn").out
    for letter, answer in zip("AB", entry["answers"], strict=False):
        assert f"answer {letter}" in printed
        assert f"program {letter}" in printed
        assert all(line in printed for line in answer["program"])
        row = "".join(map(str, answer["outputs"][0][0]))
        assert row in printed


def test_unsolved_task_shows_why_and_the_nearest_program(weft: Here, small_run: Path) -> None:
    output = weft("arc", "show", small_run, "lost").out
    assert "cells wrong" in output
    assert "nearest program, not an answer" in output


def test_pictures_are_written_of_one_task_only(weft: Here, small_run: Path, tmp_path: Path) -> None:
    svg, png = tmp_path / "a.svg", tmp_path / "a.png"
    result = weft("arc", "show", small_run, "torn", "--svg", svg, "--png", png)
    assert (result.code, result.out) == (0, "")
    assert ElementTree.parse(svg).getroot().tag.endswith("svg")
    assert "answer B" in svg.read_text()
    with Image.open(png) as image:
        assert image.size[0] > 100
    weft("arc", "show", small_run, "--svg", svg).check_one_line(2, "one task, not 3")


def test_steps_are_what_the_program_does() -> None:
    task = solved()
    program = parse("a = fall_down(I)\nreturn mirror_down(a)\n")
    view = view_of_program(task, program)
    assert [step.line for step in view.steps] == list(view.program)
    for column, given in enumerate((task.train[0].input, *task.test)):
        values = [value for _, _, value in program.steps(given)]
        assert [step.values[column] for step in view.steps] == values


def test_program_that_cannot_be_run_is_shown_without_steps() -> None:
    task = solved()
    group = {"programs": ["return nosuch(I)\n"], "outputs": [task.truth[0].rows()],
             "millibits": 1, "size": 1}  # fmt: skip
    answer = {"outcome": "SOLVED", "groups": [group], "failure": None, "nearest": None}
    view = view_of(Recorded(task, answer))
    assert view.answers[0].program == ("return nosuch(I)",)
    assert view.answers[0].steps == ()
    assert "nosuch" in drawn(view, steps=True)


def test_task_without_an_outcome_is_shown_as_such() -> None:
    view = view_of(Recorded(solved(), None))
    assert "no outcome yet" in drawn(view, steps=True)
    assert "outcome" not in to_dict(view)


def test_names_come_from_run_toml_and_digests_without(small_run: Path) -> None:
    run = read_run(small_run)
    assert [item.task.name for item in run.items] == sorted(task.name for task in TASKS)
    assert run.find(solved().digest[:10]).task.name == "plain"
    assert '"plain"' not in (small_run / "ledger.jsonl").read_text()


# -- evaluation ------------------------------------------------------------------------------


def test_sealed_run_shows_totals_only(weft: Here, sealed_run: Path) -> None:
    result = weft("arc", "show", sealed_run)
    assert "3 evaluation tasks; only totals" in result.out
    assert "SOLVED" in result.out
    for hidden in ("plain", "torn", "mirror_down", solved().digest[:8]):
        assert hidden not in result.out
    body = weft("arc", "show", sealed_run, "--json").json
    assert body == {"sealed": True, "outcomes": body["outcomes"]}
    assert body["outcomes"]["SOLVED"] == 1


@pytest.mark.parametrize("more", [["plain"], ["--svg", "x.svg"], ["--png", "x.png"]])
def test_sealed_run_draws_no_task(weft: Here, sealed_run: Path, more: list[str]) -> None:
    result = weft("arc", "show", sealed_run, *more)
    result.check_one_line(3, "only its totals", "--reveal")
    assert not Path("x.svg").exists()


def test_sealed_run_opens_when_asked_to(weft: Here, sealed_run: Path) -> None:
    assert "mirror_down" in weft("arc", "show", sealed_run, "plain", "--reveal").out


def test_sealed_run_has_a_report_without_tasks(
    weft: Here, sealed_run: Path, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    assert weft("report", sealed_run, "--out", page).code == 0
    code = r"<(style|script)(?![^>]*json)[^>]*>.*?</\1>"  # the same in every report; data stays
    text = re.sub(code, "", page.read_text(), flags=re.DOTALL)
    assert "only totals are shown" in text
    for hidden in ("mirror_down", "rotate_180", '"candidates', "outputs", "plain"):
        assert hidden not in text, hidden
    rows = json.dumps(solved().train[0].output.rows()[0])
    assert rows not in text


def test_evidence_of_an_older_version_is_left_out() -> None:
    old = {"refuted": 1, "doubt_millibits": 90_000}
    assert doubts(old) == ""
    assert "1 predicted wrongly" in doubts(Evidence(2, 2, 1).to_dict())

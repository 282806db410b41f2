"""The value of mechanisms: evidence without the programs of one, and counts of operators."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import pytest

from weft.model.codec import to_json
from weft.searches.arc.evidence import Evidence
from weft.searches.arc.program import parse
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid, encode_grids

TASK = ArcTask(
    "mirror",
    tuple(Pair(Grid.of([[a, b]]), Grid.of([[b, a]])) for a, b in ((1, 2), (3, 4), (5, 0))),
    (Grid.of([[6, 7]]),),
    (Grid.of([[7, 6]]),),
)
PROGRAM = "return mirror_columns(I)\n"
GUESS = 'return cells(I, "transpose=1 -> across; else across")\n'


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(Path(__file__).parents[3] / "tools")
    return importlib.import_module("count_arc_mechanisms")


def row(*texts: str) -> dict[str, Any]:
    """Recorded evidence: the first program explains the task, the others are guesses."""
    lines = [[text, 9000 + n, 0, 1, None] for n, text in enumerate(texts)]
    evidence = [[text, 0, to_json(Evidence(3, 2))] for text in texts]
    return {
        "outputs": [encode_grids(TASK.truth).hex()], "found": lines[:1], "guesses": lines[1:],
        "evidence": evidence,
    }  # fmt: skip


def test_task_is_lost_only_without_the_mechanism_of_its_only_program(counting: Any) -> None:
    counted = counting.Counted()
    counted.add(TASK, row(PROGRAM))
    rows = counted.report()["mechanisms"]
    half = int(TASK.digest, 16) % 2
    assert rows["nothing"][half]["pass@2"] == rows["rule `cells`"][half]["pass@2"] == 1
    assert rows["operators alone"][half]["pass@2"] == 0
    assert rows["nothing"][1 - half] == {}


def test_operator_is_needed_if_all_right_programs_use_it(counting: Any) -> None:
    counted = counting.Counted()
    counted.add(TASK, row(PROGRAM, GUESS))
    report = counted.report()
    assert report["needed_by_a_task"] == 0, "one of the two does without mirror_columns"
    assert report["operators_needed"] == {1: 1}
    assert "mirror_columns" not in report["used_by_no_task"]
    assert "transpose" not in report["used_by_no_task"], "also in the words of a list"
    assert counting.operators_of(parse(GUESS)) == {"transpose"}


def test_earnings_count_each_name_once_by_the_most_it_earns(counting: Any) -> None:
    earnings = counting.Earnings()
    earnings.add([parse(PROGRAM)], 0, is_solved_task=True)
    earnings.add([parse(PROGRAM), parse(GUESS)], 1, is_solved_task=True)
    earnings.add([parse("return scale_2(I)\n")], 1, is_solved_task=False)
    own = earnings.report()["operators"]
    assert own["tasks"] == {"mirror_columns": [1, 0]}
    assert (own["needed"], own["used"], own["recorded"]) == (1, 1, 1)
    assert own["needed"] + own["used"] + own["recorded"] + own["nothing"] == own["number"]

"""The report and live display of a bench: expected grids, differences, confidence and truth."""

from __future__ import annotations

import json
from pathlib import Path

from weft.searches.arc import truth
from weft.searches.arc.livescore import LiveScore
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import EMPTY, Grid
from weft.searches.arc.views.calibration import bins_of
from weft.searches.arc.views.model import AnswerView, TaskView, blocks
from weft.searches.arc.views.page import build_page

ONE, TWO = Grid.of([[1, 2]]), Grid.of([[1, 3]])


def viewed(
    name: str, answer: Grid, outcome: str, permille: int | None, failure: str = ""
) -> TaskView:
    answers = (AnswerView(("return I",), 1000, (answer,)),)
    reason = "" if outcome == "SOLVED" else "budget"
    return TaskView(name, "d" * 64, (Pair(ONE, ONE),), (ONE,), outcome, reason, "", answers, None,
                    (ONE,), permille, failure)  # fmt: skip


VIEWS = [
    viewed("good", ONE, "SOLVED", 990),
    viewed("bad", TWO, "SOLVED", 960),
    viewed("unsure", TWO, "UNKNOWN", 300, "SEARCH_BUDGET"),
    viewed("none", ONE, "UNKNOWN", None, "MISSING_OPERATOR"),
]


def test_difference_is_drawn_over_the_expected_grid() -> None:
    tiles = blocks(VIEWS[1])[-1].tiles
    assert [tile.label for tile in tiles] == ["input", "answer", "expected", "difference"]
    assert tiles[-1].grid.cells == bytes((EMPTY, 3)), "the wrong cell alone"
    assert [tile.label for tile in blocks(VIEWS[0])[-1].tiles] == ["input", "answer"]
    larger = viewed("larger", Grid.of([[1]]), "SOLVED", 900)
    assert [tile.label for tile in blocks(larger)[-1].tiles][-1] == "expected"


def test_confidence_is_counted_against_truth() -> None:
    counts = {entry.low: (entry.right, entry.wrong) for entry in bins_of(VIEWS)}
    assert counts == {0: (0, 1), 500: (0, 0), 800: (0, 0), 900: (0, 0), 950: (0, 1), 980: (1, 0)}


def test_page_has_outcomes_filters_and_a_search_box() -> None:
    page = str(build_page(VIEWS))
    for words in ("SOLVED, right", "SOLVED, wrong", "confidence 0.96", "best guess wrong",
                  "data-finder", "search budget", "missing operator", "Confidence against truth",
                  "expected", "difference"):  # fmt: skip
        assert words in page, words
    bare = [TaskView("a", "d" * 64, (Pair(ONE, ONE),), (ONE,), "SOLVED")]
    assert "Confidence against truth" not in build_page(bare)


def test_truth_beside_a_run_is_read_back_or_ignored(tmp_path: Path) -> None:
    assert truth.read(tmp_path) == {}
    task = ArcTask("t", (Pair(ONE, TWO),), (ONE,), (TWO,))
    truth.write(tmp_path, [task])
    assert truth.read(tmp_path) == {task.digest: (TWO,)}
    for damaged in ("{", "[]", '{"a": 1}', '{"a": [[[77]]]}'):
        (tmp_path / truth.FILE).write_text(damaged)
        assert not truth.read(tmp_path).get(task.digest)


def test_live_score_counts_what_the_ledger_has_so_far(tmp_path: Path) -> None:
    score = LiveScore(tmp_path, {"a": (ONE,), "b": (ONE,), "c": (ONE,)})
    assert score.words().endswith("0 judged: 0 answered, 0 right")

    def line(lane: str, outcome: str, grid: Grid) -> str:
        value = {"outcome": outcome, "groups": [{"outputs": [grid.rows()]}]}
        body = {"lane": f"/{lane}", "status": "ok", "value": value}
        return json.dumps({"kind": "answer", "body": body}, separators=(",", ":")) + "\n"

    ledger = tmp_path / "ledger.jsonl"
    ledger.write_text(line("a", "SOLVED", ONE) + line("b", "SOLVED", TWO)[:20])
    assert score.words().endswith("1 judged: 1 answered, 1 right")
    with ledger.open("a") as file:
        file.write(line("b", "SOLVED", TWO)[20:] + line("c", "UNKNOWN/budget", ONE))
    assert score.words().endswith("3 judged: 2 answered, 1 right")

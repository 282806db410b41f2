"""The page of ARC figures: it has every part that was measured, and its chart is a drawing."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from benchmarks import (
    arc,
    arcchains,
    arcchart,
    arcpage,
    arcreliability,
    arcsymmetries,
    arcworkers,
)
from benchmarks.__main__ import main as run_benchmarks
from benchmarks.arcruns import bench, half_of, names_of
from tests.support.arcruns import named_set
from weft.inspect.report.view import ViewedTask
from weft.searches.arc.synthesis.ablation import PARTS
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Grid

pytestmark = pytest.mark.xdist_group("arc-runs")
COUNTS = {"answered": 7, "right": 6, "wrong": 1}
RUN: dict[str, Any] = {
    "data": "made here", "tasks": 9, "answered": 7, "right": 6, "wrong": 1, "unknown": 2,
    "top1": 6, "top2": 8, "outputs": 10, "outputs_top2": 9,
    "precision": 6 / 7, "confidences": {"0.9": COUNTS, "0.95": COUNTS},
    "failures": {"AMBIGUOUS": 2}, "cpu_s_per_task": 0.5, "cpu_s_of_slowest": 1.5,
    "states_per_s": 1234,
    "programs_per_s": 99, "pruned_share": 0.5, "repeated_share": 0.1, "cache_hit_share": 0.0,
    "slice_balance": None, "memory_mb": 200,
}  # fmt: skip

BIN = {
    "from": 950, "to": 980, "answers": 50, "bases": 40, "right": 0.96, "confidence": 0.961,
    "error": 0.027,
}  # fmt: skip
KIND = {"950": {"right": 48, "wrong": 2, "possible": 60}}
CONFIDENCE: dict[str, Any] = {
    "machine": "here", "puzzles": 1234, "right": 1100, "default": 880,
    "reliability": [BIN, {**BIN, "from": 980, "to": 1001}], "halvings": 10,
    "reliability_of_halvings": [{**BIN, "right": 0.95}, {**BIN, "from": 980, "to": 1001}],
    "kinds": {"all": KIND}, "ablation": {"whole": KIND},
}  # fmt: skip


HALF = {"puzzles": 9, "possible": 8, "cost": [5, 6], "ranked": [6, 7], "later": [1, 0, 0]}
COUNTED = {"tasks": 9, "pass@1": 6, "pass@2": 7, "right": 5, "wrong": 1}
MECHANISMS: dict[str, Any] = {
    "mechanisms": {
        "nothing": [COUNTED, COUNTED], "rule `each`": [{**COUNTED, "pass@2": 6}, COUNTED],
        "rule `stamp`": [COUNTED, COUNTED],
    },
    "operators": 260, "operators_needed": {"0": 3, "2": 4}, "needed_by_a_task": 5,
    "used_in_both_halves": 4, "used_by_no_task": ["grow", "trim"],
}  # fmt: skip


def task_of(lane: str, number: int, index: int, run_s: float) -> ViewedTask:
    """A task that ran for `run_s` seconds."""
    return ViewedTask("k", lane, number, index, "f", "completed", {}, {}, None, run_s, {})


CHAIN = [task_of("/a", 0, 0, 2.0)]


COUNTS = {"tasks": 4, "answered": 3, "right": 2, "wrong": 1, "top1": 2, "top2": 3}
CONCEPTS = {
    "machine": "here", "rules": 2, "groups": {"tile": COUNTS}, "missed": ["tile_grid"],
    "totals": {**COUNTS, "cpu_s_per_task": 1.25},
}  # fmt: skip


def figures() -> dict[str, Any]:
    splits = dict.fromkeys(("training", "evaluation", "ARC-AGI-2 evaluation"), RUN)
    both = {"concepts": 0, "without": RUN, "with": RUN}
    return {
        "splits": {"machine": "here", "runs": splits, "halves": [RUN, RUN]},
        "confidence": CONFIDENCE,
        "ranking": {
            "machine": "here",
            "kinds": {"here": [HALF, HALF]},
            "weights": {"guessed": 900},
        },
        "mechanisms": {"machine": "here", "tasks from here": MECHANISMS},
        "start": {"machine": "here", "warm_start_s": 0.9},
        "concepts": CONCEPTS,
        "ablation": {"machine": "here", "runs": {"nothing": RUN, "checks": RUN}},
        "budgets": {"machine": "here", "runs": {"1000": RUN, "10000": {**RUN, "top2": 80}}},
        "symmetries": {
            "machine": "here",
            "runs": {
                "as it is": {**RUN, "lost": [], "gained": []},
                "transposed": {**RUN, "top2": 7, "lost": ["a", "b"], "gained": ["c"]},
            },
        },
        "transfer": {"machine": "here", "halves": [both, both]},
        "scaling": {"machine": "here", "fifty": {"speed_up": 1.9}, "hard": {"speed_up": 1.7}},
        "workers": {
            "machine": "here",
            "compile_s": 9.0,
            "compile_cpu_s": 50.0,
            "hard": {
                "puzzles": ["a", "b"],
                "seconds": {"1": 30.0, "16": 3.0},
            },
            "busy": {
                "workers": 16,
                "puzzles": 160,
                "wall_s": 20.0,
                "busy": 14.2,
                "cpu_s_per_task": 1.8,
                "slowest_s": 7.5,
            },
        },
    }


def test_page_has_a_section_for_each_part_measured() -> None:
    assert figures().keys() == arc.MEASURED.keys() == arcpage.SECTIONS.keys()
    whole = arcpage.render(figures())
    for part, body in figures().items():
        alone = arcpage.render({part: body})
        assert "here" in alone or part == "confidence"
        assert alone.split("\n", 4)[-1] in whole
    assert "| training | 7 | 6 | 1 | 2 | 85.7% | 6 | 8 | 0.50 | 1.5 | 1,234 | 200 |" in whole
    assert f"checks: {PARTS['checks']}" in whole
    assert "no bank ships" in whole


def test_page_counts_outputs_where_every_split_has_them() -> None:
    body = figures()["splits"]
    counts = "; ".join(f"{name} 9 of 10" for name in arcpage.SPLITS if name in body["runs"])
    assert f"Outputs right within two attempts: {counts}." in arcpage.render({"splits": body})
    body["runs"]["training"] = {n: v for n, v in RUN.items() if not n.startswith("outputs")}
    older = arcpage.render({"splits": body})
    assert "Outputs right" not in older
    assert "one guess is right on all tests" in older


def test_page_says_which_version_each_part_was_measured_with() -> None:
    body = figures()
    body["splits"]["version"], body["workers"]["version"] = 17, 15
    versions = "with version 17: splits; with version 15: workers; all else with earlier versions."
    assert arcpage.render(body).split("\n")[2] == f"Measured {versions}"


def test_symmetries_name_what_is_lost_and_gained() -> None:
    page = arcpage.render({"symmetries": figures()["symmetries"]})
    assert "| as it is | 6 | 8 | 6 | 1 | 0.50 |  |  |" in page
    assert "| transposed | 6 | 7 | 6 | 1 | 0.50 | a, b | c |" in page


def test_tasks_are_transformed_as_a_whole_and_read_again(tmp_path: Path) -> None:
    pair = Pair(Grid.of([[0, 1], [2, 3]]), Grid.of([[3, 9]]))
    task = ArcTask("t", (pair,), (pair.input,), (pair.output,))
    expected = {
        "as it is": [[0, 1], [2, 3]],
        "transposed": [[0, 2], [1, 3]],
        "left to right": [[1, 0], [3, 2]],
        "colours permuted": [[0, 2], [3, 4]],
        "on another ground": [[8, 1], [2, 3]],
    }
    assert tuple(expected) == arcsymmetries.NAMES
    for name, rows in expected.items():
        [read] = arcsymmetries.write([task], tmp_path / name, name)
        assert read.train[0].input.rows() == read.test[0].rows() == rows
        undo = arcsymmetries.change_of(name, task).undo
        assert (*map(undo, read.truth), read.name) == (*task.truth, "t")


def test_splits_come_in_one_order() -> None:
    page = arcpage.render({"splits": figures()["splits"]})
    places = [page.index(f"| {name} | 7 |") for name in arcpage.SPLITS[:3]]
    assert places == sorted(places)


def test_confidence_is_drawn_and_tabulated_beside_the_truth() -> None:
    page = arcreliability.section(CONFIDENCE)
    assert "| 0.95 to 0.98 | 50 | 40 | 96.1% | 96.0% | -0.1 ± 2.7 | -1.1 |" in page
    assert "| all | 48 / 2 = 96.0% | 60 |" in page
    drawing = ET.fromstring(arcreliability.draw(CONFIDENCE["reliability"]))
    assert len(drawing.findall("{http://www.w3.org/2000/svg}circle")) == 2


def test_mechanisms_that_change_nothing_are_named_below_the_table() -> None:
    page = arcpage.render({"mechanisms": figures()["mechanisms"]})
    assert "| rule `each` | 12 (6 + 6) | 13 (6 + 7) | 10 (5 + 5) | 2 (1 + 1) |" in page
    assert "Nothing changes without: rule `stamp`." in page
    assert "2 in none: `grow`, `trim`" in page


def test_ranking_adds_up_all_kinds_of_puzzles_by_half() -> None:
    part = {**figures()["ranking"], "kinds": {"whole": [HALF, HALF], "left": [HALF, HALF]}}
    page = arcpage.render({"ranking": part})
    assert "| whole | 9 and 9 | 5 / 6, 5 / 6 | 6 / 7, 6 / 7 | 8, 8 |" in page
    assert "| all | 18 and 18 | 10 / 12, 10 / 12 | 12 / 14, 12 / 14 | 16, 16 |" in page


def test_workers_are_compared_with_one_and_counted_as_busy() -> None:
    page = arcpage.render({"workers": figures()["workers"]})
    assert "| 16 | 3.0 s | 10.00 × |" in page
    assert "14.2 of 16 workers busy" in page
    tasks = [
        ViewedTask("k", lane, 0, 0, "f", "completed", {}, {}, None, run_s, {},
                   started_at=start, finished_at=start + run_s)
        for lane, start, run_s in (("/a", 0.0, 2.0), ("/a", 1.0, 3.0), ("/b", 0.0, 3.0))
    ]  # fmt: skip
    utilisation = arcworkers.utilisation(tasks)
    assert (utilisation["wall_s"], utilisation["busy"], utilisation["slowest_s"]) == (4.0, 2.0, 5.0)


def test_workers_are_reported_after_each_step(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arcworkers, "_timed", lambda _, __, workers: (30.0 / workers, "head"))
    monkeypatch.setattr(arcworkers, "_chains", lambda _: arcchains.figures(CHAIN))
    monkeypatch.setattr(arcworkers, "_busy", lambda _, __: figures()["workers"]["busy"])
    monkeypatch.setattr(arcworkers, "_compile", lambda: {"compile_s": 9.0, "compile_cpu_s": 50.0})
    pages = [
        arcpage.render({"workers": {"machine": "here", **known}})
        for known in arcworkers.measure(Path("nowhere"), 16, 1)
    ]
    assert [page.count("not measured |") for page in pages] == [0, 1, 2, 0, 0]
    assert [page.count(" × |") for page in pages] == [0, 0, 0, 3, 4], "one worker comes last"
    assert ["busy on average" in page for page in pages] == [False] * 4 + [True]
    assert all("Kernels compiled" in page for page in pages)


def test_chains_bound_what_more_workers_gain() -> None:
    """Two puzzles: one of 4 s and then two tasks of 1 s, one of 2 s and then four of 1 s."""
    lanes = [[[4.0], [1.0, 1.0]], [[2.0], [1.0] * 4]]
    assert arcchains.scheduled(lanes, 1) == 12
    assert arcchains.scheduled(lanes, 2) == 6, "both are always busy"
    assert arcchains.scheduled(lanes, 100) == 5, "the longest chain"
    tasks = [
        task_of(f"/{lane}", number, index, run_s)
        for lane, rounds in enumerate(lanes)
        for number, seconds in enumerate(rounds)
        for index, run_s in enumerate(seconds)
    ]
    chain_figures = arcchains.figures(tasks)
    assert [puzzle["chain_s"] for puzzle in chain_figures["puzzles"]] == [5, 3]
    assert chain_figures["gains"]["16"] == 12 / 5
    page = arcchains.section(chain_figures)
    assert "| 1 | 3 | 6.0 s | 4.0 s | 5.0 s | 1.2 × |" in page


def test_bank_that_helps_on_both_halves_is_said_to() -> None:
    better = {"concepts": 3, "without": RUN, "with": {**RUN, "top2": 9}}
    page = arcpage.render({"transfer": {"machine": "here", "halves": [better, better]}})
    assert "help on both halves" in page


def test_chart_draws_a_line_for_each_count_inside_its_frame() -> None:
    drawn = ET.fromstring(arcchart.draw(figures()["budgets"]["runs"]))
    lines = [item for item in drawn.iter() if item.tag.endswith("polyline")]
    assert len(lines) == len(arcchart.LINES)
    for line in lines:
        for point in line.attrib["points"].split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= arcchart.WIDTH
            assert 0 <= y <= arcchart.HEIGHT
    texts = [item.text for item in drawn.iter() if item.tag.endswith("text")]
    assert {"1k", "10k", "answered, right"} <= set(texts)


def test_unknown_part_and_misplaced_options_are_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        arc.main(["--parts", "nosuch"])
    assert caught.value.code == 2
    assert "there is no part 'nosuch'" in capsys.readouterr().err
    assert run_benchmarks(["core", "arc", "--workers", "2"]) == 2
    assert "options belong to one benchmark" in capsys.readouterr().err


def test_halves_divide_the_split_by_the_digest() -> None:
    tasks = named_set("arc-agi-1", "training").tasks
    even, odd = names_of(0), names_of(1)
    assert sorted([*even, *odd]) == sorted(task.name for task in tasks)
    assert {half_of(task) for task in tasks if task.name in odd} == {1}


def test_figures_come_from_a_real_run(tmp_path: Any) -> None:
    measured = bench(
        tmp_path / "run", 1, "007bbfb7", "--max-programs", "300", "--without", "pruning"
    )
    assert (measured["answered"], measured["right"], measured["pruned_share"]) == (1, 1, 0)
    assert measured["memory_mb"] > 50

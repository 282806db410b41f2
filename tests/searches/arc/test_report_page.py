"""The report and status of an ARC run: every task drawn, figures of the search, limited size."""

from __future__ import annotations

import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.arcruns import TASKS, Here, solved
from weft.inspect.report.view import MAX_PAGE_BYTES, RunView, ViewedTask
from weft.searches.arc import report
from weft.searches.arc.recorded import SEARCH, of_view
from weft.searches.arc.records import CHOICES, EACH, FIRSTS, LISTS, STEPS, TABLES, VIEW_TABLES
from weft.searches.arc.runview import view_of
from weft.searches.arc.telemetry import SLICE, telemetry
from weft.searches.arc.views.page import build_page

pytestmark = pytest.mark.xdist_group("arc-runs")


def seen(function: str, lane: str, pid: int, run_s: float, **notes: Any) -> ViewedTask:
    more = {"programs": 100, "states": 400, "failed": 10, "repeated": 20, "vectors": 70,
            "cache_hits": 1, "cache_misses": 3, "pruned": {"shape": 50, "stage": 50}}  # fmt: skip
    return ViewedTask(
        "k", lane, 0, 0, function, "completed", {}, {}, None, run_s, {**more, **notes},
        node="n", worker_pid=pid,
    )  # fmt: skip


def test_figures_are_those_of_the_notes() -> None:
    tasks = [
        seen("arc.shallow", "/a", 1, 2.0),
        seen(SLICE, "/a", 1, 1.0),
        seen(SLICE, "/a", 2, 3.0),
        seen(SLICE, "/b", 2, 2.0),
        replace(seen("arc.conclude", "/a", 1, 0.5), notes={}),
    ]
    figures = telemetry(2, tasks)
    body = figures.to_dict()
    assert body["programs"] == 400
    assert body["cpu_s"] == 8.5
    assert body["programs_per_s"] == round(400 / 8.5)
    assert body["states_per_s"] == round(1600 / 8.5)
    assert body["pruned_shares"] == {"shape": 0.25, "stage": 0.25}, "200 each of 800 nodes"
    assert body["repeated_share"] == 0.2
    assert body["cache_hit_share"] == 0.25
    assert body["slice_balance"] == 0.75, "6 s of slices, 8 s if each took as long as the longest"
    rates = [(w["worker"], w["programs"], w["programs_per_s"]) for w in body["workers"]]
    assert rates == [("n/1", 200, 67), ("n/2", 200, 40)]
    text = "\n".join(figures.lines())
    for words in (
        "47 programs/s",
        "n/1 67, n/2 40",
        "shape 25 %",
        "cache hits 25 %",
        "balanced 75 %",
    ):
        assert words in text


def test_figures_of_a_run_without_work_say_nothing() -> None:
    figures = telemetry(0, [])
    assert figures.lines() == []
    assert figures.slice_balance is None


def test_slices_are_found_by_the_name_they_run_under(small_run: Path) -> None:
    functions = {task.function for task in RunView(small_run, SEARCH).tasks()}
    assert functions >= {"arc.shallow", "arc.conclude"}
    ends = {"arc.assemble", "arc.omit", "arc.guess", "arc.examine", "arc.conclude"}
    parts = {TABLES, VIEW_TABLES, FIRSTS, STEPS, LISTS, CHOICES, EACH, SLICE, "arc.view"}
    assert functions <= {"arc.shallow", *parts, *ends}


def test_status_has_outcomes_and_rates(weft: Here, small_run: Path) -> None:
    output = weft("status", small_run).out
    assert re.search(r"3 puzzles: 1 SOLVED, 1 UNKNOWN/ambiguous, 1 UNKNOWN/", output)
    assert re.search(r"programs/s by worker: local/\d+ [\d,]+", output)
    summary = weft("status", small_run, "--json").json["summary"]
    assert any("states/s" in line for line in summary)


def test_report_shows_every_task_with_programs_and_steps(
    weft: Here, small_run: Path, tmp_path: Path
) -> None:
    page = tmp_path / "report.html"
    assert weft("report", small_run, "--out", page).code == 0
    text = page.read_text()
    for task in TASKS:
        assert task.name in text
    for words in ("Puzzles", "UNKNOWN: ambiguous", "program A", "program B", "step by step",
                  "return mirror_down(I)", "The search in figures", "programs/s"):  # fmt: skip
        assert words in text, words


def test_pages_stay_within_their_size(small_run: Path) -> None:
    run = RunView(small_run, SEARCH)
    assert sum(len(page.html.encode()) for page in report.pages(run)) <= MAX_PAGE_BYTES
    view = view_of(of_view(run).items[0])
    views = [replace(view, name=f"task {i}") for i in range(2000)]
    drawn = build_page(views, max_bytes=MAX_PAGE_BYTES - report.SEARCH_PAGE_BYTES)
    assert len(drawn.encode()) <= MAX_PAGE_BYTES - report.SEARCH_PAGE_BYTES
    assert "not drawn here" in drawn


def test_unfinished_run_has_pages_and_lines(small_run: Path, tmp_path: Path) -> None:
    """A run that has started but has no answers: its ledger holds the first record only."""
    copy = tmp_path / "begun"
    copy.mkdir()
    for name in ("run.toml", "manifest.sqlite"):
        (copy / name).write_bytes((small_run / name).read_bytes())
    shutil.copytree(small_run / "objects", copy / "objects")
    first = (small_run / "ledger.jsonl").read_text().splitlines(keepends=True)[0]
    (copy / "ledger.jsonl").write_text(first)
    run = RunView(copy, SEARCH)
    assert report.lines(run)[0] == "3 puzzles: 3 running"
    assert "no outcome yet" in report.pages(run)[0].html


def test_answer_of_every_task_is_in_the_json_of_solve(weft: Here, small_run: Path) -> None:
    body = weft("arc", "show", small_run, "--json").json
    assert [task["name"] for task in body["tasks"]] == sorted(task.name for task in TASKS)
    plain = next(task for task in body["tasks"] if task["name"] == "plain")
    assert plain["answers"][0]["outputs"] == [solved().truth[0].rows()]
    assert json.dumps(plain["answers"][0]["steps"])

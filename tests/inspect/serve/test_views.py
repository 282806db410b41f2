"""The live page reads only what changed and only what may be shown, and no path from outside."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.inspect.runs import NO_HEADS, copy_of
from tests.support.pages import weave
from weft.inspect.report.curve import read_progress
from weft.inspect.serve.ledgerrows import Ledgers, LineIndex, record_number
from weft.inspect.serve.rows import TaskQuery, read_rows
from weft.inspect.serve.runcache import RunCache, stamp
from weft.inspect.serve.rundirectory import RunDirectory, ServedRun
from weft.inspect.serve.views import Views
from weft.runs.execution import SEALED_VIEWS, Execution
from weft.runs.run import run_search


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    run = tmp_path_factory.mktemp("views") / "naps"
    weft.run(weave.naps(), out=run, workers=2)
    return run


def keys(rows: dict[str, Any]) -> list[str]:
    return [row[5] for row in rows["tasks"]]


# -- the directory of runs ----------------------------------------------------------------


def test_shelf_finds_runs_below_it_and_nothing_inside_them(finished: Path, tmp_path: Path) -> None:
    for place in ("a", "b/c", "b/d/e/f", "b/d/e/f2/too/deep"):
        copy_of(finished, tmp_path / place)
    copy_of(finished, tmp_path / "a" / "objects" / "inner")
    copy_of(finished, tmp_path / ".hidden")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert [run.name for run in RunDirectory(tmp_path).runs()] == ["a", "b/c", "b/d/e/f"]
    ids = [run.id for run in RunDirectory(tmp_path).runs()]
    assert len(set(ids)) == 3
    assert [RunDirectory(tmp_path).find(id_) is not None for id_ in ids] == [True] * 3
    assert RunDirectory(tmp_path).find("../a") is None


def test_shelf_of_one_run_is_that_run(finished: Path) -> None:
    assert [run.name for run in RunDirectory(finished).runs()] == ["naps"]


def test_shelf_of_a_folder_that_is_gone_is_empty(tmp_path: Path) -> None:
    assert RunDirectory(tmp_path / "nowhere").runs() == []


# -- the cache -----------------------------------------------------------------------------------


def test_run_is_read_again_only_when_its_files_changed(finished: Path, tmp_path: Path) -> None:
    run = copy_of(finished, tmp_path / "run")
    reads: list[Path] = []
    cache = RunCache(lambda path: reads.append(path) or len(reads))  # type: ignore[func-returns-value]
    assert cache.peek(run) is None
    assert [cache.get(run), cache.get(run), cache.peek(run)] == [1, 1, 1]
    (run / "run.toml").touch()
    assert cache.peek(run) is None
    assert cache.get(run) == 2


def test_stamp_of_a_missing_run_can_be_taken(tmp_path: Path) -> None:
    assert stamp(tmp_path / "nowhere") == stamp(tmp_path / "nowhere")


def test_verdict_is_part_of_later_updates(finished: Path) -> None:
    views, run = Views(NO_HEADS), ServedRun("x", "naps", finished)
    before = views.update(run)
    assert (before["checked"], before["state"]) == (False, "finished")
    assert views.verdict(run)["word"] == "finished, verified"
    after = views.update(run)
    assert after["checked"]
    assert "finished, verified" in after["top"]


def test_list_marks_a_run_whose_tasks_mostly_failed(finished: Path, tmp_path: Path) -> None:
    weft.run(weave.hopeless(2), out=tmp_path / "hopeless", workers=1, quiet=True)
    runs = [ServedRun("x", "naps", finished), ServedRun("y", "hopeless", tmp_path / "hopeless")]
    rows = [Views(NO_HEADS).listing([run]) for run in runs]
    assert ["mostly-failed" in row for row in rows] == [False, True]


# -- rows ----------------------------------------------------------------------------------------


def test_rows_are_filtered_sorted_and_paged(finished: Path) -> None:
    everything = read_rows(finished, TaskQuery())
    assert (everything["total"], len(everything["tasks"])) == (48, 48)
    assert read_rows(finished, TaskQuery.parse({"find": ":3:7"}))["total"] == 1
    assert read_rows(finished, TaskQuery.parse({"find": "/:3:7"}))["total"] == 1
    assert read_rows(finished, TaskQuery.parse({"find": ":9:0"}))["total"] == 0
    assert read_rows(finished, TaskQuery.parse({"find": 'weave "ms":5'}))["total"] > 0
    assert read_rows(finished, TaskQuery.parse({"states": "failed,queued"}))["total"] == 0
    slow = [
        row[10]
        for row in read_rows(finished, TaskQuery.parse({"sort": "took", "down": "1"}))["tasks"]
    ]
    assert slow == sorted(slow, reverse=True)
    beyond = read_rows(finished, TaskQuery.parse({"first": "999999"}))
    assert (beyond["first"], len(beyond["tasks"])) == (0, 48)


def test_rows_without_a_manifest_are_none(finished: Path, tmp_path: Path) -> None:
    run = copy_of(finished, tmp_path / "run")
    (run / "manifest.sqlite").unlink()
    assert read_rows(run, TaskQuery())["total"] == 0
    assert read_progress(run)["at_s"] == []


def test_sealed_run_shows_and_finds_no_contents(tmp_path: Path) -> None:
    run = tmp_path / "run"
    run_search(weave.wordy(3), Execution(run, tags=(SEALED_VIEWS,)))
    rows = read_rows(run, TaskQuery())
    assert rows["total"] == 3
    assert all(row[13] == "" and row[14] is None and not row[18] for row in rows["tasks"])
    assert read_rows(run, TaskQuery.parse({"find": "ValueError"}))["total"] == 0
    assert read_rows(run, TaskQuery.parse({"find": "text"}))["total"] == 0
    by_call = read_rows(run, TaskQuery.parse({"sort": "call", "down": "1"}))
    assert keys(by_call) == keys(read_rows(run, TaskQuery.parse({"down": "1"}))), (
        "no order gives it away"
    )
    records = Ledgers().rows(run, 0, "")["records"]
    assert [record[4] == "" for record in records] == [False] + [True] * (len(records) - 1)
    assert Ledgers().rows(run, 0, "ValueError")["total"] == len(records)


# -- ledger and progress --------------------------------------------------------------------------


def test_line_index_goes_on_where_it_ended(tmp_path: Path) -> None:
    file, index = tmp_path / "ledger.jsonl", LineIndex()
    file.write_bytes(b"one\ntwo\nto")
    index.refresh(file)
    assert (index.size, list(index.starts)) == (2, [0, 4, 8])
    with file.open("ab") as end:
        end.write(b"rn\nfour\n")
    index.refresh(file)
    assert (index.size, list(index.starts)) == (4, [0, 4, 8, 13, 18])
    file.write_bytes(b"new\n")
    index.refresh(file)
    assert list(index.starts) == [0, 4]


def test_ledger_is_paged_and_found_in(finished: Path) -> None:
    rows = Ledgers().rows(finished, None, "")
    assert (rows["size"], rows["total"], len(rows["records"])) == (54, 54, 54)
    assert Ledgers().rows(finished, 0, '"round":3')["total"] == 13
    key = rows["records"][5][2]
    assert record_number(finished, key) == 5
    assert record_number(finished, "0" * 64) is None
    assert record_number(finished, "../x") is None


def test_progress_ends_with_all_tasks(finished: Path) -> None:
    curve = read_progress(finished)
    assert (curve["done"][-1], curve["failed"][-1]) == (48, 0)
    assert curve["done"] == sorted(curve["done"])
    assert len({len(column) for column in curve.values()}) == 1
    assert max(curve["per_s"]) > 0
    json.dumps(curve, allow_nan=False)

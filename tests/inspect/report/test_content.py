"""The content of a report for a run in every state; the run folder stays as it is."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.inspect.report.conftest import KINDS, Kinds, page_of, weave
from tests.inspect.runs import contents, copy_of, heads, read_checkpoint
from weft.errors import FileInvalid, RunFolderInvalid
from weft.inspect.report.data import gather
from weft.inspect.report.page import write_report
from weft.inspect.status import status
from weft.storage.folder import RunFolder

pytestmark = pytest.mark.xdist_group("report")
BADGES = {
    "finished": "finished, verified",
    "running": "running",
    "interrupted": "interrupted",
    "all-failed": "incomplete, verified",
    "damaged": "damaged",
}


def data_of(page: str) -> Any:
    match = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert match
    return json.loads(match[1])


def badge_of(page: str) -> str:
    match = re.search(r'<span class="badge \w+" id="badge">(.*?)</span>', page)
    assert match
    return match[1]


@pytest.mark.parametrize("kind", KINDS)
def test_badge_says_what_verify_found(kinds: Kinds, kind: str) -> None:
    assert badge_of(kinds.text(kind)) == BADGES[kind]


def test_finished_run_shows_answer_head_and_counts(kinds: Kinds) -> None:
    page, now = kinds.text("finished"), status(kinds.runs["finished"])
    assert "<li>total 264</li>" in page
    assert now.head in page
    assert f'data-copy="{now.size} {now.head}"' in page
    assert "48 completed" in page
    assert "weave:nap" in page
    data = data_of(page)
    assert len(data["tasks"]) == 48
    assert len(data["ledger"]) == now.size
    assert sum(span[2] for track in data["tracks"] for span in track[0]) == 48
    assert all(task[12] for task in data["tasks"]), "every task names its record"


def test_figures_come_from_the_rows(kinds: Kinds) -> None:
    report = gather(kinds.runs["finished"], heads())
    work = report.details.work
    assert work is not None
    assert work.wall_s is not None
    assert 0.05 < work.wall_s < 300
    assert work.speed_up == work.busy_s / work.wall_s
    assert work.paused_s == 0
    totals = report.details.totals
    assert totals is not None
    assert [(s.name, s.tasks, s.failed) for s in totals.functions.lines] == [("weave:nap", 48, 0)]
    assert [s.tasks for s in totals.rounds.lines] == [12] * 4
    assert sum(bar.tasks for bar in totals.durations) == 48


def test_running_and_interrupted_runs_have_no_answer_yet(kinds: Kinds) -> None:
    for kind, words in (("running", "the search is running"), ("interrupted", "weft resume")):
        page = kinds.text(kind)
        assert "None yet" in page
        assert words in page
    assert "no completed task is lost" in kinds.text("interrupted")


def test_all_failed_run_says_why(kinds: Kinds) -> None:
    page = kinds.text("all-failed")
    assert "<h2>incomplete: no answer</h2>" in page
    assert "incomplete" in page
    assert "exception: ValueError: no 0" in page
    tasks = data_of(page)["tasks"]
    assert all("ValueError: no" in task[18][0][3] for task in tasks), "tracebacks are told"


def test_damaged_run_names_the_record_and_doubts_the_answer(kinds: Kinds) -> None:
    page = kinds.text("damaged")
    assert "record 20" in page
    assert "do not rely on it" in page
    assert "head according to the checkpoint" in page
    assert data_of(page)["broken"] == 20


def test_resumed_run_leaves_the_pause_out(kinds: Kinds, tmp_path: Path) -> None:
    run = copy_of(kinds.runs["interrupted"], tmp_path / "run")
    before = gather(run, heads()).details.work
    weft.run(weave.naps(40), out=run, workers=2, accept=["copy"])
    after = gather(run, heads()).details.work
    assert before is not None
    assert after is not None
    assert after.paused_s > 0
    assert after.wall_s is not None
    assert after.started_at is not None
    assert after.ended_at is not None
    assert after.wall_s == pytest.approx(after.ended_at - after.started_at - after.paused_s)


def test_lost_worker_is_on_the_timeline_and_in_the_life(tmp_path: Path) -> None:
    weft.run(weave.shaken(str(tmp_path)), out=tmp_path / "run", workers=2)
    page = page_of(tmp_path / "run")
    data = data_of(page)
    assert any(track[1] for track in data["tracks"]), "the loss is marked"
    (lost_task,) = [task for task in data["tasks"] if task[2] == 0]
    assert [t[1] for t in lost_task[18]] == ["requeued"]
    assert 'data-kind="requeued"' in page


@pytest.mark.parametrize("gone", ["manifest.sqlite", "ledger.jsonl", "checkpoint"])
def test_run_with_a_missing_file_still_gets_a_report(
    kinds: Kinds, tmp_path: Path, gone: str
) -> None:
    run = copy_of(kinds.runs["finished"], tmp_path / "run")
    (run / gone).unlink()
    page = page_of(run)
    assert "weave:naps" in page
    assert badge_of(page) in ("damaged", "finished, verified", "interrupted", "rolled back")


@pytest.mark.parametrize("name", ["manifest.sqlite", "ledger.jsonl", "checkpoint"])
@pytest.mark.parametrize("data", [b"", b"nonsense\n" * 900, b"\xff\x00" * 4000])
def test_run_with_a_broken_file_still_gets_a_report(
    kinds: Kinds, tmp_path: Path, name: str, data: bytes
) -> None:
    run = copy_of(kinds.runs["finished"], tmp_path / "run")
    (run / name).chmod(0o644)
    (run / name).write_bytes(data)
    assert badge_of(page_of(run)) in ("damaged", "interrupted", "rolled back")


def test_report_is_written_into_the_run_and_changes_nothing_else(
    kinds: Kinds, tmp_path: Path
) -> None:
    run = copy_of(kinds.runs["finished"], tmp_path / "run")
    before = contents(run)
    assert write_report(run, heads()) == run / "report.html"
    first = (run / "report.html").read_bytes()
    write_report(run, heads())
    after = contents(run)
    assert after.pop("report.html")[1] == first, "the same run gives the same page"
    assert after == before
    assert read_checkpoint(run)


def test_folder_that_is_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunFolderInvalid):
        write_report(tmp_path, heads())
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "run.toml").write_text("nonsense")
    with pytest.raises(FileInvalid):
        write_report(tmp_path, heads())


def test_copied_run_without_modes_or_heads_is_shown(kinds: Kinds, tmp_path: Path) -> None:
    run = tmp_path / "plain"
    shutil.copytree(kinds.runs["finished"], run, copy_function=shutil.copyfile)
    RunFolder(run).ledger.chmod(0o644)
    assert badge_of(page_of(run)) == "finished, verified"

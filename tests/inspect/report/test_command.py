"""`weft report`: where it writes, what it prints, what it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.inspect.report.conftest import Kinds
from tests.inspect.runs import contents, copy_of
from tests.support.smallfs import make_read_only, small_file_system
from weft.main import main

pytestmark = pytest.mark.xdist_group("report")


def report(*words: str | Path) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["report", *map(str, words)])
    return int(ended.value.code or 0)


@pytest.fixture
def run(kinds: Kinds, tmp_path: Path) -> Path:
    return copy_of(kinds.runs["finished"], tmp_path / "run")


def test_report_goes_into_the_run_and_its_path_is_printed(
    run: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report(run) == 0
    assert capsys.readouterr().out == f"{run / 'report.html'}\n"
    assert (run / "report.html").read_text("utf-8").startswith("<!doctype html>")


def test_report_json_names_file_and_size(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "elsewhere.html"
    assert report(run, "--out", out, "--json") == 0
    output = json.loads(capsys.readouterr().out)
    assert output == {"report": str(out), "size_bytes": out.stat().st_size}
    assert not (run / "report.html").exists()


def test_report_of_a_damaged_run_is_written(kinds: Kinds, tmp_path: Path) -> None:
    assert report(kinds.runs["damaged"], "--out", tmp_path / "r.html") == 0
    assert "damaged" in (tmp_path / "r.html").read_text("utf-8")


@pytest.mark.parametrize("out", ["run/ledger.jsonl", "run/logs", "run", "no/such/folder/r.html"])
def test_report_refuses_a_place_that_is_not_for_it(
    run: Path, tmp_path: Path, out: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = contents(run)
    assert report(run, "--out", tmp_path / out) == 3
    output = capsys.readouterr()
    assert output.out == ""
    assert output.err.count("\n") == 1
    assert contents(run) == before


def test_report_of_a_run_on_a_read_only_disk_asks_for_another_place(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with small_file_system(tmp_path / "disk", "size=20m") as disk:
        run = copy_of(run, disk / "run")
        make_read_only(disk)
        assert report(run) == 3
        assert "report.html cannot be written: Read-only file system; choose another --out" in (
            capsys.readouterr().err
        )
        assert report(run, "--out", tmp_path / "r.html") == 0


def test_report_refuses_what_is_no_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert report(tmp_path) == 3
    assert "is not a run folder" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []

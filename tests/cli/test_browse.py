"""`weft list` and `weft export`, as typed by a person."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

import weft
from tests.inspect.runs import copy_of
from tests.support.commands import run_here
from tests.support.modules import ModuleFolder

SEARCH = """
@weft.task
def work(x: int):
    if x == 2:
        raise ValueError("no")
    return {"text": f"a,\\n\\"{x}\\"", "flag": x == 1}

@weft.search(version=1)
def rows(n: int = 3):
    yield [work(x) for x in range(n)]
    return "x" * 100

@weft.search(version=1)
def unsure():
    yield []
    return weft.Unknown("ambiguous")
"""


@pytest.fixture(scope="module")
def runs(tmp_path_factory) -> Path:
    """Three runs, one in a separate folder, each a second younger than the previous one."""
    base = tmp_path_factory.mktemp("browse")
    modules = ModuleFolder(base / "code")
    module = modules.write(SEARCH)
    weft.run(module.rows(), out=base / "runs" / "first")
    weft.run(module.unsure(), out=base / "runs" / "deep" / "second")
    weft.run(module.rows(n=2), out=base / "runs" / "third")
    modules.close()
    return base / "runs"


def test_list_shows_newest_first_with_answers_in_short(capsys, runs: Path) -> None:
    result = run_here(capsys, "list", runs)
    assert result.code == 0
    heading, *lines = result.out.splitlines()
    assert heading.split() == [
        "NAME", "SEARCH", "STATE", "STARTED", "DURATION", "TASKS", "ANSWER", "TAGS",
    ]  # fmt: skip
    assert [line.split()[0] for line in lines] == ["third", "deep/second", "first"]
    assert "3 (1 failed)" in lines[2]
    assert "unknown: ambiguous" in lines[1]
    assert all(len(line) < 200 for line in lines)


def test_list_json_has_every_field(capsys, runs: Path) -> None:
    listed = run_here(capsys, "list", runs, "--json").json["runs"]
    first = listed[-1]
    assert (first["name"], first["state"], first["tasks"], first["failed"]) == (
        "first", "finished", 3, 1,
    )  # fmt: skip
    assert first["answer"] == '"' + "x" * 100 + '"'
    assert first["started_at"] > 1e9
    assert first["duration_s"] >= 0


def test_list_has_a_line_for_a_damaged_folder_and_changes_nothing(
    capsys, runs: Path, tmp_path: Path
) -> None:
    copy_of(runs / "first", tmp_path / "runs" / "fine")
    bad = copy_of(runs / "first", tmp_path / "runs" / "bad")
    (bad / "run.toml").write_text("not = [toml")
    unreadable = copy_of(runs / "third", tmp_path / "runs" / "rows")
    (unreadable / "manifest.sqlite").chmod(0o644)
    (unreadable / "manifest.sqlite").write_bytes(b"junk" * 1000)
    before = [(p, p.lstat().st_mtime_ns) for p in sorted(tmp_path.rglob("*"))]
    result = run_here(capsys, "list", tmp_path / "runs", "--json")
    assert result.code == 0
    states = {run["name"]: run["state"] for run in result.json["runs"]}
    assert states == {"fine": "finished", "bad": "damaged", "rows": "damaged"}
    assert "run.toml" in next(r["answer"] for r in result.json["runs"] if r["name"] == "bad")
    assert before == [(p, p.lstat().st_mtime_ns) for p in sorted(tmp_path.rglob("*"))]


def test_list_of_nothing_and_of_a_missing_folder(capsys, tmp_path: Path) -> None:
    result = run_here(capsys, "list", tmp_path)
    assert (result.code, result.out) == (0, "")
    assert "no runs in" in result.err
    run_here(capsys, "list", tmp_path / "none").check_one_line(3, "does not exist")


def test_export_csv_has_a_row_for_each_result(capsys, runs: Path, tmp_path: Path) -> None:
    result = run_here(capsys, "export", runs / "first", "--csv")
    assert result.code == 0
    rows = list(csv.DictReader(io.StringIO(result.out)))
    assert [row["index"] for row in rows] == ["0", "1", "2"]
    assert rows[1]["value.text"] == 'a,\n"1"'
    assert [row["value.flag"] for row in rows] == ["false", "true", ""]
    assert [row["error"] for row in rows] == ["", "", "exception"]
    out = tmp_path / "rows.csv"
    written = run_here(capsys, "export", runs / "first", "--csv", "--out", out, "--json")
    assert written.json == {"out": str(out), "rows": 3, "size_bytes": out.stat().st_size}
    assert out.read_text("utf-8") == result.out
    assert list(tmp_path.iterdir()) == [out]


@pytest.mark.parametrize("package", ["pyarrow", "polars"])
def test_export_parquet_reads_back_with_types(
    capsys, runs: Path, tmp_path: Path, package: str, monkeypatch
) -> None:
    pytest.importorskip(package)
    polars = pytest.importorskip("polars")
    if package == "polars":
        find_spec = weft.inspect.export.importlib.util.find_spec
        monkeypatch.setattr(
            "importlib.util.find_spec", lambda name: None if name == "pyarrow" else find_spec(name)
        )
    out = tmp_path / "rows.parquet"
    assert run_here(capsys, "export", runs / "first", "--parquet", "--out", out).code == 0
    frame = polars.read_parquet(out)
    assert frame["value.flag"].to_list() == [False, True, None]
    assert frame.schema["arg.x"] == polars.Int64
    assert frame.schema["finished_at"] == polars.Datetime("us", "UTC")


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        ((), 2, "--csv and --parquet"),
        (("--csv", "--parquet"), 2, "--csv and --parquet"),
        (("--parquet",), 2, "needs --out"),
        (("--csv", "--json"), 2, "needs --out"),
        (("--csv", "--out", "."), 3, "is a folder"),
        (("--csv", "--out", "none/rows.csv"), 3, "No such file"),
    ],
)
def test_export_refuses_in_one_line(capsys, runs: Path, words, code: int, text: str) -> None:
    run_here(capsys, "export", runs / "first", *words).check_one_line(code, text)


def test_export_into_the_run_is_refused(capsys, runs: Path) -> None:
    before = sorted((runs / "first").iterdir())
    result = run_here(capsys, "export", runs / "first", "--csv", "--out", runs / "first" / "x.csv")
    result.check_one_line(3, "inside the run")
    assert sorted((runs / "first").iterdir()) == before


@pytest.mark.parametrize(
    "words", [("--retry-failed",), ("--out", "new")], ids=["without out", "without retry-failed"]
)
def test_retry_failed_and_out_go_together(capsys, runs: Path, words) -> None:
    result = run_here(capsys, "resume", runs / "first", *words)
    result.check_one_line(2, "--retry-failed --out NEW")


def test_retry_with_nothing_failed_is_one_line(capsys, runs: Path, tmp_path: Path) -> None:
    out = tmp_path / "new"
    result = run_here(capsys, "resume", runs / "third", "--retry-failed", "--out", out)
    result.check_one_line(3, "nothing to retry")
    assert not out.exists()

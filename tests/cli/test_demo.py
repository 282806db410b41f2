"""The demo: four searches run twice, one run is killed, and the heads match the README."""

from __future__ import annotations

import json
import re
import tempfile
from pathlib import Path

import pytest

from tests.cli.conftest import Weft
from tests.support.commands import Told
from weft.demo import parts as demo
from weft.demo.picture import HEIGHT, WIDTH, paint, target
from weft.inspect.report.view import RunView
from weft.main import _exit_code

README = Path(__file__).resolve().parents[2] / "README.md"
NAMES = [part.name for part in demo.PARTS]
PICTURE = demo.PARTS[0]


def promised() -> list[str]:
    """The lines of the block in the README's section "What you will see"."""
    section = README.read_text("utf-8").split("## What you will see")[1].split("\n## ")[0]
    block = re.search(r"```\n(.*?)```", section, re.DOTALL)
    assert block
    return [line for line in block[1].splitlines() if line]


def promised_heads() -> list[str]:
    """The heads in the README in the order of the parts, two per part."""
    matches = (re.search(r"head \d+ ([0-9a-f]{64})", line) for line in promised())
    return [match[1] for match in matches if match]


def check_ledgers(place: Path) -> None:
    """Both runs of every part left identical bytes."""
    for name in NAMES:
        first, second = (place / name / folder / "ledger.jsonl" for folder in demo.FOLDERS.values())
        assert first.read_bytes() == second.read_bytes(), name


def check_told(told: Told) -> None:
    """The predicted draws are correct, and the output has the puzzle, the kill and the reports."""
    numbers = [line.split()[1:] for line in told.out.splitlines() if "predicted" in line]
    assert [f"  true      {' '.join(f'{int(n):>3}' for n in numbers[0])}"] == [
        line for line in told.out.splitlines() if line.startswith("  true")
    ]
    assert f"new Random({demo.SECRET.seed})" in told.out
    assert "step by step" in told.out
    assert re.search(r"process \d+, is killed \(SIGKILL\) with \d+ records", told.err)
    reports = re.findall(r"^report  (.*)$", told.out, re.MULTILINE)
    assert len(reports) == len(NAMES)


def check_killed(run: Path) -> None:
    """The run used more workers than the two of a single session."""
    tasks = RunView(run, demo.PICTURE).tasks()
    assert len({(task.worker_pid, task.worker_started) for task in tasks}) > 2


def test_demo_prints_what_the_readme_promises(weft: Weft, tmp_path: Path) -> None:
    result = weft("demo", "--out", "d")
    assert result.code == 0, result
    expected = set(promised())
    printed = [line for line in result.out.splitlines() if line in expected]
    assert printed == promised()
    check_told(result)
    check_ledgers(tmp_path / "d")
    for name in NAMES:
        assert (tmp_path / "d" / name / "two-workers" / "report.html").stat().st_size > 10_000
    check_killed(tmp_path / "d" / "picture" / "two-workers")
    assert weft("verify", "d/picture/two-workers").code == 0
    weft("demo", "--out", "d").check_one_line(3, "contains an earlier demo", "--out")


def test_demo_into_a_file_is_refused_before_anything_is_compiled(
    weft: Weft, tmp_path: Path
) -> None:
    (tmp_path / "file").touch()
    weft("demo", "--out", "file").check_one_line(3, "file is not a folder; choose another --out")


def test_demo_json_has_the_heads_and_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The quickest part represents them all: the others are reported in the same way."""
    monkeypatch.setattr(demo, "PARTS", demo.PARTS[:1])
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    assert _exit_code(["demo", "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["equal"] is True
    (part,) = report["parts"]
    assert (part["name"], part["killed"]) == (NAMES[0], True)
    assert part["heads"] == promised_heads()[:2]
    assert all(Path(run["out"]).is_relative_to(tmp_path) for run in part["runs"])


def test_demo_run_over_before_the_kill_has_the_same_head(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(demo, "KILL_AT", 1_000_000)
    messages: list[str] = []
    result = demo.execute(PICTURE, tmp_path, None, messages.append)
    assert (result.killed, result.equal, messages) == (False, True, [])
    assert result.two_workers.head == promised_heads()[0]


def test_demo_out_that_is_a_file_is_refused(weft: Weft, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    weft("demo", "--quiet", "--out", "taken").check_one_line(3, "taken", "--out")
    assert (tmp_path / "taken").read_text() == ""


def test_demo_head_is_that_of_the_search_run_by_name(weft: Weft) -> None:
    result = weft("run", "weft.demo.picture:picture", "--out", "r", "--json")
    assert result.json["head"] == promised_heads()[0]


def test_demo_pictures_are_pixels_of_one_size(weft: Weft) -> None:
    report = weft(
        "run", "weft.demo.picture:picture", "--args", '{"rounds": 2}', "--out", "r", "--json"
    ).json
    for picture in (target(), paint(report["answer"]["strips"])):
        assert len(picture) == HEIGHT
        assert all(len(row) == WIDTH for row in picture)
        assert all(0 <= value <= 255 for row in picture for pixel in row for value in pixel)

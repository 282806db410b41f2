"""`tools/flakiness.py`: every run is counted, and a test that sometimes fails is named."""

from __future__ import annotations

import json
import runpy
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

TOOL = Path(__file__).parents[1] / "tools" / "flakiness.py"
MAKEFILE = f"""
tests:
\t@echo core > $(CORE_LOG)
\t@cp core.xml $(CORE_JUNIT)
\t@{sys.executable} -m pytest -q -p no:cacheprovider -p no:xdist --junitxml=$(JUNIT) test_few.py
"""
CORE = '<testsuite><testcase classname="tests.core" name="test_a"/></testsuite>'
FLAKY = """
from pathlib import Path
def test_every_second_time():
    count = len(Path("count").read_text()) if Path("count").exists() else 0
    Path("count").write_text("x" * (count + 1))
    assert count % 2 == 0
def test_always(): pass
"""


@pytest.fixture
def tool(tmp_path: Path) -> dict[str, Any]:
    for name, text in (("Makefile", MAKEFILE), ("core.xml", CORE), ("test_few.py", FLAKY)):
        (tmp_path / name).write_text(text)
    loaded = runpy.run_path(str(TOOL))
    loaded["main"].__globals__["ROOT"] = tmp_path
    return loaded


def test_test_that_fails_in_the_second_run_is_named_with_its_run(
    tool: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    record = tmp_path / "record.json"
    record.write_text(json.dumps([{"commit": "older", "what": "make tests"}]))
    words = ["--runs", "2", "--loaded", "1", "--load", "1", "--work", str(tmp_path / "work")]
    assert tool["main"]([*words, "--record", str(record)]) == 1
    _, first, second = json.loads(record.read_text())
    assert (first["exit"], first["failed"], first["tests"], first["load"]) == (0, [], 3, 0)
    assert (second["exit"] != 0, second["failed"]) == (True, ["test_few::test_every_second_time"])
    assert second["load"] == 1
    output = capsys.readouterr().out
    assert "test_few::test_every_second_time: failed in 2" in output
    assert output.endswith("1 of 2 runs passed, 1 beside a load\n")
    assert tool["main"]([*words, "--record", str(record)]) == 1
    assert len((tmp_path / "count").read_text()) == 2, "what was run is not run again"


def test_part_of_the_tests_is_run_by_itself(tool: dict[str, Any], tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    words = ["--runs", "1", "--loaded", "0", "--tests", "test_few.py::test_always"]
    words += ["--record", str(record), "--work", str(tmp_path / "work")]
    assert tool["main"](words) == 0
    (run,) = json.loads(record.read_text())
    assert (run["what"], run["tests"], run["failed"]) == ("test_few.py::test_always", 1, [])


def write_reports(checkout: Path, *tests: str) -> None:
    (checkout / "build").mkdir(parents=True)
    for name, text in zip(("junit.xml", "junit-core.xml"), tests, strict=False):
        suite = '<testsuites><testsuite time="{}" timestamp="{}">{}</testsuite>'
        began = f"2026-01-02T03:0{len(name) - 9}:{len(checkout.name):02}+00:00"
        filled = suite.format(60 * len(text), began, text)
        (checkout / "build" / name).write_text(f"{filled}</testsuites>")


def test_runs_of_other_checkouts_are_recorded_once(
    tool: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    passed = '<testcase classname="tests.a" name="test_b"/>'
    failed = '<testcase classname="tests.a" name="test_c"><failure/></testcase>'
    write_reports(tmp_path / "green", passed, passed * 2)
    write_reports(tmp_path / "red", passed, failed)
    write_reports(tmp_path / "stopped", passed)
    record = tmp_path / "record.json"
    words = ["--record", str(record), "--take"]
    assert tool["main"]([*words, str(tmp_path / "green")]) == 0
    assert tool["main"]([*words, *(str(tmp_path / n) for n in ("green", "red", "stopped"))]) == 1
    green, red, cut = json.loads(record.read_text())
    assert (green["tests"], green["failed"], green["exit"], green["load"]) == (3, [], 0, 0)
    assert (green["date"], green["minutes"]) == ("2026-01-02", 2.0 * len(passed))
    assert (red["failed"], red["exit"]) == (["tests.a::test_c"], 1)
    assert (cut["failed"], cut["exit"]) == ([], 1)
    assert tool["main"]([*words, str(tmp_path / "green"), "--loaded", "1"]) == 0
    assert json.loads(record.read_text())[-1]["load"] == 4
    with pytest.raises(SystemExit, match=r"has no build/junit\.xml; next: run `make test` there"):
        tool["main"]([*words, str(tmp_path)])
    assert "run 1: passed, 3 tests, 0 failed" in capsys.readouterr().out


def test_run_read_before_its_last_report_is_recorded_once(
    tool: dict[str, Any], tmp_path: Path
) -> None:
    record, passed = tmp_path / "record.json", '<testcase classname="tests.a" name="test_b"/>'
    loaded = f'<properties><property name="load_average" value="7.3"/></properties>{passed}'
    write_reports(tmp_path / "a", loaded, passed)
    words = ["--record", str(record), "--take", str(tmp_path / "a")]
    whole = (tmp_path / "a/build/junit-core.xml").rename(tmp_path / "later.xml")
    assert tool["main"](words) == 1
    whole.rename(tmp_path / "a/build/junit-core.xml")
    assert tool["main"]([*words, "--loaded", "1", "--load", "8"]) == 0
    (run,) = json.loads(record.read_text())
    assert (run["exit"], run["tests"], run["load"], run["load_average"]) == (0, 2, 8, 7.3)


def test_reports_that_are_not_of_one_run_of_the_commit_are_refused(
    tool: dict[str, Any], tmp_path: Path
) -> None:
    passed = '<testcase classname="tests.a" name="test_b"/>'
    write_reports(tmp_path / "a", passed, passed)
    words = ["--record", str(tmp_path / "record.json"), "--take", str(tmp_path / "a")]
    report = tmp_path / "a/build/junit.xml"
    report.write_text(report.read_text().replace("T03:", "T01:"))
    with pytest.raises(SystemExit, match="has reports of two runs; next: run `make test`"):
        tool["main"](words)
    report.write_text(report.read_text().replace("T01:", "T03:"))
    make_commit(tmp_path / "a")
    with pytest.raises(SystemExit, match="has another commit than its tests; next: run"):
        tool["main"](words)
    assert not (tmp_path / "record.json").exists()


def make_commit(folder: Path) -> None:
    name = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for words in (("init", "-q"), (*name, "commit", "-q", "--allow-empty", "-m", "later")):
        subprocess.run(["git", *words], cwd=folder, check=True)


def test_loaded_runs_are_spread_over_all(tool: dict[str, Any]) -> None:
    assert [tool["is_loaded"](n, 10, 5) for n in range(10)] == [False, True] * 5
    assert not any(tool["is_loaded"](n, 4, 0) for n in range(4))
    assert all(tool["is_loaded"](n, 4, 4) for n in range(4))

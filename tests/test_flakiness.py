"""`tools/flakiness.py`: every run is counted, and a test that fails now and then is named."""

from __future__ import annotations

import json
import runpy
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
    told = capsys.readouterr().out
    assert "test_few::test_every_second_time: failed in 2" in told
    assert told.endswith("1 of 2 runs passed, 1 beside a load\n")
    assert tool["main"]([*words, "--record", str(record)]) == 1
    assert len((tmp_path / "count").read_text()) == 2, "what was run is not run again"


def test_part_of_the_tests_is_run_by_itself(tool: dict[str, Any], tmp_path: Path) -> None:
    record = tmp_path / "record.json"
    words = ["--runs", "1", "--loaded", "0", "--tests", "test_few.py::test_always"]
    words += ["--record", str(record), "--work", str(tmp_path / "work")]
    assert tool["main"](words) == 0
    (run,) = json.loads(record.read_text())
    assert (run["what"], run["tests"], run["failed"]) == ("test_few.py::test_always", 1, [])


def test_loaded_runs_are_spread_over_all(tool: dict[str, Any]) -> None:
    assert [tool["is_loaded"](n, 10, 5) for n in range(10)] == [False, True] * 5
    assert not any(tool["is_loaded"](n, 4, 0) for n in range(4))
    assert all(tool["is_loaded"](n, 4, 4) for n in range(4))

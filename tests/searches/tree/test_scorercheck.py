"""Warnings about scorers: candidate code in their own process, modules that can be shadowed."""

from __future__ import annotations

import pytest

from tests.searches.tree.conftest import CONFIG, SCORE, Wood
from weft.searches.tree.config import CHANNEL, Stage
from weft.searches.tree.scorercheck import PythonCommand, python_command, weaknesses

FILES = ("codec.py", "pkg/model.py", "score.py", "tests/test_it.py", "text.txt")
SOURCES = {
    "score.py": "import json, os\nfrom pathlib import Path",
    "in.py": "import codec",
    "deep.py": "def f():\n    from pkg.model import x",
    "loads.py": "import runpy",
    "asks.py": "__import__(name)",
}
IN_PROCESS, SHADOWED = "in its own process", "without -I"
CASES = {
    ("{python}", "-I", "score.py"): (),
    ("{python}", "-P", "score.py"): (),
    ("{python}", "-BI", "score.py"): (),
    ("{python}", "score.py"): (SHADOWED,),
    ("/usr/bin/python3.11", "-B", "./score.py"): (SHADOWED,),
    ("{python}", "{work_dir}/score.py"): (),
    ("{python}", "-I", "{work_dir}/in.py"): ("imports codec of the candidate",),
    ("{python}", "-I", "{work_dir}/deep.py"): ("imports pkg of the candidate",),
    ("{python}", "-I", "{work_dir}/loads.py"): ("uses runpy",),
    ("{python}", "-I", "{work_dir}/asks.py"): ("uses importlib",),
    ("{python}", "-I", "{harness}", "{work_dir}/in.py"): ("imports codec of the candidate",),
    ("{python}", "-m", "pytest", "tests"): (IN_PROCESS, SHADOWED),
    ("{python}", "-I", "-m", "unittest"): (IN_PROCESS,),
    ("{python}", "-c", "print(1)"): (SHADOWED,),
    ("pytest", "-q"): (IN_PROCESS,),
    ("/opt/bin/pytest",): (IN_PROCESS,),
    ("./score.sh",): (),
    ("/bin/sh", "-c", "python3 score.py"): (SHADOWED,),
    ("/bin/sh", "-c", "python3 -I score.py && ls pytest.ini"): (),
    ("/bin/sh", "-c", "cd x; pytest -q | tail -1"): (IN_PROCESS,),
}


def read(name: str) -> str:
    return SOURCES[name.removeprefix("{work_dir}/").removeprefix("./")]


@pytest.mark.parametrize("argv", CASES)
def test_words_and_source_of_a_scorer_tell_its_weaknesses(argv: tuple[str, ...]) -> None:
    problems = weaknesses(Stage(argv), FILES, read)
    assert len(problems) == len(CASES[argv]), problems
    for problem, expected in zip(problems, CASES[argv], strict=True):
        assert expected in problem


def test_evaluators_of_other_tools_execute_the_candidate_themselves() -> None:
    argv = ("{python}", "{openevolve}", "evaluator.py", "program.py")
    [problem] = weaknesses(Stage(argv, format="openevolve"), FILES, read)
    assert "an evaluator of openevolve executes candidate code in its own process" in problem
    assert weaknesses(Stage(("evo",), env=CHANNEL, format="evo"), FILES, read) == []


def test_command_line_of_python_is_read_as_python_reads_it() -> None:
    argv = ["{python}", "-X", "dev", "-W", "error", "-uIm", "pytest"]
    assert python_command(argv) == PythonCommand("pytest", is_isolated=True)
    argv = ["{python}", "--check-hash-based-pycs", "-P", "x.py"]
    assert python_command(argv) == PythonCommand("", "x.py", is_isolated=True)
    assert python_command(["python3", "-mpytest"]) == PythonCommand("pytest")
    assert python_command(["pythonic", "x"]) is None


IMPORTING = "import sys\nsys.path.insert(0, '.')\nimport work\n" + SCORE


def test_run_and_validation_warn_and_why_and_report_say_what_is_open(wood: Wood) -> None:
    config = CONFIG.replace('"-I", ', "")
    wood.plant(config, IMPORTING)
    wood.write("start/work.py", "x = 1\n")
    checked = wood.weft("tree", "run", "tree.toml", "--validate-only")
    assert checked.code == 0, checked
    assert "warning result      [score]: its result comes from a file or stdout" in checked.out
    assert "warning scorer      [score]: score.py imports work of the candidate" in checked.out
    assert "warning scorer      [score]: score.py without -I looks for modules" in checked.out
    result = wood.run_with_warnings("r")
    assert result.code == 0, result
    assert "warning: [score]: score.py imports work of the candidate" in result.err
    notes = wood.weft("tree", "why", "r", "e1").out, wood.weft("status", "r").out
    summary = (wood.folder / "r" / "TREE_SUMMARY.md").read_text("utf-8")
    report = (wood.folder / "r" / "VALIDATION_REPORT.md").read_text("utf-8")
    for text in (*notes, summary):
        assert "[score]: its result comes from a file or stdout" in text
        assert "not protected" in text
    assert "imports work of the candidate" in report


def test_sound_scorer_gives_no_warning(wood: Wood) -> None:
    wood.plant()
    result = wood.run_with_warnings("r")
    assert "warning" not in result.err
    checked = wood.weft("tree", "run", "tree.toml", "--validate-only")
    assert "ok      result      [score]: its result comes from a file or stdout" in checked.out

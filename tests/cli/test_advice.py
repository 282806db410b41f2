"""The next command that a message advises really works."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Weft

RAISES = """\
import weft

@weft.task
def square(x):
    return x * x

@weft.search(version=1)
def climb(width):
    first = yield [square(x) for x in range(width)]
    total = sum(r.value for r in first)
    {line}
    second = yield [square(total)]
    return second[0].value
"""
WRONG = {
    "search": "total = total + None",
    "stream": "yield 3",
    "answer": "return {1: 2}",
    "until": "yield weft.round([square(7)], until=lambda r: 1 / 0)",
    "make": "yield weft.lazy(3, lambda i: 1 / 0)",
}
FIXED = {WRONG["until"]: "yield weft.round([square(7)], until=lambda r: False)"}
"""Tasks yielded before the mistake may already be recorded, so they are yielded again."""


def advised(err: str) -> list[str]:
    """The words of the command at the end of a message."""
    [line] = err.splitlines()
    command = re.search(r"then: weft (.*?) \(in Python: (.*)\)$", line)
    assert command is not None, line
    words = shlex.split(command[1])
    assert command[2] == ('accept=["code"]' if "--accept" in words else "the same call")
    return words


@pytest.mark.parametrize("line", WRONG.values(), ids=WRONG)
def test_search_that_raises_goes_on_as_it_advises_once_it_is_fixed(
    weft: Weft, tmp_path: Path, line: str
) -> None:
    (tmp_path / "climb.py").write_text(RAISES.format(line=line))
    ended = weft("run", "climb:climb", "--args", '{"width": 3}', "--out", "a run")
    assert ended.code == 3, ended
    (tmp_path / "climb.py").write_text(RAISES.format(line=FIXED.get(line, "pass")))
    words = advised(ended.err)
    second = weft(*words, "--json")
    assert second.code == 0, second
    tasks = 4 + (line in FIXED)
    assert (second.json["answer"], second.json["tasks"]["completed"]) == (25, tasks)
    events = weft("status", "a run", "--events", "--json").json["events"]
    kind = "code-accepted" if "--accept" in words else "code-changed"  # no result was committed
    assert [e["detail"] for e in events if e["kind"] == kind] == ["climb"]
    assert weft("verify", "a run").code == 0


def test_search_that_raises_before_any_task_goes_on_with_the_fixed_code_as_it_is(
    weft: Weft, tmp_path: Path
) -> None:
    """The old code produced nothing, so there is nothing to accept."""
    words = ("run", "climb:climb", "--args", '{"width": 3}', "--out", "a run")
    source = RAISES.format(line="pass")
    early = source.replace("    first =", "    width + None\n    first =")
    (tmp_path / "climb.py").write_text(early)
    ended = weft(*words)
    assert ended.code == 3, ended
    assert ended.err.endswith("then: weft resume 'a run' (in Python: the same call)\n")
    (tmp_path / "climb.py").write_text(source)
    second = weft(*words, "--json")
    assert (second.code, second.json["answer"]) == (0, 25), second
    events = weft("status", "a run", "--events", "--json").json["events"]
    assert [e["detail"] for e in events if e["kind"] == "code-changed"] == ["climb"]
    assert weft("verify", "a run").code == 0


def test_search_that_raises_in_python_goes_on_with_what_it_advises(tmp_path: Path) -> None:
    source = RAISES.format(line=WRONG["search"])
    main = (
        "if __name__ == '__main__':\n    print(weft.run(climb(3), out='r', accept=ACCEPT).answer)"
    )
    script = f"{source}\n{main}\n"
    argv = [sys.executable, "lab_climb.py"]
    (tmp_path / "lab_climb.py").write_text(script.replace("ACCEPT", "()"))
    first = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    advised(first.stderr.splitlines()[-1])
    fixed = script.replace(WRONG["search"], "pass").replace("ACCEPT", '["code"]')
    (tmp_path / "lab_climb.py").write_text(fixed)
    second = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert json.loads(second.stdout) == 25, second.stderr


def test_search_that_raises_when_it_is_replayed_gives_no_advice_about_a_temporary_folder(
    weft: Weft, tmp_path: Path
) -> None:
    (tmp_path / "climb.py").write_text(RAISES.format(line="pass"))
    assert weft("run", "climb:climb", "--args", '{"width": 3}', "--out", "r").code == 0
    (tmp_path / "climb.py").write_text(RAISES.format(line=WRONG["search"]))
    ended = weft("replay", "r")
    assert ended.code == 3
    assert "resume" not in ended.err
    assert "climb.py:11" in ended.err

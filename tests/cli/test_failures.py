"""Failures are shown at once, and a run whose tasks mostly failed does not exit with success."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Weft
from tests.support.commands import COMMAND

SEARCHES = """\
import time
from pathlib import Path
import weft

@weft.task
def check(x, wait=""):
    if x < 0:
        raise ValueError(f"no root of {x}\\nfor now")
    while wait and not Path(wait).exists():
        time.sleep(0.005)
    return x

@weft.search(version=1)
def scores(values):
    results = yield [check(x) for x in values]
    return [r.value for r in results if r.ok]

@weft.search(version=1, failures_expected=True)
def tries(values):
    results = yield [check(x) for x in values]
    return [r.value for r in results if r.ok]

@weft.search(version=1)
def unsure(values):
    yield [check(x) for x in values]
    return weft.Unknown("ambiguous")

@weft.search(version=1)
def waits(file):
    yield [check(-1), check(1, file)]
    return 1

@weft.search(version=1)
def shell():
    yield [weft.command(["sh", "-c", "echo no table >&2; exit 3"], timeout_s=60)]
    return 1

if __name__ == "__main__":
    import sys
    done = weft.run(scores([-1, -2, 3]), out=sys.argv[1], quiet="quiet" in sys.argv)
    print(done.exit_code, done.answer)
"""
FIRST = re.compile(r"^weft: scores:check #\d failed: (ValueError: .*); weft (explain .*)$")


@pytest.fixture(autouse=True)
def scores(tmp_path: Path) -> None:
    (tmp_path / "scores.py").write_text(SEARCHES)


def test_first_failure_is_shown_while_the_run_goes_on(weft: Weft, tmp_path: Path) -> None:
    words = ["run", "scores:waits", "--args", json.dumps({"file": str(tmp_path / "go")})]
    argv = [*COMMAND, *words, "--out", "a run", "--workers", "2"]
    pipe = subprocess.PIPE
    with subprocess.Popen(argv, cwd=tmp_path, stdout=pipe, stderr=pipe, text=True) as process:
        assert process.stderr is not None
        line = process.stderr.readline()  # the second task waits for this test
        match = FIRST.match(line)
        assert match is not None, line
        assert match[1] == "ValueError: no root of -1"
        explained = weft(*shlex.split(match[2]))
        (tmp_path / "go").touch()
        out, err = process.communicate()
    assert (process.returncode, err) == (0, ""), out
    assert "ValueError: no root of -1" in explained.out


def run(weft: Weft, search: str, values: list[int], out: str, *more: str):
    args = json.dumps({"values": values})
    return weft("run", f"scores:{search}", "--args", args, "--out", out, "--json", *more)


@pytest.mark.parametrize(
    ("search", "values", "code"),
    [
        ("scores", [-1, -2, 3], 4),
        ("scores", [-1, 3], 0),  # exactly half is not more than half
        ("scores", [], 0),
        ("tries", [-1, -2, 3], 0),
        ("unsure", [-1, -2, 3], 4),
        ("unsure", [-1, 3], 1),
    ],
)
def test_exit_code_comes_from_the_ledger_also_when_asked_again(
    weft: Weft, tmp_path: Path, search: str, values: list[int], code: int
) -> None:
    result = run(weft, search, values, "r")
    warning = f"{sum(x < 0 for x in values)} of {len(values)} tasks failed"
    warned = code == 4
    assert (result.code, warning in result.err) == (code, warned), result
    (tmp_path / "r" / "manifest.sqlite").unlink()
    for repeated in (run(weft, search, values, "r"), weft("resume", "r", "--json")):
        assert (repeated.code, warning in repeated.err) == (code, warned), repeated
        assert repeated.json == result.json
        assert len(repeated.err.splitlines()) == int(warned)
    assert weft("verify", "r").code == 0


def test_warning_names_a_command_that_explains_the_first_failure(weft: Weft) -> None:
    result = run(weft, "scores", [3, -5, -2], "a run")
    [_, warning] = result.err.splitlines()
    command = re.search(r"exit code is 4; weft (.*?) \(@weft", warning)
    assert command is not None, warning
    assert "no root of -5" in weft(*shlex.split(command[1])).out


def test_quiet_shows_nothing_and_keeps_the_exit_code(weft: Weft) -> None:
    result = run(weft, "scores", [-1, -2, 3], "r", "-q")
    assert (result.code, result.err) == (4, "")
    resumed = weft("resume", "r", "-q")
    assert (resumed.code, resumed.err) == (4, "")


def test_failed_command_is_shown_by_the_last_line_it_printed(weft: Weft) -> None:
    result = weft("run", "scores:shell", "--out", "r")
    assert result.code == 4
    assert result.err.startswith(
        "weft: weft.command #0 failed: exit code 3: no table; weft explain"
    )
    lines = weft("explain", "r", ":0:0").out.splitlines()
    assert lines[-1] == "log     no table"
    [used] = [line for line in lines if line.startswith("note    wall_s = ")]
    assert len(used.rpartition(" ")[2]) < 12, used


@pytest.mark.parametrize("quiet", ["", "quiet"])
def test_python_shows_the_same_lines_and_gives_the_exit_code(tmp_path: Path, quiet: str) -> None:
    argv = [sys.executable, "scores.py", "r", quiet]
    result = subprocess.run(argv, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert result.stdout == "4 [3]\n"
    lines = result.stderr.splitlines()
    if quiet:
        assert lines == []
        return
    assert FIRST.match(lines[0])
    assert lines[1].startswith("weft: 2 of 3 tasks failed, so the exit code is 4; weft explain r ")


def test_declaring_failures_as_expected_is_part_of_the_run(weft: Weft, tmp_path: Path) -> None:
    run(weft, "scores", [1], "r")
    genesis = json.loads((tmp_path / "r" / "ledger.jsonl").read_text().splitlines()[0])["body"]
    assert "failures_expected" not in genesis["config"]
    source = SEARCHES.replace(
        "version=1)\ndef scores", "version=1, failures_expected=True)\ndef scores"
    )
    (tmp_path / "scores.py").write_text(source)
    second = run(weft, "scores", [1], "r")
    second.check_one_line(3, "config.failures_expected", "nothing there, true here")

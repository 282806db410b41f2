"""What a type checker reports for a user's file: every wrong call, and no right one."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
_EXPECTED = re.compile(r"  # E: (.*)$")


@pytest.fixture(scope="module")
def reported() -> dict[tuple[str, int], str]:
    """The errors of `mypy --strict` by file and line; its cache is that of `make test`."""
    files = [str(HERE.relative_to(ROOT) / name) for name in ("wrong_calls.py", "right_calls.py")]
    words = [sys.executable, "-m", "mypy", "--strict", "--hide-error-context", *files]
    result = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    errors: dict[tuple[str, int], str] = {}
    for line in result.stdout.splitlines():
        if match := re.match(r"(.*?):(\d+): error: (.*)", line):
            place = (Path(match[1]).name, int(match[2]))
            errors[place] = f"{errors.get(place, '')} {match[3]}"
    assert errors, result.stdout + result.stderr
    return errors


def test_every_wrong_call_is_reported_for_its_reason(reported: dict[tuple[str, int], str]) -> None:
    lines = (HERE / "wrong_calls.py").read_text().splitlines()
    expected = {n: m[1] for n, line in enumerate(lines, 1) if (m := _EXPECTED.search(line))}
    assert len(expected) >= 18
    for number, reason in expected.items():
        message = reported.get(("wrong_calls.py", number), "nothing")
        assert reason in message, f"line {number}: {lines[number - 1]}: mypy says {message}"
    others = {place for place in reported if place[1] not in expected}
    assert {place for place in others if place[0] == "wrong_calls.py"} == set()


def test_right_calls_are_not_reported(reported: dict[tuple[str, int], str]) -> None:
    assert {place: why for place, why in reported.items() if place[0] != "wrong_calls.py"} == {}

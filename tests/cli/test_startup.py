"""What a person waits for first: help and import are quick and load nothing heavy."""

from __future__ import annotations

import subprocess
import sys
from time import perf_counter

import pytest

HEAVY = (
    "cryptography", "filelock", "jinja2", "psutil", "pydantic", "rich", "sqlite3", "starlette",
    "uvicorn", "weft.wiring",
)  # fmt: skip
LIMIT_S = 0.3


@pytest.mark.parametrize(
    "code",
    ["import weft", "import weft.cli.main", "import weft.cli.main as m; m._exit_code(['--help'])"],
)
def test_start_loads_nothing_heavy(code: str) -> None:
    report = (
        f"{code}\nimport sys\nprint([n for n in {HEAVY!r} if n in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", report], capture_output=True, text=True)
    assert done.stderr.strip() == "[]", done


@pytest.mark.parametrize(
    "words", [["-m", "weft.cli.main", "--help"], ["-c", "import weft"]], ids=["help", "import"]
)
def test_start_is_quick(words: list[str]) -> None:
    taken_s = []
    for _ in range(10):
        start_s = perf_counter()
        subprocess.run([sys.executable, *words], capture_output=True, check=True)
        taken_s.append(perf_counter() - start_s)
    assert min(taken_s) < LIMIT_S, taken_s

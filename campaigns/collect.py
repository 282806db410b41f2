"""List the cases: tests marked `slow`, those that a row names, and the planted bugs.

Which tests there are is asked of pytest.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from campaigns.bugs import BUGS, CONTROL, PREFIX
from campaigns.rows import ROWS, parts_of, row_of

ROOT = Path(__file__).resolve().parents[1]
NUMBERED = [row.name for row in ROWS]


@dataclass(frozen=True, slots=True)
class Case:
    """One test, or one part of it, or a planted bug."""

    row: str
    test: str
    part: int
    parts: int

    def __str__(self) -> str:
        return f"{self.row} {self.part}/{self.parts} {self.test}"

    def to_dict(self) -> dict[str, str | int]:
        """As an argument of the search."""
        return asdict(self)


class CollectError(Exception):
    """pytest could not list the tests."""


def collect(root: Path = ROOT) -> list[Case]:
    """List every case of every row, by row, test and part."""
    names = {test for test, slow in list_tests(root) if slow or row_of(test) in NUMBERED}
    names |= {bug.case for bug in BUGS} | {PREFIX + CONTROL}
    tests = sorted(names, key=lambda test: (order_of(row_of(test)), test))
    return [
        Case(row_of(test), test, part + 1, parts_of(test))
        for test in tests
        for part in range(parts_of(test))
    ]


def order_of(row: str) -> tuple[int, str]:
    """Rows in the order of the table, areas after them."""
    return (NUMBERED.index(row) if row in NUMBERED else len(NUMBERED), row)


def list_tests(root: Path) -> list[tuple[str, bool]]:
    """The tests that pytest finds, and whether each is slow.

    Files that cannot be collected here, for want of a package, are named and left out.
    """
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder, "tests.json")
        argv = [sys.executable, "-m", "pytest", "--chaos", "--collect-only", "-q"]
        done = subprocess.run(
            [*argv, "-p", "campaigns.listing"], check=False, cwd=root, capture_output=True,
            text=True, env={**os.environ, "WEFT_LISTED": str(listed), "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        if not listed.exists():
            raise CollectError(f"pytest cannot list the tests:\n{done.stdout[-2000:]}{done.stderr}")
        for line in done.stdout.splitlines():
            if line.startswith("ERROR "):
                print(f"not collected: {line.removeprefix('ERROR ')}", file=sys.stderr)
        return [(test, slow) for test, slow in json.loads(listed.read_text("utf-8"))]

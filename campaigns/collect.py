"""List the cases: tests marked `slow`, tests named by a row, and planted bugs.

The tests are collected by pytest.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from campaigns.bugs import BUGS, CONTROL, PREFIX
from campaigns.rows import ROWS, case_name, parts_of, row_of

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
        """Return the case as an argument of the search."""
        return asdict(self)


class CollectError(Exception):
    """pytest could not list the tests."""


def collect(rows: Sequence[str] = (), root: Path = ROOT) -> list[Case]:
    """Return every case, or those of some rows, ordered by row, test and part."""
    tests = list_tests(root, files_of(rows))
    names = {case_name(test) for test, slow in tests if slow or row_of(test) in NUMBERED}
    cases = [*cases_of(names), *planted_cases()]
    cases.sort(key=lambda case: (order_of(case.row), case.test, case.part))
    return [case for case in cases if not rows or case.row in rows]


def planted_cases() -> list[Case]:
    """Return the cases with planted bugs and their control, without calling pytest."""
    return cases_of([*(bug.case for bug in BUGS), PREFIX + CONTROL])


def cases_of(names: Iterable[str]) -> list[Case]:
    """Return every part of some tests as cases."""
    return [
        Case(row_of(name), name, part + 1, parts_of(name))
        for name in names
        for part in range(parts_of(name))
    ]


def files_of(rows: Sequence[str]) -> list[str]:
    """Return the files with the tests of some rows; empty if they may be in any file."""
    known = [row for row in ROWS if row.name in rows]
    if len(known) < len(rows):
        return []
    names = {name for row in known for name in (*row.tests, *row.planted)}
    return sorted({name.partition("::")[0] for name in names})


def order_of(row: str) -> tuple[int, str]:
    """Return a sort key: rows in the order of the table, then areas by name."""
    return (NUMBERED.index(row) if row in NUMBERED else len(NUMBERED), row)


def list_tests(root: Path, files: Sequence[str] = ()) -> list[tuple[str, bool]]:
    """Return the tests that pytest finds, and whether each is slow.

    Files that cannot be collected here, such as for lack of a package, are reported and left out.
    """
    with tempfile.TemporaryDirectory() as folder:
        listed = Path(folder, "tests.json")
        argv = [sys.executable, "-m", "pytest", "--chaos", "--collect-only", "-q", *files]
        result = subprocess.run(
            [*argv, "-p", "campaigns.listing"], check=False, cwd=root, capture_output=True,
            text=True, env={**os.environ, "WEFT_LISTED": str(listed), "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
        if not listed.exists():
            raise CollectError(
                f"pytest cannot list the tests:\n{result.stdout[-2000:]}{result.stderr}"
            )
        for line in result.stdout.splitlines():
            if line.startswith("ERROR "):
                print(f"not collected: {line.removeprefix('ERROR ')}", file=sys.stderr)
        return [(test, slow) for test, slow in json.loads(listed.read_text("utf-8"))]

"""Measure which tests reach which line, and how long each takes, per test file; store the results.

A measurement is valid while the test file is unchanged. Lines are stored by unit of the source:
those of a changed unit count as reached by all tests that reached any of it. If a source file is
new, test files that reached changed units are measured again: only through such a unit can they
reach it.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from campaigns.mutation.mutant import Mutant
from campaigns.mutation.tracing import core_files
from campaigns.mutation.units import Unit, unit_at, units_of

TESTS = ("model/*", "ledger/*", "storage/*", "coordinator/*", "testing/*", "worker/*", "runs/*",
         "test_api.py")  # fmt: skip
"""Tests, below tests/, with which `make test` measures coverage of the core, and the simulator."""
STARTING = ("tests/worker/", "tests/runs/", "tests/test_api.py")
"""Prefixes of tests that start processes; these run last."""
KILLERS_FIRST = 6
AT_IMPORT = -1
OPTIONS = ("-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-o", "timeout=120",
           "-o", "tmp_path_retention_policy=none", "-p", "campaigns.mutation.plugin",
           "--continue-on-collection-errors")  # fmt: skip
Part = dict[str, Any]
"""The measurement of one test file: names, seconds, failures, and by source file and unit the
numbers of the tests that reach each line, counted from the first of the unit."""


@dataclass(slots=True)
class Reach:
    """The times and failures of tests without a mutant, and the lines that they reach."""

    seconds: dict[str, float] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    lines: dict[str, dict[int, set[str]]] = field(default_factory=dict)
    imported: dict[str, set[int]] = field(default_factory=dict)
    """Lines that also run when a file is imported or its tests are collected."""
    measured: set[tuple[str, str]] = field(default_factory=set)
    """Source file and name of every unit that a test reached."""
    killers: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, part: Part, units: dict[str, list[Unit]]) -> None:
        """Add the measurement of one test file, mapped to the current units."""
        names = part["tests"]
        self.seconds |= dict(zip(names, part["seconds"], strict=True))
        self.failed |= set(part["failed"])
        for path, measured in part["lines"].items():
            self.measured |= {(path, key.rpartition("@")[0]) for key in measured}
            for unit in units.get(path, ()):
                self._add_unit(path, unit, measured, names)

    def _add_unit(self, path: str, unit: Unit, measured: Part, names: list[str]) -> None:
        by_line = self.lines.setdefault(path, {})
        if same := measured.get(f"{unit.name}@{unit.digest}"):
            for offset, numbers in same.items():
                line = unit.first + int(offset)
                by_line.setdefault(line, set()).update(names[n] for n in numbers if n != AT_IMPORT)
                if AT_IMPORT in numbers:
                    self.imported.setdefault(path, set()).add(line)
            return
        changed = [measured[key] for key in measured if key.rpartition("@")[0] == unit.name]
        numbers = {n for offsets in changed for tests in offsets.values() for n in tests}
        for line in range(unit.first, unit.last + 1):
            by_line.setdefault(line, set()).update(names[n] for n in numbers if n != AT_IMPORT)

    def in_process(self, mutant: Mutant) -> bool:
        """Whether the mutant can run in a fork that has imported everything."""
        span = range(mutant.first, mutant.last + 1)
        return mutant.inside and self.imported.get(mutant.path, set()).isdisjoint(span)

    def tests_of(self, mutant: Mutant) -> list[str]:
        """Return the tests that reach a mutant: those that kill most first, then the fastest."""
        names = (self._reaching(mutant) | self._own(mutant)) - self.failed
        order = sorted(names, key=lambda n: (n.startswith(STARTING), self.seconds[n], n))
        killers = self.killers.get(mutant.path, Counter())
        best = sorted((name for name in order if killers[name]), key=lambda n: -killers[n])
        return list(dict.fromkeys([*best[:KILLERS_FIRST], *order]))

    def _reaching(self, mutant: Mutant) -> set[str]:
        """Return the tests that run its lines, or its file if it takes effect at import."""
        by_line = self.lines.get(mutant.path, {})
        is_known = (mutant.path, mutant.unit.name) in self.measured
        span = range(mutant.first, mutant.last + 1)
        chosen = span if self.in_process(mutant) and is_known else by_line
        return set().union(*(by_line.get(line, set()) for line in chosen))

    def _own(self, mutant: Mutant) -> set[str]:
        """Return the module's own tests for module-level code: reading a constant runs no line."""
        if mutant.inside:
            return set()
        place = Path(mutant.path)
        own = f"tests/{place.parent.name}/test_{place.stem}.py::"
        names = {name for name in self.seconds if name.startswith(own)}
        if names or self._reaching(mutant):
            return names
        files = [f for f in self.lines if Path(f).parent == place.parent]
        return set().union(*(tests for f in files for tests in self.lines[f].values()))

    def note_killer(self, path: str, test: str) -> None:
        """Record a test that noticed a mutant of a file: it is run first on others of that file."""
        self.killers.setdefault(path, Counter())[test] += 1


def measure(python: Path, root: Path, folder: Path, jobs: int, kept: Path) -> Reach:
    """Return the reach of the core's tests below `root`, measuring changed test files again."""
    parts: dict[str, Part] = json.loads(kept.read_text("utf-8")) if kept.exists() else {}
    digests = {file: text_digest((root / file).read_bytes()) for file in test_files(root)}
    units = {path: units_of(text) for path, text in sources_of(root).items()}
    stale = outdated(parts, units)
    changed = [f for f, digest in digests.items()
               if f in stale or parts.get(f, {}).get("digest") != digest]  # fmt: skip
    with ThreadPoolExecutor(jobs) as pool:
        measured = pool.map(lambda file: _measure_file(python, root, folder, file), changed)
        for file, part in zip(changed, measured, strict=True):
            parts[file] = {**part, "digest": digests[file], "lines": by_unit(part, units)}
            kept.write_text(json.dumps(parts), "utf-8")
    parts = {file: parts[file] for file in digests if parts[file]["tests"]}
    reach = Reach()
    for part in parts.values():
        reach.add(part, units)
    return reach


def outdated(parts: dict[str, Part], units: dict[str, list[Unit]]) -> set[str]:
    """Return the test files that may reach a source file added since they were measured.

    Empty if there is no such source file.
    """
    known = {path for part in parts.values() for path in part["lines"]}
    if known.issuperset(path for path in units if units[path]):
        return set()
    now = {path: {f"{unit.name}@{unit.digest}" for unit in units[path]} for path in units}
    return {
        file
        for file, part in parts.items()
        if any(set(measured) - now.get(path, set()) for path, measured in part["lines"].items())
    }


def by_unit(part: Part, units: dict[str, list[Unit]]) -> Part:
    """Return the lines of a measurement by unit, counted from the first line of the unit."""
    lines: Part = {}
    for path, by_line in part["lines"].items():
        for line, numbers in by_line.items():
            unit = unit_at(units[path], int(line))
            offset = str(int(line) - unit.first)
            lines.setdefault(path, {}).setdefault(f"{unit.name}@{unit.digest}", {})[offset] = (
                numbers
            )
    return lines


def test_files(root: Path) -> list[str]:
    """Return the test files of the core."""
    paths = [path for name in TESTS for path in sorted((root / "tests").glob(name))]
    return [str(p.relative_to(root)) for p in paths if p.name.startswith("test_")]


def _measure_file(python: Path, root: Path, folder: Path, file: str) -> Part:
    """Run one test file under coverage; return an empty part if it cannot be collected."""
    name = file.replace("/", "-")
    out = folder / f"{name}.json"
    words = [*OPTIONS, f"--basetemp={folder / name}.tmp", file]
    environment = {**clean_environment(python), "WEFT_MUTATION": f"reach:{out}",
                   "COVERAGE_CORE": "ctrace"}  # fmt: skip
    result = subprocess.run(
        [python, "-m", "pytest", *words], check=False, cwd=root, env=environment,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    part: Part = json.loads(out.read_text("utf-8")) if out.exists() else {"tests": []}
    if not part["tests"]:
        print(f"not collected: {file}: {result.stdout[-300:]}")
        return {"tests": [], "seconds": [], "failed": [], "lines": {}}
    return part


def clean_environment(python: Path) -> dict[str, str]:
    """Return the environment of tests in a copy: its interpreter first, no Python settings."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "WEFT_"))}
    environment["PATH"] = os.pathsep.join((str(python.parent), environment.get("PATH", "")))
    return environment


def text_digest(content: bytes) -> str:
    """Return an id of a file's contents."""
    return hashlib.sha256(content).hexdigest()[:16]


def sources_of(root: Path, only: Sequence[str] = ()) -> dict[str, str]:
    """Return the text of every mutated file, or of those whose path contains one of `only`."""
    files = {str(path.relative_to(root)): path.read_text("utf-8") for path in core_files(root)}
    return {p: text for p, text in files.items() if not only or any(word in p for word in only)}

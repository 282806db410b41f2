"""Which tests reach which line, and how long each takes: measured once, kept until code changes."""

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

from campaigns.mutation.operators import Mutant
from campaigns.mutation.plugin import core_files

TESTS = ("model/*", "ledger/*", "storage/*", "coordinator/*", "testing/*", "worker/*", "runs/*",
         "test_api.py")  # fmt: skip
"""Below tests/: what `make test` measures the coverage of the core with, and the simulator."""
STARTING = ("tests/worker/", "tests/runs/", "tests/test_api.py")
"""Tests that start processes; they come last."""
KILLERS_FIRST = 6
AT_IMPORT = -1
OPTIONS = ("-q", "-p", "no:xdist", "-p", "no:cacheprovider", "-o", "timeout=120",
           "-o", "tmp_path_retention_policy=none", "-p", "campaigns.mutation.plugin",
           "--continue-on-collection-errors")  # fmt: skip


@dataclass(slots=True)
class Reach:
    """The tests that pass without a mutant, what they take, and the lines that they reach."""

    seconds: dict[str, float] = field(default_factory=dict)
    failed: set[str] = field(default_factory=set)
    lines: dict[str, dict[int, set[str]]] = field(default_factory=dict)
    imported: dict[str, set[int]] = field(default_factory=dict)
    """Lines that also run when a file is imported or its tests are collected."""
    killers: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, part: dict[str, Any]) -> None:
        """Take over what one process has measured."""
        names = part["tests"]
        self.seconds |= dict(zip(names, part["seconds"], strict=True))
        self.failed |= set(part["failed"])
        for path, lines in part["lines"].items():
            by_line = self.lines.setdefault(path, {})
            for line, numbers in lines.items():
                tests = {names[number] for number in numbers if number != AT_IMPORT}
                by_line.setdefault(int(line), set()).update(tests)
                if AT_IMPORT in numbers:
                    self.imported.setdefault(path, set()).add(int(line))

    def in_process(self, mutant: Mutant) -> bool:
        """Whether a fork that has imported everything can run the mutant."""
        span = range(mutant.first, mutant.last + 1)
        return mutant.inside and self.imported.get(mutant.path, set()).isdisjoint(span)

    def tests_of(self, mutant: Mutant) -> list[str]:
        """The tests that reach a mutant, those that will tell soonest first."""
        by_line = self.lines.get(mutant.path, {})
        span = range(mutant.first, mutant.last + 1) if self.in_process(mutant) else by_line
        names = set().union(*(by_line.get(line, set()) for line in span))
        if not mutant.inside:  # a test that only reads a constant reaches no line
            place = Path(mutant.path)
            own = f"tests/{place.parent.name}/test_{place.stem}.py::"
            names |= {name for name in self.seconds if name.startswith(own)}
        if not names and not mutant.inside:  # a file of constants: its package uses them
            files = [f for f in self.lines if Path(f).parent == Path(mutant.path).parent]
            names = set().union(*(tests for f in files for tests in self.lines[f].values()))
        names -= self.failed
        order = sorted(names, key=lambda n: (n.startswith(STARTING), self.seconds[n], n))
        killers = self.killers.get(mutant.path, Counter())
        best = sorted((name for name in order if killers[name]), key=lambda n: -killers[n])
        return list(dict.fromkeys([*best[:KILLERS_FIRST], *order]))

    def note_killer(self, path: str, test: str) -> None:
        """Remember which test noticed a mutant of a file: others of that file meet it first."""
        self.killers.setdefault(path, Counter())[test] += 1


def measure(python: Path, root: Path, folder: Path, jobs: int) -> Reach:
    """Run the tests of the core below `root`, file by file, and note what they reach."""
    files = test_files(root)
    with ThreadPoolExecutor(jobs) as pool:
        parts = pool.map(lambda file: _measure_file(python, root, folder, file), files)
        reach = Reach()
        for part in parts:
            reach.add(part)
    return reach


def test_files(root: Path) -> list[str]:
    """The files with the tests of the core."""
    paths = [path for name in TESTS for path in sorted((root / "tests").glob(name))]
    return [str(p.relative_to(root)) for p in paths if p.name.startswith("test_")]


def _measure_file(python: Path, root: Path, folder: Path, file: str) -> dict[str, Any]:
    """Run one file of tests under coverage; nothing where it cannot be collected."""
    name = file.replace("/", "-")
    out = folder / f"{name}.json"
    words = [*OPTIONS, f"--basetemp={folder / name}.tmp", file]
    environment = {**clean_environment(python), "WEFT_MUTATION": f"reach:{out}",
                   "COVERAGE_CORE": "ctrace"}  # fmt: skip
    done = subprocess.run([python, "-m", "pytest", *words], check=False, cwd=root, env=environment,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)  # fmt: skip
    part: dict[str, Any] = json.loads(out.read_text("utf-8")) if out.exists() else {"tests": []}
    if not part["tests"]:
        print(f"not collected: {file}: {done.stdout[-300:]}")
        return {"tests": [], "seconds": [], "failed": [], "lines": {}}
    return part


def clean_environment(python: Path) -> dict[str, str]:
    """The environment of tests in a copy: its own interpreter first, no settings of Python."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHON", "WEFT_"))}
    environment["PATH"] = os.pathsep.join((str(python.parent), environment.get("PATH", "")))
    return environment


def digest_of(root: Path) -> str:
    """A digest over all code that a measurement depends on."""
    digest = hashlib.sha256()
    for top in ("src", "tests"):
        for path in sorted((root / top).rglob("*.py")):
            digest.update(f"{path.relative_to(root)}\n".encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def save(reach: Reach, path: Path, digest: str) -> None:
    """Keep a measurement, with the digest of the code that it is about."""
    names = sorted(reach.seconds)
    numbers = {name: number for number, name in enumerate(names)}
    lines = {
        file: {
            line: [*sorted(numbers[t] for t in tests),
                   *([AT_IMPORT] if line in reach.imported.get(file, ()) else [])]
            for line, tests in by_line.items()
        }
        for file, by_line in reach.lines.items()
    }  # fmt: skip
    part = {"tests": names, "seconds": [reach.seconds[name] for name in names],
            "failed": sorted(reach.failed), "lines": lines}  # fmt: skip
    path.write_text(json.dumps({"digest": digest, **part}), "utf-8")


def load(path: Path, digest: str) -> Reach | None:
    """A measurement of the same code, if there is one."""
    if not path.exists():
        return None
    part = json.loads(path.read_text("utf-8"))
    if part["digest"] != digest:
        return None
    reach = Reach()
    reach.add(part)
    return reach


def sources_of(root: Path, only: Sequence[str] = ()) -> dict[str, str]:
    """The text of every file that is mutated, or of those whose path contains one of `only`."""
    files = {str(path.relative_to(root)): path.read_text("utf-8") for path in core_files(root)}
    return {p: text for p, text in files.items() if not only or any(word in p for word in only)}

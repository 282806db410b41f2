"""Measure how strong the tests of the core are: change its code, see whether a test notices.

    python tools/mutation.py [--sample N] [--json FILE]

mutmut makes the changes ([tool.mutmut] in pyproject.toml) and runs for each the tests that reach
it. What it has tried is kept in mutants/ and not tried again. A sample takes the N changes of each
package whose names have the smallest SHA-256, so that it is the same every time. The figures go
into docs/benchmarks/mutation.json, for the page of faults. Ends with 1 below the aim.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
AIM_PERCENT = 90
SURVIVED, NOT_TESTED = 0, 33
"""mutmut's exit codes for a change that no test noticed and for one that no test reaches."""
NOTHING = "no-such-change*"
FIGURES = ROOT / "docs" / "benchmarks" / "mutation.json"


def main() -> int:
    """Try the changes and print the score; return the exit code."""
    parser = argparse.ArgumentParser(description="Mutation score of the core's tests.")
    parser.add_argument("--sample", type=int, metavar="N", help="try so many of each package")
    parser.add_argument("--json", type=Path, default=FIGURES, help="where the figures go")
    asked, start_s = parser.parse_args(), time.monotonic()
    chosen: list[str] = []
    if asked.sample is not None:
        mutmut(NOTHING)  # makes the changes, tries none
        chosen = sample(list(codes()), asked.sample)
    mutmut(*chosen)
    every = codes()
    found = {name: code for name, code in every.items() if code is not None}
    if asked.sample is not None:
        found = {name: code for name, code in found.items() if name in chosen}
    print(table(found))
    how = "all changes" if asked.sample is None else f"{asked.sample} changes of each package"
    minutes = round((time.monotonic() - start_s) / 60, 1)
    asked.json.write_text(figures(found, len(every), how, minutes), "utf-8")
    return 0 if found and score(found) >= AIM_PERCENT else 1


def mutmut(*names: str) -> None:
    """Run mutmut on the named changes, or on all; how it went is read from its files."""
    command = [sys.executable, "-m", "mutmut", "run", "--max-children", str(os.cpu_count() or 1)]
    subprocess.run([*command, *names], cwd=ROOT, check=False)


def codes() -> dict[str, int | None]:
    """Every change by name with how its tests ended; None where they have not run."""
    found: dict[str, int | None] = {}
    for path in sorted((ROOT / "mutants" / "src").rglob("*.meta")):
        found |= json.loads(path.read_text("utf-8"))["exit_code_by_key"]
    return found


def sample(names: list[str], size: int) -> list[str]:
    """Of each package the names with the smallest hashes."""
    ordered = sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())
    packages = sorted({package_of(name) for name in names})
    return [n for p in packages for n in [n for n in ordered if package_of(n) == p][:size]]


def package_of(name: str) -> str:
    """The package of a change."""
    return name.split(".")[1]


def figures(found: Mapping[str, int | None], changes: int, how: str, minutes: float) -> str:
    """What the page of faults shows, as JSON."""
    missed = sorted(name for name, code in found.items() if code in (SURVIVED, NOT_TESTED))
    git = ["git", "rev-parse", "--short=12", "HEAD"]
    commit = subprocess.run(git, cwd=ROOT, check=False, capture_output=True, text=True).stdout
    body = {
        "how": how, "changes": changes, "tried": len(found), "noticed": len(found) - len(missed),
        "missed": missed, "minutes": minutes, "commit": commit.strip(),
        "date": time.strftime("%Y-%m-%d", time.gmtime()),
    }  # fmt: skip
    return json.dumps(body, indent=1) + "\n"


def score(found: Mapping[str, int | None]) -> float:
    """The percentage of changes that a test noticed."""
    missed = sum(code in (SURVIVED, NOT_TESTED) for code in found.values())
    return 100 * (len(found) - missed) / len(found)


def table(found: Mapping[str, int | None]) -> str:
    """The score of each package, and what was not noticed."""
    packages = sorted({package_of(name) for name in found})
    lines = [f"{'package':<14}{'changes':>9}{'noticed':>9}"]
    for package in (*packages, "all"):
        own = {n: c for n, c in found.items() if package in (package_of(n), "all")}
        lines.append(f"{package:<14}{len(own):>9}{score(own):>8.1f}%")
    missed = [name for name, code in found.items() if code in (SURVIVED, NOT_TESTED)]
    return "\n".join([*(f"not noticed: {name}" for name in missed), *lines])


if __name__ == "__main__":
    sys.exit(main())

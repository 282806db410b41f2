"""Measure how strong the tests of the core are: change its code, see whether a test notices.

    python tools/mutation.py [--sample N]

mutmut makes the changes ([tool.mutmut] in pyproject.toml) and runs for each the tests that reach
it. What it has tried is kept in mutants/ and not tried again. A sample takes the N changes whose
names have the smallest SHA-256, so that it is the same every time. Ends with 1 below the aim.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
AIM_PERCENT = 90
SURVIVED, NOT_TESTED = 0, 33
"""mutmut's exit codes for a change that no test noticed and for one that no test reaches."""
NOTHING = "no-such-change*"


def main() -> int:
    """Try the changes and print the score; return the exit code."""
    parser = argparse.ArgumentParser(description="Mutation score of the core's tests.")
    parser.add_argument("--sample", type=int, metavar="N", help="try only so many changes")
    asked = parser.parse_args().sample
    chosen: list[str] = []
    if asked is not None:
        mutmut(NOTHING)  # makes the changes, tries none
        chosen = sample(list(codes()), asked)
    mutmut(*chosen)
    found = {name: code for name, code in codes().items() if code is not None}
    if asked is not None:
        found = {name: code for name, code in found.items() if name in chosen}
    print(table(found))
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
    """The names with the smallest hashes."""
    return sorted(names, key=lambda name: hashlib.sha256(name.encode()).digest())[:size]


def score(found: Mapping[str, int | None]) -> float:
    """The percentage of changes that a test noticed."""
    missed = sum(code in (SURVIVED, NOT_TESTED) for code in found.values())
    return 100 * (len(found) - missed) / len(found)


def table(found: Mapping[str, int | None]) -> str:
    """The score of each package, and what was not noticed."""
    packages = sorted({name.split(".")[1] for name in found})
    lines = [f"{'package':<14}{'changes':>9}{'noticed':>9}"]
    for package in (*packages, "all"):
        own = {n: c for n, c in found.items() if package in (n.split(".")[1], "all")}
        lines.append(f"{package:<14}{len(own):>9}{score(own):>8.1f}%")
    missed = [name for name, code in found.items() if code in (SURVIVED, NOT_TESTED)]
    return "\n".join([*(f"not noticed: {name}" for name in missed), *lines])


if __name__ == "__main__":
    sys.exit(main())

"""Run the tests of `make test` again and again, and record which of them failed in which run.

    python tools/flakiness.py                               10 runs, every second beside a load of 4
    python tools/flakiness.py --runs 4 --loaded 0           four runs, none beside a load
    python tools/flakiness.py --core tests/ledger --others tests/cells      a part of the tests

Each run is `make tests`; a load is so many processes that do nothing but count. What was run is
kept in build/flakiness.json, and the same command goes on after the last run of the same commit.
Ends with 1 when a test failed in any run.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "build" / "flakiness.json"
COUNT = "while True: pass"
Run = dict[str, Any]


def main(argv: Sequence[str]) -> int:
    """Run what is left of the runs asked for; print which tests failed; return the exit code."""
    asked = parsed(argv)
    what = {"commit": commit(), "core": asked.core, "others": asked.others}
    runs = earlier(asked.record, what)
    for number in range(len(runs), asked.runs):
        load = asked.load if is_loaded(number, asked.runs, asked.loaded) else 0
        runs.append(run_tests(number, load, asked.core, asked.others, asked.record.parent))
        asked.record.write_text(json.dumps({**what, "runs": runs}, indent=1) + "\n", "utf-8")
        print(line_of(number, runs[-1]), flush=True)
    print(summary(runs))
    return int(any(run["exit"] or run["failed"] for run in runs))


def parsed(argv: Sequence[str]) -> argparse.Namespace:
    """Read the options."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("flakiness.py", description=__doc__, formatter_class=plain)
    add = parser.add_argument
    add("--runs", type=int, default=10, help="runs in all")
    add("--loaded", type=int, default=5, help="how many of them beside a load")
    add("--load", type=int, default=4, help="processes of the load")
    add("--core", default="", metavar="TESTS", help="tests to run under coverage; all of the core")
    add("--others", default="", metavar="TESTS", help="tests to run beside them; all others")
    add("--record", type=Path, default=RECORD, help="where the runs are kept")
    return parser.parse_args(argv)


def is_loaded(number: int, runs: int, loaded: int) -> bool:
    """Spread the loaded runs evenly over all: the last of each stretch."""
    return (number + 1) * loaded // runs > number * loaded // runs


def run_tests(number: int, load: int, core: str, others: str, folder: Path) -> Run:
    """Run `make tests` once; return how it ended."""
    folder.mkdir(parents=True, exist_ok=True)
    reports = [folder / f"flakiness-{number}{part}.xml" for part in ("", "-core")]
    words = ["make", "tests", f"JUNIT={reports[0]}", f"CORE_JUNIT={reports[1]}",
             f"CORE_LOG={folder}/flakiness-core.log"]  # fmt: skip
    words += [f"{name}={text}" for name, text in (("CORE_TESTS", core), ("OTHER_TESTS", others))
              if text]  # fmt: skip
    start_s = time.monotonic()
    with loaded_by(load), (folder / f"flakiness-{number}.log").open("wb") as log:
        done = subprocess.run(words, cwd=ROOT, check=False, stdout=log, stderr=log)
    tests, failed = outcome([path for path in reports if path.exists()])
    minutes = round((time.monotonic() - start_s) / 60, 2)
    return {"load": load, "exit": done.returncode, "tests": tests, "failed": failed,
            "minutes": minutes, "reports": sum(path.exists() for path in reports),
            "load_average": round(os.getloadavg()[0], 1)}  # fmt: skip


@contextlib.contextmanager
def loaded_by(count: int) -> Iterator[None]:
    """Within it so many processes keep a core busy each."""
    busy = [subprocess.Popen([sys.executable, "-c", COUNT]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def outcome(reports: Sequence[Path]) -> tuple[int, list[str]]:
    """How many tests ran, and the names of those that failed."""
    cases = [case for path in reports for case in ET.parse(path).getroot().iter("testcase")]
    ends = ("failure", "error")
    failed = [c for c in cases if any(c.find(end) is not None for end in ends)]
    return len(cases), sorted(f"{c.get('classname')}::{c.get('name')}" for c in failed)


def earlier(record: Path, what: dict[str, str]) -> list[Run]:
    """The runs that were kept, if they are of the same commit and tests."""
    if not record.exists():
        return []
    kept = json.loads(record.read_text("utf-8"))
    runs: list[Run] = kept.pop("runs")
    return runs if kept == what else []


def line_of(number: int, run: Run) -> str:
    """One run in one line."""
    ended = "passed" if not run["exit"] else f"exit {run['exit']}"
    return (f"run {number + 1}: {ended}, {run['tests']} tests, {len(run['failed'])} failed, "
            f"{run['minutes']} minutes, load {run['load']}")  # fmt: skip


def summary(runs: Sequence[Run]) -> str:
    """Which tests failed in which runs."""
    failed: dict[str, list[int]] = {}
    for number, run in enumerate(runs):
        for name in run["failed"]:
            failed.setdefault(name, []).append(number + 1)
    lines = [f"{name}: failed in {', '.join(map(str, numbers))}"
             for name, numbers in sorted(failed.items())]  # fmt: skip
    green = sum(not run["exit"] and not run["failed"] for run in runs)
    loaded = sum(bool(run["load"]) for run in runs)
    return "\n".join([*lines, f"{green} of {len(runs)} runs passed, {loaded} beside a load"])


def commit() -> str:
    """The commit under test, marked where files differ from it."""
    git = ["git", "describe", "--always", "--dirty", "--abbrev=12"]
    done = subprocess.run(git, cwd=ROOT, check=False, capture_output=True, text=True)
    return done.stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

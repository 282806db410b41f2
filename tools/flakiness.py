"""Run the tests of `make test` repeatedly, and record which of them failed in which run.

    python tools/flakiness.py                               10 runs, every second beside a load of 4
    python tools/flakiness.py --runs 4 --loaded 0           four runs, none beside a load
    python tools/flakiness.py --tests tests/cells --runs 20 --loaded 20     a part of the tests
    python tools/flakiness.py --take CLONE                  add the run of another checkout

Each run is `make tests`, or pytest on the tests that `--tests` names; a load is that many processes
in a busy loop. Runs are kept in docs/benchmarks/flakiness.json, and the same command continues
after the last run of the same commit. `--take` adds the runs of other checkouts, each once, from
the reports in their build folders; `--loaded 1 --load 8` states that 8 busy processes, such as
those of other runs, ran beside each. `python -m campaigns --from FOLDER` shows them on the page of
faults. The exit code is 1 if a test failed in any run.
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
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

ROOT = Path(__file__).resolve().parents[1]
RECORD = ROOT / "docs" / "benchmarks" / "flakiness.json"
WORK = ROOT / "build" / "flakiness"
WHOLE = "make tests"
LOADED = 5
REPORTS = ("build/junit.xml", "build/junit-core.xml")
"""Where `make test` leaves its reports."""
APART = timedelta(minutes=10)
"""Reports of one run begin within seconds of each other; those of two runs are a run apart."""
COUNT = "while True: pass"
Run = dict[str, Any]


def main(argv: Sequence[str]) -> int:
    """Execute the remaining runs; print which tests failed; return the exit code."""
    args = parsed(argv)
    if args.take:
        return take(args.take, args.load if args.loaded else 0, args.record)
    args.loaded = LOADED if args.loaded is None else args.loaded
    what = {"commit": commit(ROOT), "what": " ".join(args.tests) or WHOLE}
    others, runs = earlier(args.record, what)
    for number in range(len(runs), args.runs):
        load = args.load if is_loaded(number, args.runs, args.loaded) else 0
        runs.append({**what, **run_tests(number, load, args.tests, args.work)})
        args.record.write_text(json.dumps(others + runs, indent=1) + "\n", "utf-8")
        print(line_of(number, runs[-1]), flush=True)
    print(summary(runs))
    return int(any(run["exit"] or run["failed"] for run in runs))


def parsed(argv: Sequence[str]) -> argparse.Namespace:
    """Parse the options."""
    plain = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser("flakiness.py", description=__doc__, formatter_class=plain)
    add = parser.add_argument
    add("--runs", type=int, default=10, help="runs in all")
    add("--loaded", type=int, help=f"how many of them beside a load, {LOADED} without it")
    add("--load", type=int, default=4, help="processes of the load")
    add("--tests", nargs="+", default=[], help="files or names of tests; without it all of them")
    add("--take", nargs="+", type=Path, default=[], metavar="FOLDER",
        help="only record the run of all tests that was made in these checkouts")  # fmt: skip
    add("--record", type=Path, default=RECORD, help="where the runs are kept")
    add("--work", type=Path, default=WORK, help="folder for logs and reports")
    return parser.parse_args(argv)


def take(checkouts: Sequence[Path], load: int, record: Path) -> int:
    """Record the runs of other checkouts; return 1 if a test failed in any of them."""
    known: list[Run] = json.loads(record.read_text("utf-8")) if record.exists() else []
    runs = [run_in(checkout, load) for checkout in checkouts]
    for number, run in enumerate(runs):
        known = [*(other for other in known if not is_same(other, run)), run]
        print(line_of(number, run))
    record.write_text(json.dumps(known, indent=1) + "\n", "utf-8")
    return int(any(run["exit"] for run in runs))


def run_in(checkout: Path, load: int) -> Run:
    """Return the run whose reports are in a checkout; with a report missing, it ended early."""
    reports = [checkout / name for name in REPORTS]
    existing = [path for path in reports if path.exists()]
    if not existing:
        sys.exit(f"{checkout} has no {REPORTS[0]}; next: run `make test` there")
    count, failed = outcome(existing)
    suites = [suite for path in existing for suite in ET.parse(path).getroot().iter("testsuite")]
    began = sorted(suite.get("timestamp", "") for suite in suites)
    refuse_stale(checkout, began)
    minutes = max(float(suite.get("time", 0)) for suite in suites) / 60
    return {"commit": commit(checkout), "what": WHOLE, "date": began[0][:10], "began": began[0],
            "load": load, "exit": int(bool(failed) or len(existing) < len(reports)), "tests": count,
            "failed": failed, "minutes": round(minutes, 2),
            "load_average": load_average(suites)}  # fmt: skip


def is_same(known: Run, run: Run) -> bool:
    """Whether a recorded run is this one, perhaps read before its last report existed."""
    return all(known.get(name) == run[name] for name in ("commit", "began"))


def refuse_stale(checkout: Path, began: Sequence[str]) -> None:
    """Exit if the reports are from two runs, or if the checkout has changed its commit since."""
    first, last = (datetime.fromisoformat(text) for text in (began[0], began[-1]))
    moved = git(checkout, "log", "-g", "-1", "--date=unix", "--format=%gd")
    moved_at = float(moved.removeprefix("HEAD@{").rstrip("}") or 0)
    if last - first > APART:
        sys.exit(f"{checkout} has reports of two runs; next: run `make test` there again")
    if moved_at > first.timestamp():
        sys.exit(f"{checkout} has another commit than its tests; next: run `make test` there again")


def load_average(suites: Sequence[ET.Element]) -> float | None:
    """Return the machine's load at the end of the tests; None for older reports without it."""
    named = [element.get("value") for suite in suites for element in suite.iter("property")
             if element.get("name") == "load_average"]  # fmt: skip
    return max((float(text) for text in named if text), default=None)


def is_loaded(number: int, runs: int, loaded: int) -> bool:
    """Whether a run has a load: loaded runs are spread evenly, each the last of a stretch."""
    return (number + 1) * loaded // runs > number * loaded // runs


def run_tests(number: int, load: int, tests: Sequence[str], folder: Path) -> Run:
    """Run the tests once; return the outcome."""
    folder.mkdir(parents=True, exist_ok=True)
    reports = [folder / f"{number}{part}.xml" for part in ("", "-core")]
    for report in reports:
        report.unlink(missing_ok=True)
    start_s = time.monotonic()
    with loaded_by(load), (folder / f"{number}.log").open("wb") as log:
        words = command(tests, reports, folder)
        result = subprocess.run(words, cwd=ROOT, check=False, stdout=log, stderr=log)
    count, failed = outcome([path for path in reports if path.exists()])
    return {"date": time.strftime("%Y-%m-%d", time.gmtime()), "load": load,
            "exit": result.returncode, "tests": count, "failed": failed,
            "minutes": round((time.monotonic() - start_s) / 60, 2),
            "load_average": round(os.getloadavg()[0], 1)}  # fmt: skip


def command(tests: Sequence[str], reports: Sequence[Path], folder: Path) -> list[str]:
    """Return the command of one run: `make tests`, or pytest in one process."""
    if tests:
        return [sys.executable, "-m", "pytest", "-q", "-p", "no:xdist",
                f"--junitxml={reports[0]}", *tests]  # fmt: skip
    return ["make", "tests", f"JUNIT={reports[0]}", f"CORE_JUNIT={reports[1]}",
            f"CORE_LOG={folder}/core.log"]  # fmt: skip


@contextlib.contextmanager
def loaded_by(count: int) -> Iterator[None]:
    """Keep `count` processes running, each of which keeps a core busy."""
    busy = [subprocess.Popen([sys.executable, "-c", COUNT]) for _ in range(count)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def outcome(reports: Sequence[Path]) -> tuple[int, list[str]]:
    """Return how many tests ran, and the names of those that failed."""
    cases = [case for path in reports for case in ET.parse(path).getroot().iter("testcase")]
    ends = ("failure", "error")
    failed = [c for c in cases if any(c.find(end) is not None for end in ends)]
    return len(cases), sorted(f"{c.get('classname')}::{c.get('name')}" for c in failed)


def earlier(record: Path, what: dict[str, str]) -> tuple[list[Run], list[Run]]:
    """Return the recorded runs: those of other commits or tests, and those of the same."""
    runs: list[Run] = json.loads(record.read_text("utf-8")) if record.exists() else []
    same = [all(run[name] == text for name, text in what.items()) for run in runs]
    return ([run for run, is_same in zip(runs, same, strict=True) if not is_same],
            [run for run, is_same in zip(runs, same, strict=True) if is_same])  # fmt: skip


def line_of(number: int, run: Run) -> str:
    """Return one run as one line."""
    ended = "passed" if not run["exit"] else f"exit {run['exit']}"
    return (f"run {number + 1}: {ended}, {run['tests']} tests, {len(run['failed'])} failed, "
            f"{run['minutes']} minutes, load {run['load']}")  # fmt: skip


def summary(runs: Sequence[Run]) -> str:
    """Return which tests failed in which runs."""
    failed: dict[str, list[int]] = {}
    for number, run in enumerate(runs):
        for name in run["failed"]:
            failed.setdefault(name, []).append(number + 1)
    lines = [f"{name}: failed in {', '.join(map(str, numbers))}"
             for name, numbers in sorted(failed.items())]  # fmt: skip
    green = sum(not run["exit"] and not run["failed"] for run in runs)
    loaded = sum(bool(run["load"]) for run in runs)
    return "\n".join([*lines, f"{green} of {len(runs)} runs passed, {loaded} beside a load"])


def commit(checkout: Path) -> str:
    """Return the commit of a checkout, marked if files other than figures differ from it."""
    words = ("status", "--porcelain", "--untracked-files=no", "--", ":!docs/benchmarks")
    changed = git(checkout, *words)
    return git(checkout, "rev-parse", "--short=12", "HEAD") + ("-dirty" if changed else "")


def git(checkout: Path, *words: str) -> str:
    """Return what git prints in a checkout; empty if it fails."""
    result = subprocess.run(
        ["git", *words], cwd=checkout, check=False, capture_output=True, text=True
    )
    return result.stdout.strip()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

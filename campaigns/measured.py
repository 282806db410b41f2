"""Rows measured elsewhere, without cases: a large run, mutation testing, flakiness.

The figures are read from files beside the page, written by `python -m benchmarks big`,
`python -m campaigns.mutation` and `python tools/flakiness.py`.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

LARGE = "1000000"
MOST_MIB, MOST_VERIFY_S = 300, 60
AIM_PERCENT = 90
WHOLE = "make tests"
"""The name of a run of all tests in the output of `tools/flakiness.py`."""
NAMED = 3
"""Maximum number of failed tests named in a line of the page."""
Run = dict[str, Any]


def measured_rows(folder: Path) -> dict[str, str]:
    """Return the cells of each measured row, from `cases` to `date`."""
    large = folder / "big.json"
    rows = {"F21": _large_run(_read(large), _published(large)),
            "F22": _mutation(_read(folder / "mutation.json"))}  # fmt: skip
    return {name: cells for name, cells in rows.items() if cells}


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8")) if path.exists() else {}


def _published(path: Path) -> str:
    """Return a file's last commit and its date, as two cells; empty if git does not know it."""
    words = ["git", "log", "-1", "--abbrev=12", "--format=%h | %cs", "--", path.name]
    try:
        result = subprocess.run(words, cwd=path.parent, check=True, capture_output=True, text=True)
    except (OSError, subprocess.CalledProcessError):
        return "|"
    return result.stdout.strip() or "|"


def _large_run(sizes: dict[str, Any], when: str) -> str:
    """Return the cells of a run of a million tasks: peak memory, and CPU time of verify."""
    if "verify" not in (commands := sizes.get(LARGE, {}).get("commands", {})):
        return ""
    run, verify = commands["run"], commands["verify"]
    peak_mib = max(cost["peak_mib"] for cost in commands.values())
    violations = (peak_mib > MOST_MIB) + (verify["cpu_s"] > MOST_VERIFY_S)
    tried = f"{int(LARGE):,} tasks, peak {peak_mib:.0f} MiB, verify {verify['cpu_s']:.0f} CPU s"
    minutes = (run["seconds"] + verify["seconds"]) / 60
    return f"[big](big.md) | {tried} | {violations} | {minutes:.1f} | {when}"


def _mutation(sample: dict[str, Any]) -> str:
    """Return the cells of mutation testing: the code changes tried, and the share noticed."""
    if not sample:
        return ""
    noticed = f"{sample['noticed']:,} noticed ({100 * sample['noticed'] / sample['tried']:.1f} %)"
    tried = f"{sample['tried']:,} of {sample['changes']:,} changes, {noticed}"
    violations = 100 * sample["noticed"] < AIM_PERCENT * sample["tried"]
    when = f"{sample['cpu_minutes']:.1f} | {sample['commit']} | {sample['date']}"
    return f"[mutation](mutation.md) | {tried} | {int(violations)} | {when}"


def flakiness_table(folder: Path) -> str:
    """Return a table of repeated test runs, one line per commit and selection of tests."""
    path = folder / "flakiness.json"
    runs: list[Run] = json.loads(path.read_text("utf-8")) if path.exists() else []
    groups: dict[tuple[str, str], list[Run]] = {}
    for run in runs:
        groups.setdefault((run["commit"], run["what"]), []).append(run)
    heads = ("tests", "runs", "beside a load", "passed in a row", "load average", "minutes a run",
             "failed", "commit", "date")  # fmt: skip
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    lines += [_flakiness_line(commit, what, group) for (commit, what), group in groups.items()]
    lines += ["", _whole_runs([run for run in runs if run["what"] == WHOLE])]
    return "\n".join(lines) if groups else ""


def _whole_runs(runs: list[Run]) -> str:
    """Return a sentence with the number of latest full runs that passed, across commits."""
    if not runs:
        return "The whole of `make test` has not been repeated yet."
    last = _passed_last(runs)
    loaded = sum(bool(run["load"]) for run in last)
    return (f"The whole of `make test`: {len(runs)} runs, the last {len(last)} passed in a row, "
            f"{loaded} of those beside a load.")  # fmt: skip


def _passed_last(runs: list[Run]) -> list[Run]:
    """Return the runs after the last failed one, in order of their start."""
    ordered = sorted(runs, key=lambda run: run.get("began", run["date"]))
    passed = [not run["exit"] and not run["failed"] for run in ordered]
    return ordered[len(ordered) - (passed[::-1].index(False) if False in passed else len(passed)) :]


def _flakiness_line(commit: str, what: str, runs: list[Run]) -> str:
    failed = _failures(runs)
    loaded = sum(bool(run["load"]) for run in runs)
    spans = [_span([run[name] for run in runs if run[name] is not None])
             for name in ("load_average", "minutes")]  # fmt: skip
    dates = ", ".join(sorted({run["date"] for run in runs}))
    count = f"{max(run['tests'] for run in runs):,}: {what.replace('tests/', '')}"
    row = len(_passed_last(runs))
    cells = (count, len(runs), loaded, row, *spans, failed or "none", commit, dates)
    return f"| {' | '.join(map(str, cells))} |"


def _failures(runs: list[Run]) -> str:
    """Return the failed tests with counts, or only their number if there are many."""
    names = sorted({name for run in runs for name in run["failed"]})
    early = sum(bool(run["exit"]) and not run["failed"] for run in runs)
    times = [sum(name in run["failed"] for run in runs) for name in names]
    parts = [f"`{name}` ({count})" for name, count in zip(names, times, strict=True)]
    if len(parts) > NAMED:
        parts = [f"{len(parts)} tests, named in `flakiness.json`"]
    return ", ".join([*parts, *([f"{early} ended early"] if early else [])])


def _span(figures: list[float]) -> str:
    if not figures:
        return "not recorded"
    least, most = f"{min(figures):.1f}", f"{max(figures):.1f}"
    return least if least == most else f"{least} to {most}"

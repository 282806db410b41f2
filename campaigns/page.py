"""Write docs/benchmarks/faults.md and faults.json from the runs of a campaign."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import weft
from campaigns.rows import ROWS, is_planted

INTRODUCTION = """\
# Faults

What was done to Weft on purpose, and what it lost by it. `make chaos` tries every row in full;
`make test` tries samples of them. The campaign is a Weft search: its run folder says which points
and seeds were tried, and the same command goes on where it was stopped. Minutes are those of all
cases, one after the other.

A *violation* is a lost or repeated result, another ledger, damage that was not noticed, a process
left behind, or an end without a reason. A test that *plants* a bug passes when its row notices it.
"""
FOUND = """\
## Found and fixed

| row | what was found | noticed now by |
|---|---|---|
| F27 | `weft status` used SQL of which Python 3.12 warns and that 3.14 refuses: every reader \
failed there | `tests/test_purity.py` |
| F27 | one flipped bit in the kind of a round hid its results from every reader, and \
`weft verify` said nothing (2 of 10,000 damages) | `tests/storage/test_manifest.py` |
| F25 | an interpreter with too little memory to raise MemoryError ended as an internal error, \
exit code 70 | `tests/faults/test_exhaustion.py` |
| F1 | on Ray a command that had ended was run again after a kill of the coordinator | \
`tests/ray/test_paid.py` |
"""
"""By hand: what campaigns found since the last release; cases may have failed by it before."""
NOT_COUNTED = ("violations", "seed", "signal", "peak_mb", "workers")
"""Figures that are not a number of things tried."""


@dataclass(slots=True)
class Tally:
    """What a row's cases came to."""

    row: str
    cases: int = 0
    ended: dict[str, int] = field(default_factory=dict)
    tried: dict[str, int] = field(default_factory=dict)
    violations: int = 0
    seconds: float = 0.0
    commits: list[str] = field(default_factory=list)
    dates: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    noticed: list[tuple[str, float]] = field(default_factory=list)
    """Planted bugs that were noticed, each with the seconds that took."""

    def add(self, case: dict[str, Any], value: dict[str, Any], seconds: float) -> None:
        """Count one case."""
        self.cases += 1
        self.seconds += seconds
        self.ended[value["outcome"]] = self.ended.get(value["outcome"], 0) + 1
        planted = is_planted(case["test"])  # what it counts is the bug's doing
        for figures in () if planted else value["figures"]:
            self.violations += int(figures.get("violations", 0))
            for name, count in figures.items():
                if name not in NOT_COUNTED and isinstance(count, int):
                    self.tried[name] = self.tried.get(name, 0) + count
        if value["outcome"] == "passed" and planted:
            self.noticed.append((case["test"], seconds))
        if value["outcome"] != "passed":
            self.violations += value["outcome"] != "skipped" and not value["figures"]
            self.problems.append(f"{case['test']} ({case['part']}/{case['parts']}): "
                                 f"{value['outcome']}")  # fmt: skip


@dataclass(frozen=True, slots=True)
class EndedCase:
    """A case that was tried: what, with which outcome, and when."""

    case: dict[str, Any]
    value: dict[str, Any]
    seconds: float
    commit: str
    finished_at: float

    @property
    def name(self) -> tuple[str, int, int]:
        """What is tried once."""
        return self.case["test"], self.case["part"], self.case["parts"]


def tally(runs: Iterable[weft.Run]) -> dict[str, Tally]:
    """Count the cases of some runs by row; cases that were not tried are not there."""
    ended = sorted((e for run in runs for e in cases_of(run)), key=lambda e: e.finished_at)
    last = {e.name: e for e in ended}
    found: dict[str, Tally] = {}
    for e in sorted(last.values(), key=lambda e: e.name):
        row = found.setdefault(e.case["row"], Tally(e.case["row"]))
        row.add(e.case, e.value, e.seconds)
        day = datetime.datetime.fromtimestamp(e.finished_at, datetime.UTC).date().isoformat()
        row.commits = sorted({*row.commits, e.commit})
        row.dates = sorted({*row.dates, day})
    return found


def cases_of(run: weft.Run) -> Iterator[EndedCase]:
    """Each case of a run that ended."""
    cases, commit = run.args["cases"], run.args["commit"]
    for result in run.results():
        value = result.value if result.ok else broken(str(result.error))
        how = result.how
        yield EndedCase(cases[result.index], value, how.run_s or 0.0, commit, how.finished_at or 0)


def broken(said: str) -> dict[str, Any]:
    """The value of a case that could not be run."""
    return {"outcome": "broken", "figures": [], "said": said}


def table(found: dict[str, Tally]) -> str:
    """The rows as a Markdown table, areas after the numbered ones."""
    faults = {row.name: row.fault for row in ROWS}
    heads = ("row", "fault", "cases", "tried", "violations", "minutes", "commit", "date")
    lines = [f"| {' | '.join(heads)} |", "|---" * len(heads) + "|"]
    for name in [*faults, *sorted(set(found) - set(faults))]:
        row = found.get(name)
        if row is None:
            lines.append(f"| {name} | {faults[name]} | not run | | | | | |")
            continue
        cases = ", ".join(f"{n} {how}" for how, n in sorted(row.ended.items()))
        tried = ", ".join(f"{n:,} {what.replace('_', ' ')}" for what, n in row.tried.items() if n)
        fault = faults.get(name, f"campaigns of {name}")
        minutes = f"{row.seconds / 60:.1f}"
        when = f"{', '.join(row.commits)} | {', '.join(row.dates)}"
        result = f"{cases} | {tried} | {row.violations} | {minutes}"
        lines.append(f"| {name} | {fault} | {result} | {when} |")
    return "\n".join(lines)


def planted_table(found: dict[str, Tally]) -> str:
    """The planted bugs that were noticed."""
    lines = ["| row | planted bug | seconds until noticed |", "|---|---|---|"]
    for name in sorted(found):
        for test, seconds in found[name].noticed:
            bug = test.rpartition("::")[2].removeprefix("test_").replace("_", " ")
            lines.append(f"| {name} | {bug} | {seconds:.0f} |")
    return "\n".join(lines)


def page_of(found: dict[str, Tally], where: str) -> str:
    """The whole page; `where` says commit, date and machine."""
    problems = [problem for row in found.values() for problem in row.problems]
    parts = [INTRODUCTION, where, table(found), "## Planted bugs", planted_table(found)]
    parts.append(FOUND)
    if problems:
        parts += ["## Not passed", "\n".join(f"- `{problem}`" for problem in problems)]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def write_page(folder: Path, runs: Sequence[tuple[weft.Run, str]]) -> Path:
    """Write faults.md and faults.json into a folder, from runs and what they ran on."""
    found = tally(run for run, _ in runs)
    machines = dict.fromkeys(f"- {run.args['commit']}: {text}" for run, text in runs if text)
    where = "\n".join(machines)
    rows = {name: asdict(row) for name, row in sorted(found.items())}
    text = json.dumps({"where": where, "rows": rows}, indent=1, sort_keys=True)
    (folder / "faults.json").write_text(text + "\n", "utf-8")
    (folder / "faults.md").write_text(page_of(found, where), "utf-8")
    return folder / "faults.md"

"""The engine's targets, compared with the measured figures."""

from __future__ import annotations

import operator
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks import big, jobs, loads
from benchmarks.enginerun import Figure
from benchmarks.rivals.table import (
    BY_NAME,
    DBOS,
    DOCUMENTED,
    EXECUTOR,
    HUEY,
    JOBLIB,
    JOURNAL,
    MEMORY,
    SAME_TASKS,
    WEFT,
)

Figures = Mapping[str, Any]
MILLION = "1000000"
COMMANDS = {"resume": "resume", "verify": "verify", "report": "report on",
            "verdict": "live page's verdict on"}  # fmt: skip
"""Commands with a target for a run of a million tasks, and their names in the table."""
JOBLIB_LIMIT = 4
MORE_TASKS = BY_NAME[JOBLIB].tiny // SAME_TASKS
NOTE = f"""\
Times per task are medians, and warm unless a row says otherwise. The target for {JOBLIB} is meant
for the same {SAME_TASKS:,} tasks on both sides. With {MORE_TASKS} × the tasks, joblib's
start-up and its search for a good batch size matter less: that comparison has its own row.
`delayed(f)(x)` is the form used in joblib's documentation, a new `delayed` for each task; the
other rows call `delayed(f)` once."""
JOBS_ROW = "`weft jobs run --workers 2`"


@dataclass(frozen=True, slots=True)
class Target:
    """A figure, its limit, and how to find it among the measurements."""

    name: str
    limit: float
    unit: str
    measured: Callable[[Figures], float | None]
    least: bool = False
    """Whether the limit is a minimum, not a maximum."""

    def row(self, figures: Figures) -> str:
        """Return the table row; a figure without a measurement is marked as such."""
        value, sign = self.measured(figures), "≥" if self.least else "≤"
        limit = f"{sign} {self.limit:g}{self.unit}"
        if value is None:
            return f"| {self.name} | {limit} | not measured | |"
        met = (operator.ge if self.least else operator.le)(value, self.limit)
        return f"| {self.name} | {limit} | {value:.3g}{self.unit} | {'yes' if met else '**no**'} |"


def targets(figures: Figures) -> str:
    """Return the section of targets."""
    rows = [target.row(figures) for target in TARGETS]
    head = ["| figure | target | measured | met |", "|---|---:|---:|---|"]
    return "\n".join(["## Targets", "", NOTE, "", *head, *rows])


@dataclass(frozen=True, slots=True)
class Place:
    """The setting of figures: the number of workers, and which machine."""

    name: str
    workers: int
    cores: int = 16
    """Cores of the machine: many, or the two of the comparison of all engines."""

    def figures(self, figures: Figures) -> Sequence[Figure]:
        """Return the figures measured there with fewer tasks for slower engines."""
        if self.cores > 2:
            measured = figures.get("wide", {}).get(str(self.workers), {})
        else:
            measured = figures.get("compare", {})
        chosen: Sequence[Figure] = measured.get("figures", ())
        return chosen

    def same(self, figures: Figures) -> Sequence[Figure]:
        """Return the figures measured there with the same number of tasks for each engine."""
        measured = figures.get("same", {}).get(f"{self.workers} of {self.cores}", {})
        chosen: Sequence[Figure] = measured.get("figures", ())
        return chosen


ALL_ENGINES = Place("2 workers", 2, cores=2)
FEW, MANY = Place("2 workers of 16 cores", 2), Place("16 workers", 16)


def _turns(figures: Sequence[Figure], engine: str, load: str, start: str = "warm") -> list[float]:
    """Return the seconds per task in each turn."""
    for figure in figures:
        if (figure["engine"], figure["load"], figure["start"]) == (engine, load, start):
            return [seconds / figure["n"] for seconds in figure["seconds"]]
    return []


def _cost_us(place: Place) -> Callable[[Figures], float | None]:
    def measured(figures: Figures) -> float | None:
        turns = _turns(place.figures(figures), WEFT, "tiny")
        return 1e6 * statistics.median(turns) if turns else None

    return measured


def _efficiency(place: Place) -> Callable[[Figures], float | None]:
    def measured(figures: Figures) -> float | None:
        turns = _turns(place.figures(figures), WEFT, "millisecond")
        ideal_s = loads.TASK_S / place.workers
        return 100 * ideal_s / statistics.median(turns) if turns else None

    return measured


def _ratio(place: Place, engine: str, *, faster: bool = False) -> Callable[[Figures], float | None]:
    """Read our cost relative to another engine's, or how many times faster we are."""

    def measured(figures: Figures) -> float | None:
        ratio = _median_ratio(place.figures(figures), engine, "warm")
        return ratio if ratio is None or not faster else 1 / ratio

    return measured


def _same_ratio(place: Place, engine: str, start: str) -> Callable[[Figures], float | None]:
    """Read our cost relative to another engine's, with the same number of tasks for both."""
    return lambda figures: _median_ratio(place.same(figures), engine, start)


def _median_ratio(figures: Sequence[Figure], engine: str, start: str) -> float | None:
    """Return the median ratio of our cost of a tiny task to another's; None if not measured."""
    mine, theirs = (_turns(figures, name, "tiny", start) for name in (WEFT, engine))
    ratios = [a / b for a, b in zip(mine, theirs, strict=False)]
    return statistics.median(ratios) if ratios else None


def _round_ms(figures: Figures) -> float | None:
    part = figures.get("rounds")
    seconds = part["seconds"]["weft"] if part else None
    return None if part is None or seconds is None else 1e3 * seconds / part["rounds"]


def _largest_mib(figures: Figures) -> float | None:
    """Return the peak memory of all commands on a run of the largest size."""
    sizes = figures.get("big", {})
    largest = sizes[max(sizes, key=int)]["commands"] if sizes else {}
    return max((cost["peak_mib"] for cost in largest.values()), default=None)


def _seconds(command: str) -> Callable[[Figures], float | None]:
    def measured(figures: Figures) -> float | None:
        size: Mapping[str, Any] = figures.get("big", {}).get(MILLION, {})
        cost = size.get("commands", {}).get(command)
        return None if cost is None else float(cost["seconds"])

    return measured


def _job_ms(figures: Figures) -> float | None:
    turns = figures.get("jobs", {}).get("costs", {}).get(JOBS_ROW, ())
    return statistics.median([turn["wall_ms"] for turn in turns]) if turns else None


def _targets() -> list[Target]:
    rows = []
    for place in (ALL_ENGINES, FEW, MANY):
        forms = (JOBLIB, DOCUMENTED) if place is ALL_ENGINES else (JOBLIB,)
        rows += [
            Target(f"a tiny task, {place.name}", 15, " µs", _cost_us(place)),
            *(
                Target(f"× the time of {engine}, {start}, {place.name}", JOBLIB_LIMIT, " ×",
                       _same_ratio(place, engine, start))
                for engine in forms for start in ("warm", "cold")
            ),
            Target(f"× the time of {JOBLIB}, {MORE_TASKS} × the tasks, {place.name}", JOBLIB_LIMIT,
                   " ×", _ratio(place, JOBLIB)),
            Target(f"× the time of {EXECUTOR}, {place.name}", 0.15, " ×", _ratio(place, EXECUTOR)),
        ]  # fmt: skip
    for place, limit in ((ALL_ENGINES, 95), (FEW, 95), (MANY, 92)):
        measured = _efficiency(place)
        rows.append(Target(f"1 ms tasks, {place.name}", limit, " %", measured, least=True))
    for engine, limit in ((MEMORY, 8), (HUEY, 20), (JOURNAL, 20), (DBOS, 20)):
        measured = _ratio(ALL_ENGINES, engine, faster=True)
        rows.append(Target(f"faster than {engine}", limit, " ×", measured, least=True))
    rows.append(Target("a round of one tiny task", 0.3, " ms", _round_ms))
    rows += [
        Target(f"{name} a million tasks ([big](big.md))", big.TARGETS_S[command], " s",
               _seconds(command))
        for command, name in COMMANDS.items()
    ]  # fmt: skip
    rows.append(
        Target("memory, 10,000,000 tasks ([big](big.md))", big.TARGET_MIB, " MiB", _largest_mib)
    )
    rows.append(
        Target("a trivial job, 2 workers ([jobs](jobs.md))", jobs.TARGET_MS, " ms", _job_ms)
    )
    return rows


TARGETS = _targets()

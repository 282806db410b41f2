"""What the engine is held to, beside what was measured."""

from __future__ import annotations

import operator
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from benchmarks import big, jobs, loads
from benchmarks.enginerun import Figure
from benchmarks.rivals.table import DBOS, EXECUTOR, HUEY, JOBLIB, JOURNAL, MEMORY, WEFT

Figures = Mapping[str, Any]
MILLION = "1000000"
COMMANDS = {"resume": "resume", "verify": "verify", "report": "report on",
            "verdict": "live page's verdict on"}  # fmt: skip
"""What is asked of a run of a million tasks, by the name of its command."""
JOBS_ROW = "`weft jobs run --workers 2`"


@dataclass(frozen=True, slots=True)
class Target:
    """A figure, its limit, and where it is found."""

    name: str
    limit: float
    unit: str
    measured: Callable[[Figures], float | None]
    least: bool = False
    """The limit is the least that is allowed, not the most."""

    def row(self, figures: Figures) -> str:
        """One line of the table; nothing is claimed of what was not measured."""
        value, sign = self.measured(figures), "≥" if self.least else "≤"
        limit = f"{sign} {self.limit:g}{self.unit}"
        if value is None:
            return f"| {self.name} | {limit} | not measured | |"
        met = (operator.ge if self.least else operator.le)(value, self.limit)
        return f"| {self.name} | {limit} | {value:.3g}{self.unit} | {'yes' if met else '**no**'} |"


def targets(figures: Figures) -> str:
    """Return the section of targets."""
    rows = [target.row(figures) for target in TARGETS]
    head = ["| asked | limit | measured | met |", "|---|---:|---:|---|"]
    note = "Times of tasks are warm, and medians."
    return "\n".join(["## Asked and measured", "", note, "", *head, *rows])


@dataclass(frozen=True, slots=True)
class Place:
    """Where figures stand: with how many workers, beside which other engines."""

    name: str
    workers: int
    is_wide: bool = True
    """On the machine with many cores; else in the run of all engines."""

    def figures(self, figures: Figures) -> Sequence[Figure]:
        """Return what was measured there."""
        if self.is_wide:
            measured = figures.get("wide", {}).get(str(self.workers), {})
        else:
            measured = figures.get("compare", {})
        chosen: Sequence[Figure] = measured.get("figures", ())
        return chosen


ALL_ENGINES = Place("2 workers", 2, is_wide=False)
FEW, MANY = Place("2 workers of 16 cores", 2), Place("16 workers", 16)


def _turns(figures: Figures, place: Place, engine: str, load: str) -> list[float]:
    """Seconds per task in each turn, warm."""
    for figure in place.figures(figures):
        if (figure["engine"], figure["load"], figure["start"]) == (engine, load, "warm"):
            return [seconds / figure["n"] for seconds in figure["seconds"]]
    return []


def _cost_us(place: Place) -> Callable[[Figures], float | None]:
    def measured(figures: Figures) -> float | None:
        turns = _turns(figures, place, WEFT, "tiny")
        return 1e6 * statistics.median(turns) if turns else None

    return measured


def _efficiency(place: Place) -> Callable[[Figures], float | None]:
    def measured(figures: Figures) -> float | None:
        turns = _turns(figures, place, WEFT, "millisecond")
        ideal_s = loads.TASK_S / place.workers
        return 100 * ideal_s / statistics.median(turns) if turns else None

    return measured


def _ratio(place: Place, engine: str, *, faster: bool = False) -> Callable[[Figures], float | None]:
    """Our cost in times of another engine's, or how many times faster we are."""

    def measured(figures: Figures) -> float | None:
        mine, theirs = (_turns(figures, place, name, "tiny") for name in (WEFT, engine))
        ratios = [a / b for a, b in zip(mine, theirs, strict=False)]
        if not ratios:
            return None
        return statistics.median([1 / r for r in ratios] if faster else ratios)

    return measured


def _round_ms(figures: Figures) -> float | None:
    part = figures.get("rounds")
    seconds = part["seconds"]["weft"] if part else None
    return None if part is None or seconds is None else 1e3 * seconds / part["rounds"]


def _largest_mib(figures: Figures) -> float | None:
    """The most memory that any command took on a run of the largest size."""
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
        rows += [
            Target(f"a tiny task, {place.name}", 15, " µs", _cost_us(place)),
            *(
                Target(f"in times of {engine}, {place.name}", limit, " ×", _ratio(place, engine))
                for engine, limit in ((JOBLIB, 4), (EXECUTOR, 0.15))
            ),
        ]
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

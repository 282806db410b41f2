"""Search statistics of a run, from the notes of its tasks: rates, shares, balance.

Everything here comes from the manifest and differs from run to run; it decides nothing.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from weft.inspect.report.text import percent
from weft.inspect.report.view import ViewedTask
from weft.searches.arc.records import SLICE
from weft.searches.arc.score import Cost, cost

MAX_WORKERS_LISTED = 4


@dataclass(frozen=True, slots=True)
class WorkerRate:
    """The speed of one worker process."""

    name: str
    programs: int
    busy_s: float

    @property
    def per_s(self) -> int:
        """Programs per second that the worker was busy."""
        return round(self.programs / self.busy_s) if self.busy_s else 0


@dataclass(frozen=True, slots=True)
class SearchTelemetry:
    """A run's statistics. `slice_balance` is 1 if all slices of each puzzle took equally long."""

    cost: Cost
    workers: tuple[WorkerRate, ...]
    slice_balance: float | None

    @property
    def pruned_shares(self) -> Mapping[str, float]:
        """Share of all search nodes, tried or not, that each rule pruned."""
        pruned = self.cost.pruned
        total = max(1, pruned.total() + self.cost.programs)
        return {rule: count / total for rule, count in sorted(pruned.items())}

    def to_dict(self) -> dict[str, object]:
        """Return the JSON form."""
        balance = self.slice_balance
        return {
            **self.cost.rates(),
            "pruned": dict(sorted(self.cost.pruned.items())),
            "pruned_shares": {rule: round(share, 4) for rule, share in self.pruned_shares.items()},
            "workers": [
                {"worker": w.name, "programs": w.programs, "busy_s": round(w.busy_s, 3),
                 "programs_per_s": w.per_s}
                for w in self.workers
            ],
            "slice_balance": None if balance is None else round(balance, 4),
        }  # fmt: skip

    def lines(self) -> list[str]:
        """Return the lines for the status of a run."""
        if not self.cost.programs:
            return []
        c = self.cost.rates()
        lines = [
            f"{c['programs']:,} programs in {c['cpu_s']:.1f} CPU s:"
            f" {c['programs_per_s']:,} programs/s, {c['states_per_s']:,} states/s",
            *self._worker_lines(),
            f"pruned {percent(c['pruned_share'])} of all nodes{self._by_rule()};"
            f" repeated {percent(c['repeated_share'])} and failed {percent(c['failed_share'])}"
            " of programs",
            f"cache hits {percent(c['cache_hit_share'])}",
        ]
        if self.slice_balance is not None:
            lines[-1] += f"; slices balanced {percent(self.slice_balance)}"
        return lines

    def _worker_lines(self) -> Sequence[str]:
        rates = [f"{w.name} {w.per_s:,}" for w in self.workers[:MAX_WORKERS_LISTED]]
        more = len(self.workers) - len(rates)
        return ["programs/s by worker: " + ", ".join(rates) + (f", {more} more" if more else "")]

    def _by_rule(self) -> str:
        shares = [f"{rule} {percent(share)}" for rule, share in self.pruned_shares.items()]
        return f" ({', '.join(shares)})" if shares else ""


def telemetry(tasks: int, records: Iterable[ViewedTask]) -> SearchTelemetry:
    """Add up what the tasks of a run reported; `tasks` is the number of puzzles."""
    listed = list(records)
    return SearchTelemetry(cost(tasks, listed), _workers(listed), _balance(listed))


def _workers(records: Sequence[ViewedTask]) -> tuple[WorkerRate, ...]:
    programs: dict[str, int] = defaultdict(int)
    busy_s: dict[str, float] = defaultdict(float)
    for task in records:
        if task.worker_pid is not None and "programs" in task.notes:
            name = f"{task.node or 'here'}/{task.worker_pid}"
            programs[name] += task.notes["programs"]
            busy_s[name] += task.run_s or 0.0
    return tuple(WorkerRate(name, programs[name], busy_s[name]) for name in sorted(programs))


def _balance(records: Sequence[ViewedTask]) -> float | None:
    """Return the time of all slices divided by what it would be if each took its lane's longest."""
    lanes: dict[str, list[float]] = defaultdict(list)
    for task in records:
        if task.function == SLICE and task.run_s is not None:
            lanes[task.lane].append(task.run_s)
    longest = sum(len(times) * max(times) for times in lanes.values())
    return sum(map(sum, lanes.values())) / longest if longest else None

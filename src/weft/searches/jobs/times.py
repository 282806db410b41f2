"""How long jobs took together, and how long they would have taken one after the other. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from weft.model.slots import Node
from weft.model.values import Value
from weft.searches.jobs.seen import JobSeen


@dataclass(frozen=True, slots=True)
class Times:
    """Times of a run's finished jobs, in seconds."""

    runtime_s: float
    """From the first start to the last end, without the time in which nobody worked."""
    paused_s: float
    sums: tuple[tuple[str, float], ...]
    """The job times of each node that ran any, added up."""

    @property
    def sequential_s(self) -> float:
        """All jobs one after the other."""
        return sum(seconds for _, seconds in self.sums)

    @property
    def within_s(self) -> float:
        """The jobs of each node one after the other, the nodes side by side."""
        return max(seconds for _, seconds in self.sums)

    def lines(self) -> list[str]:
        """Say it in two lines."""
        digits = 1 if self.sequential_s >= 10 else 2
        terms = [f"{seconds:.{digits}f}" for _, seconds in self.sums]
        total = f"{sum(map(float, terms)):.{digits}f} s"  # of the terms as they are printed
        added = f"{' + '.join(terms)} = {total}" if len(terms) > 1 else total
        pause = f" (resumed; {self.paused_s:.{digits}f} s of pause left out)" * (self.paused_s > 0)
        return [
            f"runtime {self.runtime_s:.{digits}f} s{pause}, sequential would be {added},"
            f" speed-up {self._times(self.sequential_s)}",
            f"one after the other within each node would be {self.within_s:.{digits}f} s,"
            f" speed-up {self._times(self.within_s)}",
        ]

    def to_dict(self) -> dict[str, Value]:
        """JSON form."""
        return {
            "runtime_s": self.runtime_s,
            "paused_s": self.paused_s,
            "node_sums_s": dict(self.sums),
            "sequential_s": self.sequential_s,
            "within_nodes_s": self.within_s,
        }

    def _times(self, other_s: float) -> str:
        return f"{other_s / max(self.runtime_s, 1e-9):.1f} x"


def times_of(jobs: Iterable[JobSeen], nodes: Sequence[Node], paused_s: float) -> Times | None:
    """Measure finished jobs; None when none has finished on a node."""
    spans = [
        (job.node, job.started_at, job.finished_at, job.seconds)
        for job in jobs
        if job.node and job.started_at and job.finished_at and job.seconds is not None
    ]
    if not spans:
        return None
    start, end = min(span[1] for span in spans), max(span[2] for span in spans)
    order = {node.name: number for number, node in enumerate(nodes)}
    names = sorted({span[0] for span in spans}, key=lambda name: (order.get(name, 1 << 30), name))
    sums = [(name, sum(span[3] for span in spans if span[0] == name)) for name in names]
    return Times(max(0.0, end - start - paused_s), paused_s, tuple(sums))


@dataclass(frozen=True, slots=True)
class SlotTime:
    """One slot's work: its jobs by start, and how busy it was from its first to its last."""

    slot: str
    jobs: tuple[JobSeen, ...]
    busy_s: float
    span_s: float

    @property
    def busy_share(self) -> float:
        """Between 0 and 1."""
        return min(1.0, self.busy_s / self.span_s) if self.span_s > 0 else 1.0


def slot_times(jobs: Iterable[JobSeen]) -> list[SlotTime]:
    """Return the work of each slot that ran any job to its end."""
    apart: dict[str, list[JobSeen]] = {}
    for job in jobs:
        if job.slot and job.started_at and job.finished_at:
            apart.setdefault(job.slot, []).append(job)
    return [_slot_time(slot, apart[slot]) for slot in sorted(apart, key=_slot_key)]


def _slot_time(slot: str, jobs: list[JobSeen]) -> SlotTime:
    jobs.sort(key=lambda job: (job.started_at or 0.0, job.job_id))
    start = min(job.started_at or 0.0 for job in jobs)
    end = max(job.finished_at or 0.0 for job in jobs)
    return SlotTime(slot, tuple(jobs), sum(job.run_s or 0.0 for job in jobs), end - start)


def _slot_key(slot: str) -> tuple[str, str, int, str]:
    """By node, then GPUs before CPUs, then by number."""
    node, _, name = slot.rpartition("/")
    kind, index = "0" if name.startswith("gpu") else "1", name[3:]
    return node, kind, int(index) if index.isdigit() else 0, name

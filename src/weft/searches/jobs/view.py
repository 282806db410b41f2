"""Jobs in a run's records: state and result, where each ran, and timing."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from weft.console.nodeplan import NodePlan, spread
from weft.inspect.report.view import RunView, ViewedTask
from weft.model.slots import Node, local_nodes
from weft.model.values import Object, Value


@dataclass(frozen=True, slots=True)
class ViewedJob:
    """One job of a run; fields not yet known are None."""

    job_id: str
    key: str
    status: str
    node: str | None
    slot: str | None
    """Name of its slot, such as `localhost/gpu0`."""
    started_at: float | None
    finished_at: float | None
    run_s: float | None
    attempt: int
    source: str | None = None
    size_bytes: int | None = None
    digest: str | None = None
    error: Mapping[str, Value] | None = None
    target: str = ""
    command_s: float | None = None
    """Duration of the command alone, measured by its supervisor."""

    @property
    def seconds(self) -> float | None:
        """Duration of the job itself; `run_s` also includes the slot's work around it."""
        return self.run_s if self.command_s is None else self.command_s

    def to_dict(self) -> dict[str, Value]:
        """JSON form, with the fields of interest to users."""
        return {
            "job_id": self.job_id, "status": self.status, "slot": self.slot,
            "seconds": self.seconds, "attempts": self.attempt, "source": self.source,
            "bytes": self.size_bytes,
            "object": None if self.digest is None else Object(self.digest),
            "error": None if self.error is None else dict(self.error),
        }  # fmt: skip

    def why(self) -> str:
        """Return the error type and exit code of a failure; empty if it did not fail."""
        if self.error is None:
            return ""
        code = self.error.get("exit_code")
        return str(self.error.get("type")) + ("" if code is None else f" {code}")


def jobs_of(run: RunView) -> list[ViewedJob]:
    """Return every job of a run, in the order of its file."""
    return [_viewed(task) for task in run.tasks()]


def _viewed(task: ViewedTask) -> ViewedJob:
    value, args = task.value or {}, task.args["args"]
    result = value.get("object")
    return ViewedJob(
        args["job_id"], task.key, task.state, None if task.is_reused else task.node,
        _slot(task), task.started_at,
        task.finished_at, task.run_s, task.attempt, value.get("source"), value.get("bytes"),
        None if result is None else result.digest, task.error, args["target"],
        task.notes.get("wall_s"),
    )  # fmt: skip


def _slot(task: ViewedTask) -> str | None:
    """Return the slot's name as noted by the job, or else derived from the worker."""
    if task.node is None or task.is_reused:
        return None
    kind = f"cpu of pid {task.worker_pid}" if task.gpu is None else f"gpu{task.gpu}"
    return str(task.notes.get("slot") or f"{task.node}/{kind}")


def nodes_of(run: RunView) -> tuple[Node, ...]:
    """Return the nodes with which the run was started."""
    table = run.execution()
    nodes = tuple(Node(**raw) for raw in table.get("nodes", ()))
    return nodes or local_nodes(table.get("workers", 1))


def distribution(jobs: Iterable[ViewedJob], nodes: Iterable[Node]) -> list[NodePlan]:
    """Return the number of jobs that ran per node, in the form of a plan."""
    places = [_place(job.slot) for job in jobs if job.slot is not None]
    return spread([place for place in places if place[2] >= 0], tuple(nodes))


def _place(slot: str) -> tuple[str, str, int]:
    """Return a slot's node, kind and number; -1 if its name has no number."""
    node, _, name = slot.rpartition("/")
    return node, name[:3].upper(), int(name[3:]) if name[3:].isdigit() else -1


# -- times --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Times:
    """Times of a run's finished jobs, in seconds."""

    runtime_s: float
    """From the first start to the last end, without pauses between sessions."""
    paused_s: float
    sums: Mapping[str, float]
    """The total job time of each node that ran jobs."""

    @property
    def sequential_s(self) -> float:
        """Time of all jobs one after the other."""
        return sum(self.sums.values())

    @property
    def within_s(self) -> float:
        """Time with the jobs of each node one after the other and the nodes in parallel."""
        return max(self.sums.values())

    def lines(self) -> list[str]:
        """Return the times as two lines of text."""
        digits = 1 if self.sequential_s >= 10 else 2
        terms = [f"{seconds:.{digits}f}" for seconds in self.sums.values()]
        total = f"{sum(map(float, terms)):.{digits}f} s"  # the sum of the terms as printed
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
            "runtime_s": self.runtime_s, "paused_s": self.paused_s,
            "node_sums_s": dict(self.sums), "sequential_s": self.sequential_s,
            "within_nodes_s": self.within_s,
        }  # fmt: skip

    def _times(self, other_s: float) -> str:
        return f"{other_s / max(self.runtime_s, 1e-9):.1f} x"


def times_of(jobs: Iterable[ViewedJob], nodes: Sequence[Node], paused_s: float) -> Times | None:
    """Return the times of finished jobs; None if none has finished on a node."""
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
    sums = {name: sum(span[3] for span in spans if span[0] == name) for name in names}
    return Times(max(0.0, end - start - paused_s), paused_s, sums)


@dataclass(frozen=True, slots=True)
class SlotTime:
    """One slot's jobs by start time, and its utilisation from the first to the last."""

    slot: str
    jobs: tuple[ViewedJob, ...]
    busy_share: float
    """Between 0 and 1."""


def slot_times(jobs: Iterable[ViewedJob]) -> list[SlotTime]:
    """Return the work of each slot with finished jobs, by node, GPUs before CPUs."""
    apart: dict[str, list[ViewedJob]] = {}
    for job in jobs:
        if job.slot and job.started_at and job.finished_at:
            apart.setdefault(job.slot, []).append(job)
    return [_slot_time(slot, apart[slot]) for slot in sorted(apart, key=_slot_order)]


def _slot_order(slot: str) -> tuple[str, bool, int, str]:
    node, kind, number = _place(slot)
    return node, kind != "GPU", number, slot


def _slot_time(slot: str, jobs: list[ViewedJob]) -> SlotTime:
    jobs.sort(key=lambda job: (job.started_at or 0.0, job.job_id))
    span_s = max(job.finished_at or 0.0 for job in jobs) - (jobs[0].started_at or 0.0)
    busy_s = sum(job.run_s or 0.0 for job in jobs)
    return SlotTime(slot, tuple(jobs), min(1.0, busy_s / span_s) if span_s > 0 else 1.0)

"""Jobs as a run's records show them: state and result, where and how long each ran."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from weft.console.nodeplan import NodePlan, spread
from weft.inspect.report.view import RunView, TaskSeen
from weft.model.slots import Node, local_nodes
from weft.model.values import Object, Value


@dataclass(frozen=True, slots=True)
class JobSeen:
    """One job of a run; what it has not reached yet is None."""

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
    """Time of the command alone, as its supervisor measured it."""

    @property
    def seconds(self) -> float | None:
        """How long the job itself took; `run_s` has the work of its slot around it too."""
        return self.run_s if self.command_s is None else self.command_s

    def to_dict(self) -> dict[str, Value]:
        """JSON form: what a person asks about a job."""
        return {
            "job_id": self.job_id,
            "status": self.status,
            "slot": self.slot,
            "seconds": self.seconds,
            "attempts": self.attempt,
            "source": self.source,
            "bytes": self.size_bytes,
            "object": None if self.digest is None else Object(self.digest),
            "error": None if self.error is None else dict(self.error),
        }

    def why(self) -> str:
        """Say in a few words why it failed; empty when it did not."""
        if self.error is None:
            return ""
        code = self.error.get("exit_code")
        return str(self.error.get("type")) + ("" if code is None else f" {code}")


def jobs_of(run: RunView) -> list[JobSeen]:
    """Return every job of a run, in the order of its file."""
    return [_seen(task) for task in run.tasks()]


def nodes_of(run: RunView) -> tuple[Node, ...]:
    """Return the nodes that the run was started with."""
    table = run.execution()
    nodes = tuple(Node(**raw) for raw in table.get("nodes", ()))
    return nodes or local_nodes(table.get("workers", 1))


def distribution(jobs: Iterable[JobSeen], nodes: Iterable[Node]) -> list[NodePlan]:
    """Return where jobs ran, in the form of a plan."""
    used = [_place(job.slot) for job in jobs if job.slot is not None]
    return spread([place for place in used if place is not None], tuple(nodes))


def _place(slot: str) -> tuple[str, str, int] | None:
    node, _, name = slot.rpartition("/")
    index = name[3:]
    return (node, name[:3].upper(), int(index)) if index.isdigit() else None


def _seen(task: TaskSeen) -> JobSeen:
    value = task.value or {}
    result = value.get("object")
    asked = task.args["args"]
    return JobSeen(
        job_id=asked["job_id"],
        key=task.key,
        status=task.state,
        node=task.node,
        slot=_slot(task),
        started_at=task.started_at,
        finished_at=task.finished_at,
        run_s=task.run_s,
        attempt=task.attempt,
        source=value.get("source"),
        size_bytes=value.get("bytes"),
        digest=None if result is None else result.digest,
        error=task.error,
        target=asked["target"],
        command_s=task.notes.get("wall_s"),
    )


def _slot(task: TaskSeen) -> str | None:
    """The slot's name as the job noted it; without a note, as far as the worker tells."""
    if task.node is None:
        return None
    kind = f"cpu of pid {task.worker_pid}" if task.gpu is None else f"gpu{task.gpu}"
    return str(task.notes.get("slot") or f"{task.node}/{kind}")

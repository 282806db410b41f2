"""How tasks are distributed over the slots of nodes, as readable lines. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass

from weft.inspect.report.text import counted
from weft.model.slots import Node, Slot
from weft.model.values import Value

SIGN = "\N{TWISTED RIGHTWARDS ARROWS} "


@dataclass(frozen=True, slots=True)
class NodePlan:
    """The jobs of one kind on one node: the number per slot, by slot index."""

    node: str
    kind: str
    """`GPU` or `CPU`."""
    workers: int
    """Number of jobs that run at a time: slots with jobs, up to the node's cap."""
    distribution: Mapping[int, int]

    @property
    def jobs(self) -> int:
        """The number of jobs of this kind on the node."""
        return sum(self.distribution.values())

    def line(self) -> str:
        """Return the plan as a readable line, in ASCII.

        >>> NodePlan("localhost", "GPU", 2, {0: 2, 1: 2}).line()
        'PARALLEL: localhost | 2 GPU workers | 4 jobs | distribution: {0: 2, 1: 2}'
        """
        jobs = f"{counted(self.jobs, 'job')} | distribution: {dict(self.distribution)}"
        workers = counted(self.workers, f"{self.kind} worker")
        return f"PARALLEL: {self.node} | {workers} | {jobs}"

    def to_dict(self) -> dict[str, Value]:
        """JSON form."""
        distribution = {str(index): count for index, count in self.distribution.items()}
        return {**asdict(self), "jobs": self.jobs, "distribution": distribution}


def spread(used: Iterable[tuple[str, str, int]], nodes: Sequence[Node]) -> list[NodePlan]:
    """Count jobs by where each ran or will run: node, `GPU` or `CPU`, index of the slot.

    A node has a plan for each kind of slot that it offers and any job uses, GPUs first.
    """
    counts = Counter(used)
    plans = []
    for node in nodes:
        for kind, offered in (("GPU", node.gpus), ("CPU", node.cpus)):
            is_requested = any(k == kind for _, k, _ in counts)
            spread = {i: counts[node.name, kind, i] for i in range(offered)}
            spread = {index: count for index, count in spread.items() if count}
            workers = min(len(spread), node.max_concurrent or len(spread))
            if is_requested and offered:
                plans.append(NodePlan(node.name, kind, workers, spread))
    return plans


def place_of(slot: Slot) -> tuple[str, str, int]:
    """Return node, kind and index of a slot, as `spread` takes them."""
    return slot.node, "CPU" if slot.gpu is None else "GPU", slot.index

"""How tasks are spread over the slots of nodes, in lines for people. Pure."""

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
    """The jobs of one kind on one node: how many each of its slots has, by its index."""

    node: str
    kind: str
    """`GPU` or `CPU`."""
    workers: int
    """How many run at a time: slots with jobs, as far as the node's cap allows."""
    distribution: Mapping[int, int]

    @property
    def jobs(self) -> int:
        """How many jobs the node has."""
        return sum(self.distribution.values())

    def line(self) -> str:
        """Write it for people, in ASCII.

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

    Every node with slots of a kind that is used at all has a plan, GPUs first.
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
    """Node, kind and index of a slot, as `spread` counts them."""
    return slot.node, "CPU" if slot.gpu is None else "GPU", slot.index

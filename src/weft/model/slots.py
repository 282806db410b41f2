"""Places where tasks run: nodes and their slots. Plain data; where it runs never decides what."""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass

from weft.errors import UsageError

MAX_CONCURRENT = 12
"""How many tasks a node with GPUs runs at a time when its file does not say."""
MAX_SLOTS = 4096


@dataclass(frozen=True, slots=True)
class Slot:
    """One place that runs one task at a time: a GPU of a node, or a share of its CPUs."""

    node: str
    gpu: int | None
    index: int
    """Position among the node's slots of its kind."""
    folder: str = ""
    """The node's folder for scripts; empty for a command's own output folder."""
    python: str = ""
    """The node's interpreter; empty for the worker's own."""

    @property
    def name(self) -> str:
        """A short name for people."""
        return f"{self.node}/{'cpu' if self.gpu is None else 'gpu'}{self.index}"


@dataclass(frozen=True, slots=True)
class Node:
    """A machine, or a part of one: how many GPU and CPU slots, and how many at a time."""

    name: str
    gpus: int = 0
    cpus: int = 0
    max_concurrent: int | None = None
    folder: str = ""
    """Where its scripts are."""
    python: str = ""
    """Interpreter for its scripts, or a virtual environment's folder."""

    def __post_init__(self) -> None:
        counts = (self.gpus, self.cpus, self.max_concurrent or 0)
        if min(counts) < 0 or self.max_concurrent == 0:
            raise UsageError(f"node {self.name!r}: counts must not be negative, caps at least 1")
        if self.gpus + self.cpus == 0:
            raise UsageError(f"node {self.name!r} has no slot: give it gpus or cpus")

    def slots(self) -> list[Slot]:
        """GPU slots first, then CPU slots."""
        place = (self.folder, self.python)
        gpus = [Slot(self.name, gpu, gpu, *place) for gpu in range(self.gpus)]
        return gpus + [Slot(self.name, None, cpu, *place) for cpu in range(self.cpus)]


@dataclass(frozen=True, slots=True)
class Deal:
    """The static deal: in turn to the nodes, then in turn to a node's slots of one kind."""

    nodes: tuple[tuple[int, ...], ...]
    """Slot numbers by node; nodes without such a slot are left out."""

    @staticmethod
    def of(slots: Sequence[Slot], *, gpu: bool, without: Container[int] = ()) -> Deal:
        """Return the deal over the slots of a kind, apart from some that are gone."""
        nodes: dict[str, list[int]] = {}
        for number, slot in enumerate(slots):
            if (slot.gpu is not None) is gpu and number not in without:
                nodes.setdefault(slot.node, []).append(number)
        return Deal(tuple(tuple(numbers) for numbers in nodes.values()))

    def slot(self, ordinal: int) -> int | None:
        """Return the slot of the task that is number `ordinal` of its kind; None without slots."""
        if not self.nodes:
            return None
        turn, node = divmod(ordinal, len(self.nodes))
        return self.nodes[node][turn % len(self.nodes[node])]


def local_nodes(workers: int) -> tuple[Node, ...]:
    """This machine with so many CPU slots."""
    return (Node("local", cpus=workers),)


def slots_of(nodes: Sequence[Node]) -> tuple[Slot, ...]:
    """All slots, node by node; a slot's number is its place in this list."""
    names = [node.name for node in nodes]
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"node {twice!r} is named twice")
    slots = tuple(slot for node in nodes for slot in node.slots())
    if not 0 < len(slots) <= MAX_SLOTS:
        raise UsageError(f"{len(slots)} slots; there must be 1 to {MAX_SLOTS}")
    return slots

"""Places where tasks run: nodes and their slots. Plain data; where it runs never decides what."""

from __future__ import annotations

from collections.abc import Sequence
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

    def __post_init__(self) -> None:
        counts = (self.gpus, self.cpus, self.max_concurrent or 0)
        if min(counts) < 0 or self.max_concurrent == 0:
            raise UsageError(f"node {self.name!r}: counts must not be negative, caps at least 1")
        if self.gpus + self.cpus == 0:
            raise UsageError(f"node {self.name!r} has no slot: give it gpus or cpus")

    def slots(self) -> list[Slot]:
        """GPU slots first, then CPU slots."""
        gpus = [Slot(self.name, gpu, gpu) for gpu in range(self.gpus)]
        return gpus + [Slot(self.name, None, cpu) for cpu in range(self.cpus)]


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

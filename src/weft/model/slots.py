"""Nodes and their slots, where tasks run. Plain data; the place never affects the outcome."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import lru_cache

from weft.errors import UsageError

MAX_CONCURRENT = 12
"""How many tasks a node with GPUs runs at a time if its file sets no limit."""
MAX_SLOTS = 4096
CUDA_DEVICES = "CUDA_VISIBLE_DEVICES"
HIP_DEVICES = "HIP_VISIBLE_DEVICES"
VISIBLE_DEVICES = (CUDA_DEVICES, HIP_DEVICES, "ROCR_VISIBLE_DEVICES")
"""Variables that filter the GPUs a process sees; if several are set, they apply in turn."""
_AMD = re.compile(r"\b(amd|rocm|hip|radeon|instinct|rx|mi ?\d{2,3}[ax]?|gfx[0-9a-f]+)\b", re.I)


def visible_variable(gpu_type: str) -> str:
    """Return the variable that selects the GPU a process sees, by GPU model.

    >>> visible_variable("Radeon RX 6600"), visible_variable("RTX 3080 Ti"), visible_variable("")
    ('HIP_VISIBLE_DEVICES', 'CUDA_VISIBLE_DEVICES', 'CUDA_VISIBLE_DEVICES')
    """
    return HIP_DEVICES if _AMD.search(gpu_type) else CUDA_DEVICES


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
    gpu_type: str = ""
    allow_paths: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """A short name for display."""
        return f"{self.node}/{'cpu' if self.gpu is None else 'gpu'}{self.index}"


@dataclass(frozen=True, slots=True, init=False)
class Node:
    """A machine, or a part of one, with its GPU and CPU slots.

    `gpus` and `cpus` are the slots of the node `name`; `gpu_count` and `cpu_count`, as in node
    files, mean the same. `max_concurrent` caps how many tasks run there at a time.
    """

    name: str
    gpus: int = 0
    cpus: int = 0
    max_concurrent: int | None = None
    folder: str = ""
    """The folder of its scripts."""
    python: str = ""
    """Interpreter for its scripts, or a virtual environment's folder."""
    gpu_type: str = ""
    """The GPU model; AMD GPUs are selected by a different variable."""
    allow_paths: tuple[str, ...] = ()
    """Additional folders that may contain scripts and working directories."""

    def __init__(
        self,
        name: str,
        gpus: int = 0,
        cpus: int = 0,
        max_concurrent: int | None = None,
        folder: str = "",
        python: str = "",
        gpu_type: str = "",
        allow_paths: tuple[str, ...] = (),
        *,
        gpu_count: int | None = None,
        cpu_count: int | None = None,
    ) -> None:
        values = {
            "name": name, "gpus": _either(name, "gpu", gpus, gpu_count),
            "cpus": _either(name, "cpu", cpus, cpu_count), "max_concurrent": max_concurrent,
            "folder": folder, "python": python, "gpu_type": gpu_type, "allow_paths": allow_paths,
        }  # fmt: skip
        for field, value in values.items():
            object.__setattr__(self, field, value)
        self._check()

    def _check(self) -> None:
        counts = (self.gpus, self.cpus, self.max_concurrent or 0)
        if min(counts) < 0 or self.max_concurrent == 0:
            raise UsageError(f"node {self.name!r}: counts must not be negative, caps at least 1")
        if self.gpus + self.cpus == 0:
            raise UsageError(f"node {self.name!r} has no slot: give it gpus or cpus")

    @property
    def gpu_count(self) -> int:
        """Number of GPU slots, as in node files."""
        return self.gpus

    @property
    def cpu_count(self) -> int:
        """Number of CPU slots, as in node files."""
        return self.cpus

    def slots(self) -> list[Slot]:
        """Return the slots, GPU slots first."""
        place = (self.folder, self.python, self.gpu_type, self.allow_paths)
        gpus = [Slot(self.name, gpu, gpu, *place) for gpu in range(self.gpus)]
        return gpus + [Slot(self.name, None, cpu, *place) for cpu in range(self.cpus)]


def _either(node: str, kind: str, count: int, by_file_word: int | None) -> int:
    """Return a count that may be given under either of its two names."""
    if by_file_word is None:
        return count
    if count not in (0, by_file_word):
        raise UsageError(
            f"node {node!r}: {kind}s={count} and {kind}_count={by_file_word} are the same setting",
            hint="give one",
        )
    return by_file_word


@dataclass(frozen=True, slots=True)
class Deal:
    """The static deal over the slots of one kind: to nodes in proportion to their slots.

    A full turn gives every slot one task, alternating between the nodes that still have a slot
    left in it. The tasks after the last full turn are divided among the nodes by largest
    remainder, ties by node order; within a node tasks are dealt to the slots round-robin.
    """

    nodes: tuple[tuple[int, ...], ...]
    """Slot numbers by node; nodes without such a slot are left out."""

    @staticmethod
    def of(slots: Sequence[Slot], *, gpu: bool, without: Container[int] = ()) -> Deal:
        """Return the deal over the slots of one kind, except those in `without`."""
        nodes: dict[str, list[int]] = {}
        for number, slot in enumerate(slots):
            if (slot.gpu is not None) is gpu and number not in without:
                nodes.setdefault(slot.node, []).append(number)
        return Deal(tuple(tuple(numbers) for numbers in nodes.values()))

    def slot(self, ordinal: int, total: int | None = None) -> int | None:
        """Return the slot of task number `ordinal` of its kind; None if there are no slots.

        `total` is the number of tasks of its kind; without it, all turns are full.
        """
        if not self.nodes:
            return None
        size = sum(len(slots) for slots in self.nodes)
        turn, place = divmod(ordinal, size)
        rest = size if total is None else min(size, total - turn * size)
        return _one_turn(self.nodes, rest)[place]


@lru_cache(maxsize=8)
def _one_turn(nodes: tuple[tuple[int, ...], ...], tasks: int) -> tuple[int, ...]:
    """Return the slots of `tasks` tasks, at most one per slot, in task order."""
    shares = _largest_remainder([len(slots) for slots in nodes], tasks)
    places = [(i, node) for node, share in enumerate(shares) for i in range(share)]
    return tuple(nodes[node][i] for i, node in sorted(places))


def _largest_remainder(weights: Sequence[int], seats: int) -> list[int]:
    """Divide seats in proportion to weights (Hamilton's method); ties go to the first."""
    total = sum(weights)
    shares = [seats * weight // total for weight in weights]
    by_rest = sorted(range(len(weights)), key=lambda i: (-(seats * weights[i] % total), i))
    for i in by_rest[: seats - sum(shares)]:
        shares[i] += 1
    return shares


def local_nodes(workers: int) -> tuple[Node, ...]:
    """Return this machine as a node with `workers` CPU slots."""
    return (Node("local", cpus=workers),)


def slots_of(nodes: Sequence[Node]) -> tuple[Slot, ...]:
    """Return all slots, node by node; a slot's number is its index in this tuple."""
    names = [node.name for node in nodes]
    if len(set(names)) < len(names):
        repeated_name = next(name for name in names if names.count(name) > 1)
        raise UsageError(f"node {repeated_name!r} is named twice")
    slots = tuple(slot for node in nodes for slot in node.slots())
    if not 0 < len(slots) <= MAX_SLOTS:
        raise UsageError(f"{len(slots)} slots; there must be 1 to {MAX_SLOTS}")
    return slots

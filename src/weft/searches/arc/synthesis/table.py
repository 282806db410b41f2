"""The shallow phase's vectors as bytes, handed to every slice of the deep phase.

Contents travel, not hashes: slices compare vectors by what is in them.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Container, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import prod

import numpy as np
import numpy.typing as npt

from weft.searches.arc.synthesis.space import ROOT, VectorNode

FAST = 1
"""zlib's level; grids shrink well at any."""
_HEAD = struct.Struct(">QQQQ")
"""Vectors, of them open, examples, training examples."""
_NUMBERS = 8
"""Stage, entry, parent, depth, millibits, losses and first of each vector, as 32-bit integers."""


def pack(nodes: Sequence[VectorNode], open_nodes: Sequence[int]) -> bytes:
    """Write vectors, and the numbers of those that were not expanded."""
    numbers = np.array(
        [
            [n.stage, n.entry, n.parent, n.depth, n.millibits, n.shape_loss, n.cell_loss, n.first]
            for n in nodes
        ],
        "<i4",
    )
    ends = np.array([n.ends for n in nodes], "<i4")
    train = len(nodes[0].states)
    return zlib.compress(
        _HEAD.pack(len(nodes), len(open_nodes), ends.shape[1], train)
        + np.array(open_nodes, "<i4").tobytes()
        + numbers.tobytes()
        + ends.tobytes()
        + b"".join(n.states for n in nodes)
        + b"".join(n.content for n in nodes),
        FAST,
    )


@dataclass(frozen=True, slots=True)
class HandedOn:
    """What a slice begins with."""

    nodes: list[VectorNode]
    """Its own open vectors and those they came from, renumbered in the same order."""
    open_nodes: list[int]
    known: list[tuple[int, bytes]]
    """Stage and contents of every vector, so that nothing is reached twice."""


def unpack(data: bytes, own: Container[int]) -> HandedOn:
    """Read what `pack` wrote, for a slice whose programs begin with the entries in `own`."""
    shared = _read(data)
    firsts, parents = shared.numbers[:, 7].tolist(), shared.numbers[:, 2].tolist()
    mine = [node for node in shared.open_nodes if firsts[node] in own]
    own_nodes = _with_ancestors(mine, parents)
    place = {node: i for i, node in enumerate(own_nodes)}
    nodes = [
        VectorNode(
            stage, shared.contents[node], shared.ends[node].tolist(), shared.states[node].tobytes(),
            entry, place[parent], *rest,
        )
        for node, (stage, entry, parent, *rest) in zip(
            own_nodes, shared.numbers[own_nodes].tolist(), strict=True
        )
    ]  # fmt: skip
    known = list(zip(shared.numbers[:, 0].tolist(), shared.contents, strict=True))
    return HandedOn(nodes, [place[node] for node in mine], known)


@dataclass(frozen=True, slots=True)
class _Read:
    """What `pack` wrote, vector by vector."""

    open_nodes: list[int]
    numbers: npt.NDArray[np.int32]
    ends: npt.NDArray[np.int32]
    states: npt.NDArray[np.uint8]
    contents: list[bytes]


@lru_cache(maxsize=1)
def _read(data: bytes) -> _Read:
    """Read everything; the last table is held, as slices of one task follow each other."""
    raw = zlib.decompress(data)
    n, opened, examples, train = _HEAD.unpack_from(raw)
    at = _HEAD.size

    def integers(*shape: int) -> npt.NDArray[np.int32]:
        nonlocal at
        numbers = np.frombuffer(raw, "<i4", prod(shape), at)
        at += numbers.nbytes
        return numbers.reshape(shape).copy()

    open_nodes = integers(opened).tolist()
    numbers, ends = integers(n, _NUMBERS), integers(n, examples)
    states = np.frombuffer(raw, np.uint8, n * train, at).reshape(n, train).copy()
    at += n * train
    stops = (at + np.cumsum(ends[:, -1])).tolist()
    return _Read(open_nodes, numbers, ends, states, [raw[a:b] for a, b in pairwise([at, *stops])])


def _with_ancestors(nodes: Sequence[int], parents: Sequence[int]) -> list[int]:
    """The vectors, all they came from, and the input; ascending."""
    visited = {ROOT}
    for start in nodes:
        node = start
        while node not in visited:
            visited.add(node)
            node = parents[node]
    return sorted(visited)

"""The vectors of the shallow phase, as bytes that every slice of the deep phase receives.

    all vectors reached ──► a digest each, so that no slice reaches them again
    open vectors        ──► the nearest to the targets, slice by slice, with their ancestors

A slice reads the digests and its own part only.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from math import prod

import numpy as np
import numpy.typing as npt

from weft.searches.arc.synthesis.space import DIGEST_BYTES, ROOT, Space, VectorNode, digest_of

FAST = 1
"""The zlib level; grids compress well at any level."""
LEAST_OPEN = 256
"""Least limit of the open vectors that a slice gets; larger budgets have a higher limit."""
_HEAD = struct.Struct(">QQQQQ")
"""Head of a part: vectors, open ones among them, examples, training examples, and whether open
vectors were left out."""
_COUNT = struct.Struct(">Q")
_NUMBERS = 8
"""Fields per vector, as 32-bit integers: stage, entry, parent, depth, millibits, losses, first."""


@dataclass(frozen=True, slots=True)
class HandedOn:
    """The vectors from which a slice starts."""

    nodes: list[VectorNode]
    """The slice's open vectors and their ancestors, renumbered in the same order."""
    open_nodes: list[int]
    known: frozenset[bytes]
    """Digests of all vectors of the shallow phase, so that none is reached twice."""
    is_complete: bool
    """Whether all open vectors of the slice are included."""


def pack(space: Space, open_nodes: Sequence[int], owners: Sequence[frozenset[int]]) -> bytes:
    """Encode the vectors of a phase; `owners` has the first entries of each slice."""
    digests = [digest_of(node.stage, node.content) for node in space.nodes]
    most = max(LEAST_OPEN, space.budget.max_programs // (8 * len(owners)))
    nearest = sorted(open_nodes, key=space.priority)
    parts = []
    for own in owners:
        mine = [node for node in nearest if space.nodes[node].first in own]
        parts.append(_pack_part(space.nodes, sorted(mine[:most]), len(mine) > most))
    sizes = [_COUNT.pack(len(part)) for part in parts]
    head = _COUNT.pack(len(digests)) + _COUNT.pack(len(parts)) + b"".join(sizes)
    return head + b"".join(digests) + b"".join(parts)


def unpack(data: bytes, number: int) -> HandedOn:
    """Decode the part of one slice."""
    digests, parts = _COUNT.unpack_from(data)[0], _COUNT.unpack_from(data, _COUNT.size)[0]
    index = 2 * _COUNT.size
    sizes = [_COUNT.unpack_from(data, index + i * _COUNT.size)[0] for i in range(parts)]
    begin = index + parts * _COUNT.size
    known = _known(data[begin : begin + digests * DIGEST_BYTES])
    at = begin + digests * DIGEST_BYTES + sum(sizes[:number])
    nodes, open_nodes, is_complete = _unpack_part(data[at : at + sizes[number]])
    return HandedOn(nodes, open_nodes, known, is_complete)


@lru_cache(maxsize=1)
def _known(digests: bytes) -> frozenset[bytes]:
    """Return digests as a set; cached, as slices of one task often follow each other."""
    size = DIGEST_BYTES
    return frozenset(digests[i : i + size] for i in range(0, len(digests), size))


def _pack_part(nodes: Sequence[VectorNode], mine: Sequence[int], truncated: bool) -> bytes:
    """Encode open vectors with their contents, and their ancestors without."""
    own = _with_ancestors(mine, nodes)
    place = {node: i for i, node in enumerate(own)}
    numbers = [
        [
            n.stage,
            n.entry,
            place[n.parent],
            n.depth,
            n.millibits,
            n.shape_loss,
            n.cell_loss,
            n.first,
        ]
        for n in map(nodes.__getitem__, own)
    ]
    opened = [nodes[number] for number in mine]
    examples, train = len(nodes[ROOT].ends), len(nodes[ROOT].states)
    return zlib.compress(
        _HEAD.pack(len(own), len(mine), examples, train, truncated)
        + np.array([place[node] for node in mine], "<i4").tobytes()
        + np.array(numbers, "<i4").tobytes()
        + np.array([n.ends for n in opened], "<i4").tobytes()
        + b"".join(n.states for n in opened)
        + b"".join(n.content for n in opened),
        FAST,
    )


def _unpack_part(data: bytes) -> tuple[list[VectorNode], list[int], bool]:
    raw = zlib.decompress(data)
    count, opened, examples, train, truncated = _HEAD.unpack_from(raw)
    at = _HEAD.size

    def integers(*shape: int) -> npt.NDArray[np.int32]:
        nonlocal at
        numbers = np.frombuffer(raw, "<i4", prod(shape), at)
        at += numbers.nbytes
        return numbers.reshape(shape)

    open_nodes = integers(opened).tolist()
    numbers, ends = integers(count, _NUMBERS).tolist(), integers(opened, examples).tolist()
    states = [raw[at + i * train : at + (i + 1) * train] for i in range(opened)]
    at += opened * train
    bounds = np.cumsum([at, *(row[-1] for row in ends)]).tolist()
    contents = [raw[a:b] for a, b in pairwise(bounds)]
    known = dict(zip(open_nodes, zip(contents, ends, states, strict=True), strict=True))
    nodes = []
    for i, (stage, entry, parent, *rest) in enumerate(numbers):
        content, own_ends, own_states = known.get(i, (b"", [], b""))
        nodes.append(VectorNode(stage, content, own_ends, own_states, entry, parent, *rest))
    return nodes, open_nodes, not truncated


def _with_ancestors(mine: Sequence[int], nodes: Sequence[VectorNode]) -> list[int]:
    """Return the vectors, all their ancestors, and the input, in ascending order."""
    visited = {ROOT}
    for start in mine:
        node = start
        while node not in visited:
            visited.add(node)
            node = nodes[node].parent
    return sorted(visited)

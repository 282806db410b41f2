"""The shallow phase's vectors as bytes, handed to every slice of the deep phase.

Contents travel, not hashes: slices compare vectors by what is in them.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence

from weft.arc.search.space import Node

FAST = 1
"""zlib's level; grids shrink well at any."""


def pack(nodes: Sequence[Node], open_nodes: Sequence[int]) -> bytes:
    """Write vectors, and the numbers of those that were not expanded."""
    head = json.dumps({
        "open": list(open_nodes),
        "nodes": [
            [n.stage, n.ends, n.states.hex(), n.entry, n.parent, n.depth, n.millibits,
             n.shape_loss, n.cell_loss, n.first]
            for n in nodes
        ],
    }, separators=(",", ":")).encode()  # fmt: skip
    body = b"".join(node.content for node in nodes)
    return zlib.compress(len(head).to_bytes(8, "big") + head + body, FAST)


def unpack(data: bytes) -> tuple[list[Node], list[int]]:
    """Read what `pack` wrote."""
    raw = zlib.decompress(data)
    size = int.from_bytes(raw[:8], "big")
    head = json.loads(raw[8 : 8 + size])
    at, nodes = 8 + size, []
    for stage, ends, states, *rest in head["nodes"]:
        content = raw[at : at + ends[-1]]
        at += ends[-1]
        nodes.append(Node(stage, content, ends, bytes.fromhex(states), *rest))
    return nodes, head["open"]

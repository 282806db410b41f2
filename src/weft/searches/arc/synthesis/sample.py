"""The sample of vectors that a phase passes to rule learning: decision lists, choices of objects.

    Space ── sample_of ──► VectorSample ── pack ──► bytes, an object ── unpack ──► in any task

A few hundred vectors with the chains that lead to them, chosen by cost and by their distance from
the targets, so that each part of rule learning can run in a separate task.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from weft.model.values import canonical
from weft.searches.arc.lists.canvas import size_loo_passes, supposed
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.space import GRID, Space, VectorNode
from weft.searches.arc.values import ValueStage

BASES = 3
SOURCES = 300
"""Most other vectors that a list may use, the cheapest."""
COLOURS, TILES = 40, 60
"""Most colours and smaller grids that a list may use, the cheapest."""
LOOKED_AT = 5000
"""Most grids searched for smaller ones."""
SEGMENTED = 8
"""Most grids that are segmented, the cheapest; in addition, one of the targets' size."""
CANVASES = 6
"""Most canvases tried (sizes with ways to lay the input on them), the cheapest."""
COLOUR = int(ValueStage.COLOUR)
_FAST = 1


@dataclass(frozen=True, slots=True)
class GridVector:
    """A vector of grids, and the operators that lead to it."""

    chain: tuple[str, ...]
    millibits: int
    content: bytes


@dataclass(frozen=True, slots=True)
class VectorSample:
    """Vectors of a phase, for rule learning."""

    bases: tuple[GridVector, ...]
    """Vectors of the targets' size: the input, then those nearest to the targets."""
    sources: tuple[GridVector, ...]
    """Vectors of the targets' size: the cheapest."""
    segmented: tuple[GridVector, ...]
    canvases: tuple[str, ...]
    """Canvases predicted by size formulas, if nothing was found and targets differ in size."""
    size_loo_passes: bool
    """Whether the size formulas pass leave-one-out cross-validation."""
    is_solved: bool
    """Whether the phase found a program."""
    time: int
    """Programs charged when the phase ended."""
    colours: tuple[GridVector, ...] = ()
    """If nothing was found: vectors of colours, one colour per example."""
    tiles: tuple[GridVector, ...] = ()
    """If nothing was found: vectors of grids that fit into each target several times."""

    @property
    def list_bases(self) -> int:
        """The number of bases on which lists can be learned."""
        return len(self.bases) + len(self.canvases)


def sample_of(space: Space) -> VectorSample:
    """Choose the vectors to learn from at the end of a phase."""
    nodes = space.nodes
    grids = sorted(
        (n for n, node in enumerate(nodes) if node.stage == GRID),
        key=lambda n: (nodes[n].millibits, n),
    )
    fitting = [n for n in grids if nodes[n].shape_loss == 0]
    nearest = sorted(fitting, key=lambda n: (n != 0, space.priority(n)))[:BASES]
    canvases = () if space.candidates else canvases_of(space.problem)
    return VectorSample(
        _vectors(space, nearest), _vectors(space, fitting[:SOURCES]),
        _vectors(space, _segmented(space, grids, nearest)), canvases,
        bool(canvases) and _sizes_validated(space.problem), bool(space.candidates),
        space.counts.programs, *(((), ()) if space.candidates else _others(space, grids)),
    )  # fmt: skip


def _others(
    space: Space, grids: Sequence[int]
) -> tuple[tuple[GridVector, ...], tuple[GridVector, ...]]:
    """Return the cheapest colours, and the cheapest grids that fit into targets several times."""
    nodes = space.nodes
    colours = sorted(
        (n for n, node in enumerate(nodes) if node.stage == COLOUR),
        key=lambda n: (nodes[n].millibits, n),
    )
    sizes = [target.size for target in space.problem.targets_plain]
    tiles = (n for n in grids[:LOOKED_AT] if _is_tile(nodes[n], sizes))
    return _vectors(space, colours[:COLOURS]), _vectors(space, list(islice(tiles, TILES)))


def _is_tile(node: VectorNode, sizes: Sequence[tuple[int, int]]) -> bool:
    """Whether each grid's sides divide its target's, and some sizes differ."""
    if node.shape_loss == 0:
        return False
    starts = (0, *node.ends)
    return all(
        height % node.content[start] == 0 and width % node.content[start + 1] == 0
        for start, (height, width) in zip(starts, sizes, strict=False)
    )


def canvases_of(problem: EncodedTask) -> tuple[str, ...]:
    """Return the canvases for lists, cheapest first; none if outputs have their inputs' sizes."""
    if all(a.size == b.size for a, b in problem.pairs()):
        return ()
    canvases = supposed(problem.inputs, problem.targets_plain, CANVASES)
    fits = (c for c in canvases if all(c.size(grid) is not None for grid in problem.inputs))
    return tuple(canvas.text() for canvas in fits)


def _sizes_validated(problem: EncodedTask) -> bool:
    return size_loo_passes(problem.inputs[: problem.train], problem.targets_plain)


def _segmented(space: Space, grids: Sequence[int], nearest: Sequence[int]) -> Sequence[int]:
    """Return the grids to segment.

    If every target has the size of its input, that is the input alone, for tables. If none has, the
    targets may be objects of any of the cheapest grids; otherwise the cheapest grid is enough, for
    charts and other rules. In both cases the grid nearest to the targets is added, for tables.
    """
    same = [given.size == expected.size for given, expected in space.problem.pairs()]
    if all(same):
        return (0,)
    cheap = grids[: 1 if any(same) else SEGMENTED]
    return (*cheap, *(n for n in nearest[:1] if n not in cheap))


def _vectors(space: Space, numbers: Sequence[int]) -> tuple[GridVector, ...]:
    return tuple(
        GridVector(space.program_of(n), space.nodes[n].millibits, space.nodes[n].content)
        for n in numbers
    )


# -- as bytes -------------------------------------------------------------------------------------


def pack(sample: VectorSample) -> bytes:
    """Encode a sample: a line that describes it, then the contents of its vectors, compressed."""
    groups = (sample.bases, sample.sources, sample.segmented, sample.colours, sample.tiles)
    head = {
        "vectors": [
            [[list(v.chain), v.millibits, len(v.content)] for v in vectors] for vectors in groups
        ],
        "canvases": list(sample.canvases),
        "size_loo_passes": sample.size_loo_passes,
        "is_solved": sample.is_solved,
        "time": sample.time,
    }
    contents = b"".join(v.content for vectors in groups for v in vectors)
    return zlib.compress(canonical(head).encode() + b"\n" + contents, _FAST)


def unpack(data: bytes) -> VectorSample:
    """Undo `pack`."""
    line, _, contents = zlib.decompress(data).partition(b"\n")
    head, at = json.loads(line), 0
    groups: list[tuple[GridVector, ...]] = []
    for described in head["vectors"]:
        vectors = []
        for chain, millibits, size in described:
            vectors.append(GridVector(tuple(chain), millibits, contents[at : at + size]))
            at += size
        groups.append(tuple(vectors))
    bases, sources, segmented, colours, tiles = groups
    return VectorSample(
        bases, sources, segmented, tuple(head["canvases"]), head["size_loo_passes"],
        head["is_solved"], head["time"], colours, tiles,
    )  # fmt: skip

"""Learn what happens to each object: decision tables that give every training target.

Tried on the input if every target has its size, otherwise on the grid of the targets' size that is
nearest to them: size first, then contents. Tables are guesses, like decision lists, and qualify as
answers if every pair is predicted by the cheapest table learned without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from weft.searches.arc.fitted import objecttable
from weft.searches.arc.fitted.objecttable import Objects
from weft.searches.arc.ops.objectparts import cells_of
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learncycles import learn_cycles
from weft.searches.arc.synthesis.learnkeyblocks import learn_key_blocks
from weft.searches.arc.synthesis.learnlists import FEW_PAIRS, cheapest
from weft.searches.arc.synthesis.learnproposed import KEEPING, learn_proposed
from weft.searches.arc.synthesis.sample import GridVector
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.tables.learn import MOST_OBJECTS, TableSearch
from weft.searches.arc.tables.scene import Scene
from weft.searches.arc.tables.segmentation import AREAS, ROOMS, WITH_ROOMS, scene_of, scenes_of
from weft.searches.arc.tables.table import drawn
from weft.searches.arc.values import Grid, Piece, decode_grids, encode_grids

SEGMENTATIONS = ("objects_8", "objects_4", "blobs_8", "blobs_4", "layers")
ALL = (*SEGMENTATIONS, *AREAS, WITH_ROOMS)
PARTS = (ALL[:1], ALL[1:2], ALL[2:])
"""The segmentations of each part; the first two take longest."""
MOST_AREAS = 70
"""Most black areas and objects together."""


def learn_input_tables(problem: EncodedTask, part: int) -> tuple[ProgramCandidate, ...]:
    """Learn one part of the tables over the input's objects, if every target has the input's size.

    The last part also learns cycles of colours, key blocks and sorting. All this can run in
    parallel with the shallow phase, on whose result it does not depend.
    """
    if not problem.keeps_sizes:
        return ()
    vector = GridVector((), 0, problem.root)
    tables = learn_tables(problem, vector, names=PARTS[part])
    if part < len(PARTS) - 1:
        return tables
    return (
        *tables,
        *learn_cycles(problem, vector),
        *learn_key_blocks(problem, vector),
        *learn_proposed(problem, vector, KEEPING),
    )


def joined(parts: Iterable[Sequence[ProgramCandidate]], time: int) -> tuple[ProgramCandidate, ...]:
    """Return the cheapest candidates of all parts, as if all had been found at `time`."""
    return cheapest(replace(candidate, time=time) for part in parts for candidate in part)


def learn_tables(
    problem: EncodedTask,
    vector: GridVector,
    time: int = 0,
    names: Sequence[str] = ALL,
    *,
    may_answer: bool = True,
) -> tuple[ProgramCandidate, ...]:
    """Return the cheapest programs that decide about the objects of a vector.

    Only a few are kept of each result: tables with other measures agree too easily to be evidence.
    `names` are the segmentations to try. Tables are cross-validated if `may_answer`.
    """
    grids, targets = decode_grids(vector.content), problem.targets_plain
    if any(a.size != b.size for a, b in zip(grids, targets, strict=False)):
        return ()
    ways = scenes_of(SEGMENTATIONS, grids, MOST_OBJECTS, names)
    if WITH_ROOMS in names:
        ways |= _with_areas(grids, targets)
    return cheapest(
        candidate
        for name, scenes in ways.items()
        for candidate in _learned(problem, vector, time, name, scenes, may_answer)
    )


def _with_areas(grids: Sequence[Grid], targets: Sequence[Grid]) -> dict[str, list[Scene]]:
    """Return scenes with black areas as objects, if on average one per pair is painted whole."""
    pairs = list(zip(grids, targets, strict=False))
    names = [name for name, areas in AREAS.items() if _painted(areas, pairs) >= len(pairs)]
    if not all(_keeps_ink(*pair) for pair in pairs):
        names = [WITH_ROOMS] if ROOMS in names else []
    ways = {name: [scene_of(name, grid) for grid in grids] for name in names}
    known = {name: [scene for scene in own if scene is not None] for name, own in ways.items()}
    return {
        name: scenes
        for name, scenes in known.items()
        if len(scenes) == len(grids) and all(_is_small(scene) for scene in scenes)
    }


def _painted(areas: Callable[[Grid], Sequence[Piece]], pairs: Sequence[tuple[Grid, Grid]]) -> int:
    """Count the areas that are painted in one colour."""
    return sum(
        len(colours) == 1 and 0 not in colours
        for grid, target in pairs
        for area in areas(grid)
        for colours in [{target.at(*cell) for cell in cells_of(area)}]
    )


def _keeps_ink(grid: Grid, target: Grid) -> bool:
    return all(a in (0, b) for a, b in zip(grid.cells, target.cells, strict=True))


def _is_small(scene: Scene) -> bool:
    objects = len(scene.bodies) - scene.areas
    return objects <= MOST_OBJECTS and len(scene.bodies) <= MOST_AREAS


def _learned(
    problem: EncodedTask,
    vector: GridVector,
    time: int,
    name: str,
    scenes: Sequence[Scene],
    may_answer: bool,
) -> Iterator[ProgramCandidate]:
    train, targets = problem.train, problem.targets_plain
    loo_passed: int | None = None
    for table in TableSearch(scenes[:train], targets).fitting():
        outputs = [drawn(scene, table) for scene in scenes[train:]]
        complete = [grid for grid in outputs if grid is not None]
        if len(complete) < len(outputs):
            continue
        if loo_passed is None and may_answer:
            loo_passed = train if _loo_passes(scenes[:train], targets) else 0
        program = Program(vector.chain, Objects.name, objecttable.parameters(name, table))
        yield ProgramCandidate(
            program, program.millibits(), encode_grids(complete), time, loo_passed
        )


def _loo_passes(scenes: Sequence[Scene], targets: Sequence[Grid]) -> bool:
    """Whether every pair is predicted by the cheapest table learned from the others."""
    return len(scenes) > FEW_PAIRS and all(
        _predicts(scenes, targets, left) for left in range(len(scenes))
    )


def _predicts(scenes: Sequence[Scene], targets: Sequence[Grid], left: int) -> bool:
    others = [pair for pair in range(len(scenes)) if pair != left]
    search = TableSearch([scenes[pair] for pair in others], [targets[pair] for pair in others])
    tables = search.fitting()
    return bool(tables) and drawn(scenes[left], tables[0]) == targets[left]

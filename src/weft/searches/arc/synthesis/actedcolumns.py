"""Columns for decision lists: the results of one action on all objects, if that explains changes.

    input ──► every action on all objects ──► those that give cells of the targets ──► columns

A list can then say where the action applies and what decides elsewhere: `rays_cross=0 -> own; else
objects_8.cover.ring.own`. An action must get some changed cell right in each of the two pairs with
the fewest objects; the actions with the best scores over all pairs become columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from weft.searches.arc.lists.features import U8
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.tables.actions import Action
from weft.searches.arc.tables.everywhere import (
    SEGMENTATIONS,
    ActedSource,
    Masks,
    acts,
    everywhere,
)
from weft.searches.arc.tables.learn import new_colours
from weft.searches.arc.tables.scene import Scene, masks_of
from weft.searches.arc.tables.segmentation import scenes_of
from weft.searches.arc.values import Grid

MOST_COLUMNS = 40
MOST_OBJECTS = 16
"""Grids with more objects are left to tables."""
TRIED_FIRST = 2
"""Number of pairs in each of which an action must get some changed cell right."""


@dataclass(frozen=True, slots=True)
class _Scored:
    """An action, its results on the training pairs, and how well they agree with the targets."""

    source: ActedSource
    score: int
    results: tuple[tuple[int, ...], ...]


def acted_columns(problem: EncodedTask) -> dict[str, U8]:
    """Return columns of the best actions, training cells first; none if sizes differ."""
    if any(given.size != expected.size for given, expected in problem.pairs()):
        return {}
    own_scenes = scenes_of(SEGMENTATIONS, problem.inputs, MOST_OBJECTS)
    scored = [
        each
        for name, scenes in own_scenes.items()
        for each in _scored(name, scenes[: problem.train], problem.targets_plain)
    ]
    scored.sort(key=lambda each: (-each.score, each.source.millibits, each.source.text()))
    chosen = {each.results: each.source for each in reversed(scored)}
    best = [each.source for each in scored if chosen[each.results] is each.source][:MOST_COLUMNS]
    return {
        source.text(): _column(own_scenes[source.segmentation], source.action) for source in best
    }


def _scored(name: str, scenes: Sequence[Scene], targets: Sequence[Grid]) -> Iterator[_Scored]:
    """Yield the actions that get changed cells of the first pairs right, with their scores."""
    before = [masks_of(scene.grid) for scene in scenes]
    after = [masks_of(target) for target in targets]
    order = sorted(range(len(scenes)), key=lambda pair: len(scenes[pair].bodies))
    for action in acts(new_colours(scenes, targets)):
        score, results = 0, dict[int, tuple[int, ...]]()
        for tried, pair in enumerate(order):
            masks = everywhere(scenes[pair], action)
            right, wrong = _changes(masks, before[pair], after[pair])
            if tried < TRIED_FIRST and not right:
                break
            score, results[pair] = score + 2 * right - wrong, tuple(masks)
        else:
            ordered = tuple(results[pair] for pair in range(len(scenes)))
            yield _Scored(ActedSource(name, action), score, ordered)


def _changes(masks: Masks, before: Masks, after: Masks) -> tuple[int, int]:
    """Count the changed cells that are as in the target, and those that are not."""
    right = wrong = 0
    for now, given, expected in zip(masks, before, after, strict=True):
        changed = now & ~given
        right += (changed & expected).bit_count()
        wrong += (changed & ~expected).bit_count()
    return right, wrong


def _column(scenes: Sequence[Scene], action: Action) -> U8:
    return np.concatenate([_cells(scene, everywhere(scene, action)) for scene in scenes])


def _cells(scene: Scene, masks: Masks) -> U8:
    """Return masks as one colour per cell."""
    size = scene.height * scene.width
    cells = np.zeros(size, np.uint8)
    for colour, mask in enumerate(masks[1:], start=1):
        packed = np.frombuffer(mask.to_bytes(-(-size // 8), "little"), np.uint8)
        cells += np.unpackbits(packed, bitorder="little")[:size] * np.uint8(colour)
    return cells

"""What belongs together in a drawing of a task: each pair, and each test with its answers."""

from __future__ import annotations

from dataclasses import dataclass

from weft.searches.arc.values import Grid
from weft.searches.arc.views.model import TaskView, letter


@dataclass(frozen=True, slots=True)
class Tile:
    """A grid with its label."""

    label: str
    grid: Grid


@dataclass(frozen=True, slots=True)
class PictureBlock:
    """Tiles under one title; the first is an input, the others come out of it."""

    title: str
    tiles: tuple[Tile, ...]


def blocks(view: TaskView) -> tuple[PictureBlock, ...]:
    """Return the pairs, then the tests with every answer and the truth where it differs."""
    pairs = [
        PictureBlock(f"train {i + 1}", (Tile("input", pair.input), Tile("output", pair.output)))
        for i, pair in enumerate(view.pairs)
    ]
    return (*pairs, *(_test(view, i) for i in range(len(view.tests))))


def _test(view: TaskView, index: int) -> PictureBlock:
    tiles = [Tile("input", view.tests[index])]
    alone = len(view.answers) == 1
    for i, answer in enumerate(view.answers):
        label = "answer" if alone else f"answer {letter(i)}"
        tiles.append(Tile(label, answer.outputs[index]))
    if view.truth and (len(tiles) != 2 or tiles[1].grid != view.truth[index]):
        tiles.append(Tile("truth", view.truth[index]))
    return PictureBlock(f"test {index + 1}", tuple(tiles))

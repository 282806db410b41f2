"""The action that draws a line to another object, which turns where something is in its way.

Of the lines with the fewest turns, the one with the fewest cells is drawn; ties go to the one
farthest to the left, then to the top. Tried only if targets add thin lines: `is_thin`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_

from weft.searches.arc.tables.colours import colour_of
from weft.searches.arc.tables.scene import SIDES, STEPS, Body, Drawn, Scene, masks_of, places
from weft.searches.arc.values import Grid

CRAWL = "crawl"
MOST_CELLS = 8
"""Most cells of an object from which a line starts."""
MOST_TURNS = 4
Step = tuple[int, int]
_STEPS = tuple(STEPS[side] for side in SIDES)


def crawl(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add a line to an object of a colour; the line turns only where something is in its way.

    It starts along the longer side of the box.
    """
    goal, colour = int(words[0]), colour_of(scene, body, words[1])
    if colour is None or goal == body.colour or body.mask.bit_count() > MOST_CELLS:
        return None
    cells = scene.once(body, CRAWL, words[0], lambda: _crawled(scene, body, goal))
    return Drawn(body.layers, ((colour, cells),)) if cells else None


def _crawled(scene: Scene, body: Body, goal: int) -> int:
    ends = reduce(or_, (other.mask for other in scene.objects if other.colour == goal), 0)
    search = _LineSearch(scene, body, ends)
    for turns in range(MOST_TURNS + 1 if ends else 0):
        shortest = min(search.lines(turns), key=lambda cells: _order(scene, cells), default=0)
        if shortest:
            return shortest
    return 0


def _order(scene: Scene, cells: int) -> tuple[int, int, int, int]:
    """Return a sort key: fewer cells first, then those farther to the left, then to the top."""
    rows, columns = 0, 0
    for place in places(cells):
        rows, columns = rows + place // scene.width, columns + place % scene.width
    return cells.bit_count(), columns, rows, cells


class _LineSearch:
    """Finds the lines from an object to the cells `ends`."""

    def __init__(self, scene: Scene, body: Body, ends: int) -> None:
        self.scene, self.body, self.ends = scene, body, ends
        self.free = scene.everything & ~scene.ink

    def lines(self, turns: int) -> Iterator[int]:
        """Yield the cells of each line with `turns` turns."""
        tall, wide = self.body.piece.height, self.body.piece.width
        for step in _STEPS:
            if tall == wide or bool(step[0]) == (tall > wide):
                for place in places(self.body.mask):
                    start = self.scene.moved(1 << place, step)
                    yield from self._onward(start, step, turns, 0)

    def _onward(self, cell: int, step: Step, turns: int, before: int) -> Iterator[int]:
        """Continue from a cell until something is in the way, then turn; yield complete lines."""
        leg, last = 0, 0
        while cell & self.free:
            leg, last, cell = leg | cell, cell, self.scene.moved(cell, step)
        if leg & before or not leg | before:
            return
        if cell & self.ends:
            if not turns:
                yield before | leg
            return
        for turned in ((step[1], step[0]), (-step[1], -step[0])) if turns and leg else ():
            start = self.scene.moved(last, turned)
            yield from self._onward(start, turned, turns - 1, before | leg)


def is_thin(scenes: Sequence[Scene], targets: Sequence[Grid]) -> bool:
    """Whether targets keep all non-black cells and add cells without any 2×2 square."""
    return all(
        _adds_lines(scene, masks_of(target)) for scene, target in zip(scenes, targets, strict=True)
    )


def _adds_lines(scene: Scene, masks: Sequence[int]) -> bool:
    before = scene.masks
    if any(before[colour] & ~masks[colour] for colour in range(1, 10)):
        return False
    added = before[0] & ~masks[0]
    pairs = added & scene.moved(added, (0, 1))
    return bool(added) and not pairs & scene.moved(pairs, (1, 0))

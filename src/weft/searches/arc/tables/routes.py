"""Actions that connect objects around what is in the way, with the fewest turns.

    route   a line with at most two turns, where it likes
    crawl   a line with at most four turns, each where something is in its way

Of several with the fewest turns the one with the fewest cells is drawn, of those the one farthest
to the left, then to the top. They are tried only where targets add thin lines: `is_thin`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import reduce
from operator import or_

from weft.searches.arc.tables.colours import colour_of
from weft.searches.arc.tables.scene import SIDES, STEPS, Body, Drawn, Scene, masks_of, places
from weft.searches.arc.values import Grid

SAME = "same"
MOST_CELLS = 8
"""Of an object from which a line starts."""
MOST_TURNS = {"route": 2, "crawl": 4}
Step = tuple[int, int]
_STEPS = tuple(STEPS[side] for side in SIDES)


def route(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add a line to an object of a colour, or of its own, around all others.

    Nothing is added where none of its own colour can be reached.
    """
    return _connected(scene, body, words, "route")


def crawl(scene: Scene, body: Body, words: Sequence[str]) -> Drawn | None:
    """Add a line to an object of a colour that goes straight on as far as it can each time.

    It starts along the longer side of the box.
    """
    return _connected(scene, body, words, "crawl")


def _connected(scene: Scene, body: Body, words: Sequence[str], name: str) -> Drawn | None:
    colour = colour_of(scene, body, words[1])
    if colour is None or body.mask.bit_count() > MOST_CELLS:
        return None
    cells = scene.once(body, name, words[0], lambda: _line_cells(scene, body, words[0], name))
    is_optional = words[0] == SAME
    return Drawn(body.layers, ((colour, cells),)) if cells or is_optional else None


def _line_cells(scene: Scene, body: Body, to: str, name: str) -> int:
    goal = body.colour if to == SAME else int(to)
    ends = reduce(or_, (o.mask for o in scene.objects if o.colour == goal and o is not body), 0)
    if not ends or (goal == body.colour and to != SAME):
        return 0
    search = _RouteSearch(scene, body, ends)
    lines = search.routes if name == "route" else search.crawls
    for turns in range(MOST_TURNS[name] + 1):
        shortest = min(lines(turns), key=lambda cells: _order(scene, cells), default=0)
        if shortest:
            return shortest
    return 0


def _order(scene: Scene, cells: int) -> tuple[int, int, int, int]:
    """Fewer cells first, then those farther to the left, then to the top."""
    rows, columns = 0, 0
    for place in places(cells):
        rows, columns = rows + place // scene.width, columns + place % scene.width
    return cells.bit_count(), columns, rows, cells


class _RouteSearch:
    """The routes from an object to some cells; `seen` are the cells that a line leads there from.

    By the step of the line.
    """

    def __init__(self, scene: Scene, body: Body, ends: int) -> None:
        self.scene, self.body, self.ends = scene, body, ends
        self.free = scene.everything & ~scene.ink
        self.seen = {step: self._leading(step) for step in _STEPS}

    def _leading(self, step: Step) -> int:
        """The free cells from which a line leads to the ends."""
        front, cells = self.ends, 0
        while front := self.scene.moved(front, (-step[0], -step[1])) & self.free:
            cells |= front
        return cells

    def routes(self, turns: int) -> Iterator[int]:
        """Yield the cells of each route with so many turns."""
        for step in _STEPS:
            for place in places(self.body.mask):
                start = self.scene.moved(1 << place, step)
                yield from self._onward(start, step, turns, 0)

    def _onward(self, cell: int, step: Step, turns: int, before: int) -> Iterator[int]:
        """Go on from a cell that may be free; turn behind each cell, or not at all."""
        if not turns:
            if cell & (self.seen[step] | self.ends) and (before or cell & self.free):
                yield before | self._straight(cell, step)
            return
        while cell & self.free:
            before |= cell
            for turned in ((step[1], step[0]), (-step[1], -step[0])):
                yield from self._onward(self.scene.moved(cell, turned), turned, turns - 1, before)
            cell = self.scene.moved(cell, step)

    def crawls(self, turns: int) -> Iterator[int]:
        """Yield the cells of each line with so many turns, all where something is in its way."""
        tall, wide = self.body.piece.height, self.body.piece.width
        for step in _STEPS:
            if tall == wide or bool(step[0]) == (tall > wide):
                for place in places(self.body.mask):
                    start = self.scene.moved(1 << place, step)
                    yield from self._forced(start, step, turns, 0)

    def _forced(self, cell: int, step: Step, turns: int, before: int) -> Iterator[int]:
        """Go on from a cell that may be free, until something is in the way; then turn."""
        leg = self._straight(cell, step)
        if leg & before or not (leg or (before and cell & self.ends)):
            return
        if not leg or leg & self.seen[step]:
            if not turns:
                yield before | leg
            return
        last = leg & ~self.scene.moved(leg, (-step[0], -step[1]))
        for turned in ((step[1], step[0]), (-step[1], -step[0])) if turns else ():
            start = self.scene.moved(last, turned)
            yield from self._forced(start, turned, turns - 1, before | leg)

    def _straight(self, cell: int, step: Step) -> int:
        cells = 0
        while cell & self.free:
            cells, cell = cells | cell, self.scene.moved(cell, step)
        return cells


def is_thin(scenes: Sequence[Scene], targets: Sequence[Grid]) -> bool:
    """Whether targets keep all that is not black and add lines: cells, but no square of four."""
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

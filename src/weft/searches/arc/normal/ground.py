"""The ground of a whole puzzle: the colour that is exchanged with black before a search.

Operators and features take black for empty. Where the ground of a puzzle has another colour, that
colour and black are exchanged in all grids, and programs and outputs are reported in the colours of
the puzzle again:

    puzzle ──► puzzle on black ground ──► search, evidence, verdict ──► in terms of the puzzle

An exchange loses nothing, so the puzzle is searched and judged as if it had come with black ground.
Where that explains nothing, a brief search of the puzzle as it is adds guesses.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from weft.model.values import canonical
from weft.searches.arc.normal.registry import FittedView
from weft.searches.arc.normal.view import BLACK, GroundBlack
from weft.searches.arc.symmetries import COLOURS
from weft.searches.arc.task import ArcTask

CLEAR = 2
"""How many times as many cells as any other colour the ground has, where black is a colour too."""
AS_IS = "as_is"
"""The field of a written task that is searched in its own colours."""
Counts = Sequence[Sequence[int]]
"""The cells of each colour, input by input."""


def as_it_is(task: ArcTask) -> bytes:
    """Write a task that no colour is to be exchanged in any more."""
    return canonical({**json.loads(task.canonical()), AS_IS: True}).encode()


def read_puzzle(data: bytes) -> tuple[ArcTask, FittedView | None]:
    """Read a task as it is searched, and the view that shows it so; None where it stays."""
    task = ArcTask.from_canonical(data)
    return (task, None) if AS_IS in json.loads(data) else on_black_ground(task)


def on_black_ground(task: ArcTask) -> tuple[ArcTask, FittedView | None]:
    """Return a task as it is searched, and the view that shows it so; None where it stays."""
    ground = ground_colour(task)
    if ground == BLACK:
        return task, None
    view = FittedView(GroundBlack.name, str(ground))
    return view.of(task), view


def ground_colour(task: ArcTask) -> int:
    """Return the colour to exchange with black; black where there is none.

    It is the commonest colour of every input, by far where the puzzle has black too. Where it has
    none, the commonest colour of most inputs is enough, if all have it.
    """
    inputs = [grid.cells for grid in (*(pair.input for pair in task.train), *task.test)]
    outputs = [pair.output.cells for pair in task.train]
    counts = [[cells.count(colour) for colour in range(COLOURS)] for cells in inputs]
    if any(BLACK in cells for cells in (*inputs, *outputs)):
        return _clear(counts)
    return _commonest(counts)


def _clear(counts: Counts) -> int:
    """The colour that is the commonest of every input by far; black if there is none."""
    ground = max(range(COLOURS), key=lambda colour: counts[0][colour])
    is_clear = all(
        own[ground] >= CLEAR * cells
        for own in counts
        for colour, cells in enumerate(own)
        if colour != ground
    )
    return ground if is_clear else BLACK


def _commonest(counts: Counts) -> int:
    """The commonest colour of most inputs that all have, then of all together, then the lowest."""
    shared = [colour for colour in range(COLOURS) if all(own[colour] for own in counts)]
    best = max(
        shared,
        key=lambda colour: (_led(counts, colour), sum(own[colour] for own in counts)),
        default=BLACK,
    )
    return best if 2 * _led(counts, best) > len(counts) else BLACK


def _led(counts: Counts, colour: int) -> int:
    """In how many inputs no colour has more cells."""
    return sum(own[colour] == max(own) for own in counts)

"""The background of a whole puzzle: the colour that is exchanged with black before a search.

Operators and features treat black as empty. If a puzzle has another background colour, that
colour and black are exchanged in all grids, and programs and outputs are reported in the puzzle's
own colours:

    puzzle ──► puzzle on black ──► search, evidence, verdict ──► in the puzzle's own colours

An exchange loses nothing, so the puzzle is searched and judged as if its background had been
black. If that explains nothing, a brief search of the puzzle as it is adds guesses.
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
"""Minimum ratio of background cells to cells of any other colour, if black is a colour too."""
AS_IS = "as_is"
"""Field of a serialised task that is searched in its own colours."""
Counts = Sequence[Sequence[int]]
"""The number of cells of each colour, for each input."""


def as_it_is(task: ArcTask) -> bytes:
    """Serialise a task in which no colours are to be exchanged."""
    return canonical({**json.loads(task.canonical()), AS_IS: True}).encode()


def read_puzzle(data: bytes) -> tuple[ArcTask, FittedView | None]:
    """Return the task to search, and the view that produces it; None if the task is unchanged."""
    task = ArcTask.from_canonical(data)
    return (task, None) if AS_IS in json.loads(data) else on_black_ground(task)


def searched_task(data: bytes) -> ArcTask:
    """Return the task to search, as `read_puzzle` does."""
    task, _ = read_puzzle(data)
    return task


def on_black_ground(task: ArcTask) -> tuple[ArcTask, FittedView | None]:
    """Return the task on black, and the view that produces it; None if the task is unchanged."""
    ground = ground_colour(task)
    if ground == BLACK:
        return task, None
    view = FittedView(GroundBlack.name, str(ground))
    return view.of(task), view


def ground_colour(task: ArcTask) -> int:
    """Return the colour to exchange with black; black if there is none.

    It must be the most common colour of every input, by far, if the puzzle contains black. If the
    puzzle has no black, it must be the most common colour of most inputs and occur in all of them.
    """
    inputs = [grid.cells for grid in (*(pair.input for pair in task.train), *task.test)]
    outputs = [pair.output.cells for pair in task.train]
    counts = [[cells.count(colour) for colour in range(COLOURS)] for cells in inputs]
    if any(BLACK in cells for cells in (*inputs, *outputs)):
        return _clear(counts)
    return _commonest(counts)


def _clear(counts: Counts) -> int:
    """Return the colour that is by far the most common in every input; black if there is none."""
    ground = max(range(COLOURS), key=lambda colour: counts[0][colour])
    is_clear = all(
        own[ground] >= CLEAR * cells
        for own in counts
        for colour, cells in enumerate(own)
        if colour != ground
    )
    return ground if is_clear else BLACK


def _commonest(counts: Counts) -> int:
    """Return the shared colour that is the most common in most inputs; black if there is none.

    Ties go to the colour with the larger total, then to the lowest.
    """
    shared = [colour for colour in range(COLOURS) if all(own[colour] for own in counts)]
    best = max(
        shared,
        key=lambda colour: (_led(counts, colour), sum(own[colour] for own in counts)),
        default=BLACK,
    )
    return best if 2 * _led(counts, best) > len(counts) else BLACK


def _led(counts: Counts, colour: int) -> int:
    """Return the number of inputs in which no colour has more cells."""
    return sum(own[colour] == max(own) for own in counts)

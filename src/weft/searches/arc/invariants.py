"""Likely invariants: properties that hold in all training pairs, and those that a test breaks.

    program, inputs ──► trace: input, each step's value, output
                    ──► properties of each value: small integers by name
                    ──► the constants and ranges of all training examples
                    ──► counts of those that a test example breaks, worst test first

A property with the same value in all training examples is a *constant*; otherwise the span of its
values is a *range*. A program that leaves them on a test extrapolates: it was never shown to be
right there. Input (novelty of the test), intermediate steps (behaviour of the program) and output
(plausibility of the answer) are counted separately. After Ernst et al., "Dynamically discovering
likely program invariants" (2001).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain

from weft.searches.arc.program import Program
from weft.searches.arc.refit import chain_values
from weft.searches.arc.symmetries import flipped, rotated_half, transposed
from weft.searches.arc.task import ArcTask
from weft.searches.arc.values import EMPTY, Grid, Piece, Value

Properties = Mapping[str, int]
SHARES = 8
"""Shares of a grid's cells are measured in eighths."""


@dataclass(frozen=True, slots=True)
class Extrapolation:
    """Counts of what the tests break: for each kind, those of the worst test."""

    input_constants: int = 0
    """Properties of inputs that are the same in all training pairs and differ in a test."""
    input_ranges: int = 0
    """Properties of inputs that vary in training and are outside the range in a test."""
    input_colours: int = 0
    """Colours of a test input that no training input has."""
    step_constants: int = 0
    step_ranges: int = 0
    output_constants: int = 0
    output_ranges: int = 0
    output_changes: int = 0
    """Colour changes (from one colour to another at a cell) that no training pair shows."""

    @property
    def total(self) -> int:
        """The number of properties that the program breaks, without the novelty of the input."""
        return (
            self.step_constants + self.step_ranges + self.output_constants
            + self.output_ranges + self.output_changes
        )  # fmt: skip


def extrapolation(task: ArcTask, program: Program, outputs: Sequence[Grid]) -> Extrapolation:
    """Count what the tests of a task break with a program that gives `outputs` for them."""
    return Extrapolation(*map(len, broken_names(task, program, outputs)))


def broken_names(
    task: ArcTask, program: Program, outputs: Sequence[Grid]
) -> tuple[Sequence[str], ...]:
    """Name what the worst test breaks, one list for each field of `Extrapolation`.

    What a test input itself breaks is not counted again for the steps and the output: on a larger
    input they are larger too, and a new colour leads to new colour changes.
    """
    invariants = OutputInvariants(task)
    trained, given = len(task.train), invariants.given
    steps = _step_properties(program, invariants.inputs)
    return (
        *_worst(given, trained, [[] for _ in task.test]),
        max(map(sorted, invariants.new_colours), key=len),
        *_worst(steps, trained, invariants.novel),
        *invariants.broken(outputs),
    )


class OutputInvariants:
    """The invariants of the training pairs' inputs and outputs; judges many answers to one task."""

    def __init__(self, task: ArcTask) -> None:
        trained = len(task.train)
        self.inputs = [*(pair.input for pair in task.train), *task.test]
        self.given = [grid_properties(grid) for grid in self.inputs]
        """Properties of every input, those of the tests last."""
        self.novel = [
            [*chain(*broken(self.given[:trained], test))] for test in self.given[trained:]
        ]
        """Names of the properties that each test input breaks."""
        self.new_colours = _new([{str(c) for c in grid.cells} for grid in self.inputs], trained)
        self._tests = task.test
        self._ends = [end_properties(pair.input, pair.output) for pair in task.train]
        self._changes = [_changes(pair.input, pair.output) for pair in task.train]

    def broken(self, outputs: Sequence[Grid]) -> tuple[list[str], list[str], list[str]]:
        """Name the constants, ranges and colour changes that the worst test output breaks."""
        trained, both = len(self._ends), list(zip(self._tests, outputs, strict=True))
        ends = [*self._ends, *(end_properties(*each) for each in both)]
        changes = _new([*self._changes, *(_changes(*each) for each in both)], trained)
        known = [
            {name for name in names if not new & set(name.split(" to "))}
            for names, new in zip(changes, self.new_colours, strict=True)
        ]
        return (*_worst(ends, trained, self.novel), max(map(sorted, known), key=len))


def _worst(
    examples: Sequence[Properties], trained: int, novel: Sequence[Sequence[str]]
) -> tuple[list[str], list[str]]:
    """Name the broken constants and the left ranges, each of the worst test.

    `novel` holds, for each test, the properties that its input breaks; they are not counted.
    """
    named = []
    for test, names in zip(examples[trained:], novel, strict=True):
        counted = {name: n for name, n in test.items() if name.split(".")[-1] not in names}
        named.append(broken(examples[:trained], counted))
    return max((c for c, _ in named), key=len), max((r for _, r in named), key=len)


def _new(examples: Sequence[set[str]], trained: int) -> list[set[str]]:
    """Return, for each test, the items that no training example has."""
    known = set().union(*examples[:trained])
    return [test - known for test in examples[trained:]]


def broken(training: Sequence[Properties], test: Properties) -> tuple[list[str], list[str]]:
    """Name the constants of the training examples that a test breaks, and the ranges it leaves.

    A property that some training example lacks is ignored.
    """
    constants, ranges = [], []
    for name, value in test.items():
        values = [example[name] for example in training if name in example]
        if len(values) < len(training):
            continue
        low, high = min(values), max(values)
        if low == high != value:
            constants.append(name)
        elif not low <= value <= high:
            ranges.append(name)
    return constants, ranges


# -- properties -----------------------------------------------------------------------------------


def _step_properties(program: Program, inputs: Sequence[Grid]) -> list[Properties]:
    """Return the properties of all intermediate values, one mapping per example."""
    viewed = inputs if program.view is None else program.view.each(inputs)
    steps = chain_values(program.names, viewed)
    inner = steps if program.fitted else steps[:-1]
    properties: list[dict[str, int]] = [{} for _ in inputs]
    for e, given in enumerate(viewed):
        before: Value = given
        for number, values in enumerate(inner):
            value = values[e]
            of_step = value_properties(value, before)
            properties[e].update(_prefixed(f"{number}.", of_step))
            before = value
    return list(properties)


def value_properties(value: Value, before: Value) -> dict[str, int]:
    """Return the properties of a step's value, given the value before it."""
    if isinstance(value, Grid):
        return {**grid_properties(value), "changed": int(value != before)}
    if isinstance(value, tuple):
        return {**_set_properties(value), "changed": int(value != before)}
    if isinstance(value, Piece):
        among = before if isinstance(before, tuple) else ()
        return {**_piece_properties(value), **_choice_properties(value, among)}
    return {"value": value}


def grid_properties(grid: Grid) -> dict[str, int]:
    """Return the properties of a single grid."""
    counts = Counter(grid.cells)
    ink = len(grid.cells) - counts[0]
    most = max(counts.values())
    return {
        "height": grid.height,
        "width": grid.width,
        "square": int(grid.height == grid.width),
        "colours": len(counts),
        "black": int(0 in counts),
        "black most": int(counts[0] == most),
        "tie": int(list(counts.values()).count(most) > 1),
        "ink": ink * SHARES // len(grid.cells),
        "mirrors": int(grid == flipped(grid)) + 2 * int(grid == flipped(rotated_half(grid))),
        "diagonal": int(grid == transposed(grid)),
        "parts": min(components(grid), 64),
    }


def end_properties(given: Grid, output: Grid) -> dict[str, int]:
    """Return the properties of an output and of its relation to the input."""
    own, new = set(given.cells), set(output.cells)
    properties = {
        f"output.{name}": value
        for name, value in grid_properties(output).items()
        if name not in ("black most", "tie")
    }
    properties |= {
        "same size": int(given.size == output.size),
        "taller": output.height - given.height,
        "wider": output.width - given.width,
        "times height": output.height * 60 // given.height,
        "times width": output.width * 60 // given.width,
        "new colours": len(new - own),
        "lost colours": len(own - new),
        "is input": int(given == output),
    }
    if given.size == output.size:
        changed = sum(a != b for a, b in zip(given.cells, output.cells, strict=True))
        is_kept = all(a in (0, b) for a, b in zip(given.cells, output.cells, strict=True))
        properties["changed share"] = changed * SHARES // len(given.cells)
        properties["ink kept"] = int(is_kept)
    return properties


def _set_properties(pieces: tuple[Piece, ...]) -> dict[str, int]:
    sizes = [_size(piece) for piece in pieces]
    return {
        "objects": len(pieces),
        "several": int(len(pieces) > 1),
        "one largest": int(sizes.count(max(sizes, default=0)) == 1),
        "one smallest": int(sizes.count(min(sizes, default=0)) == 1),
        "same size": int(len(set(sizes)) == 1),
        "same shape": int(len({_shape(piece) for piece in pieces}) == 1),
        "same colour": int(len({_colours(piece) for piece in pieces}) == 1),
    }


def _piece_properties(piece: Piece) -> dict[str, int]:
    return {
        "height": piece.height,
        "width": piece.width,
        "colours": len(_colours(piece)),
        "solid": int(EMPTY not in piece.cells),
    }


def _choice_properties(piece: Piece, among: tuple[Piece, ...]) -> dict[str, int]:
    """Return what sets a chosen object apart: each property is a possible reason for the choice."""
    if piece not in among:
        return {}
    sizes, own = [_size(each) for each in among], _size(piece)
    shapes, colours = [_shape(each) for each in among], [_colours(each) for each in among]
    place = among.index(piece)
    return {
        "largest": int(own == max(sizes)),
        "smallest": int(own == min(sizes)),
        "only size": int(sizes.count(own) == 1),
        "only shape": int(shapes.count(_shape(piece)) == 1),
        "only colour": int(colours.count(_colours(piece)) == 1),
        "first": int(place == 0),
        "last": int(place == len(among) - 1),
        "most colours": int(len(_colours(piece)) == max(map(len, colours))),
    }


def _size(piece: Piece) -> int:
    return len(piece.cells) - piece.cells.count(EMPTY)


def _shape(piece: Piece) -> tuple[int, int, bytes]:
    return piece.height, piece.width, bytes(cell == EMPTY for cell in piece.cells)


def _colours(piece: Piece) -> tuple[int, ...]:
    return tuple(sorted(set(piece.cells) - {EMPTY}))


def _changes(given: Grid, output: Grid) -> set[str]:
    """Return the colour changes at cells; none if the size changes."""
    if given.size != output.size:
        return set()
    return {f"{a} to {b}" for a, b in zip(given.cells, output.cells, strict=True) if a != b}


def components(grid: Grid) -> int:
    """Count the 8-connected components of one non-black colour each."""
    h, w, cells = grid.height, grid.width, grid.cells
    remaining = {i for i, cell in enumerate(cells) if cell}  # for membership only
    count = 0
    for start in range(h * w):
        if start not in remaining:
            continue
        count, colour, queue = count + 1, cells[start], [start]
        remaining.discard(start)
        while queue:
            r, c = divmod(queue.pop(), w)
            for y in range(max(0, r - 1), min(h, r + 2)):
                for x in range(max(0, c - 1), min(w, c + 2)):
                    i = y * w + x
                    if i in remaining and cells[i] == colour:
                        remaining.discard(i)
                        queue.append(i)
    return count


def _prefixed(prefix: str, properties: Mapping[str, int]) -> dict[str, int]:
    return {prefix + name: value for name, value in properties.items()}

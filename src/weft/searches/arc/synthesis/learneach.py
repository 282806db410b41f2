"""Learn one short program for all parts of a grid: rows, columns, parts between lines, objects.

    task ──► parts of all grids as pairs of a smaller task ──► a short search ──► each(…)

A task can be divided if its outputs differ from its inputs only in the parts, or consist of as many
equal parts as the inputs, or, for colours, have no other colours; if equal parts become equal
parts; and if there are more distinct parts than pairs. The programs are guesses, like decision
lists, and qualify as answers if every pair is predicted by the cheapest program learned without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from weft.searches.arc.fitted.each import (
    COLOURS,
    WAYS,
    Each,
    PartProgram,
    arranged,
    assembled,
    boxes_of,
    colours_of,
    cut,
    lattice_of,
    layer,
    overlaid,
    put_together,
)
from weft.searches.arc.fitted.each import parameters as each_parameters
from weft.searches.arc.fitted.registry import BY_NAME
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.learnlists import FEW_PAIRS, SHORT, cheapest
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Box, Grid, decode_grids, encode_grids

MOST_PARTS = 48
"""Most distinct parts of the training inputs; with more the search would not be short."""
Search = Callable[[ArcTask], Sequence[ProgramCandidate]]
"""A short search that returns the programs that are right on every pair of a task."""
Outputs = dict[Grid, Grid]


@dataclass(frozen=True, slots=True)
class Division:
    """A divided task: the output of each distinct part, and the parts of the tests."""

    way: str
    outputs: Outputs
    tests: tuple[tuple[Grid, tuple[Grid, ...]], ...]
    """Test inputs, each with its parts in order."""

    def task(self) -> ArcTask:
        """Return the smaller task: distinct parts as pairs, those of the tests as tests."""
        parts = dict.fromkeys(part for _, parts in self.tests for part in parts)
        return ArcTask("", tuple(map(Pair, self.outputs, self.outputs.values())), tuple(parts))

    def assembled(self, outputs: Outputs) -> list[Grid] | None:
        """Return the test outputs assembled from the outputs of parts; None if they do not fit."""
        grids = (
            _put_together(self.way, grid, [outputs[part] for part in parts])
            for grid, parts in self.tests
        )
        complete = [grid for grid in grids if grid is not None]
        return complete if len(complete) == len(self.tests) else None


def divide(pairs: Sequence[Pair], tests: Sequence[Grid], way: str) -> Division | None:
    """Divide a task; return None if it cannot be divided in this way."""
    outputs: Outputs = {}
    for pair in pairs:
        parts, expected = _parts(way, pair.input), _expected(way, pair)
        for part, output in zip(parts, expected, strict=False):
            if outputs.setdefault(part, output) != output:
                return None
        if not parts or len(parts) != len(expected) or len(outputs) > MOST_PARTS:
            return None
    divided = tuple((grid, _parts(way, grid)) for grid in tests)
    if len(outputs) <= len(pairs) or not all(parts for _, parts in divided):
        return None
    return Division(way, outputs, divided)


def _parts(way: str, grid: Grid) -> tuple[Grid, ...]:
    """Return the parts of a grid; empty if it cannot be divided in this way."""
    if way == COLOURS:
        return tuple(layer(grid, colour) for colour in colours_of(grid))
    return tuple(cut(grid, box) for box in boxes_of(way, grid) or ())


def _expected(way: str, pair: Pair) -> tuple[Grid, ...]:
    """Return the output of each part; empty if the pair's output is not assembled from them."""
    if way == COLOURS:
        colours = colours_of(pair.input)
        layers = tuple(layer(pair.output, colour) for colour in colours)
        return layers if overlaid(colours, layers) == pair.output else ()
    boxes = boxes_of(way, pair.input)
    parts = () if boxes is None else _cut_alike(pair, boxes)
    whole = assembled if pair.input.size == pair.output.size else _arranged
    return parts if boxes and parts and whole(pair.input, boxes, parts) == pair.output else ()


def _arranged(_: Grid, boxes: Sequence[Box], parts: Sequence[Grid]) -> Grid | None:
    return arranged(boxes, parts)


def _cut_alike(pair: Pair, boxes: Sequence[Box]) -> tuple[Grid, ...]:
    """Cut an output at the input's boxes, or, if its size differs, into as many equal parts."""
    if pair.input.size == pair.output.size:
        return tuple(cut(pair.output, box) for box in boxes)
    lattice = lattice_of(boxes)
    if lattice is None or pair.output.height % lattice[0] or pair.output.width % lattice[1]:
        return ()
    height, width = pair.output.height // lattice[0], pair.output.width // lattice[1]
    return tuple(
        cut(pair.output, Box(row * height, column * width, height, width))
        for row in range(lattice[0])
        for column in range(lattice[1])
    )


def _put_together(way: str, grid: Grid, parts: Sequence[Grid]) -> Grid | None:
    """Assemble the parts of a grid as the rule does."""
    if way == COLOURS:
        return overlaid(colours_of(grid), parts)
    return put_together(grid, boxes_of(way, grid) or (), parts)


def ways_of(task: ArcTask) -> tuple[str, ...]:
    """Return the ways to divide a task; of equal divisions, the first."""
    divisions: dict[tuple[tuple[Grid, ...], object], str] = {}
    for way in (*WAYS, COLOURS):
        division = divide(task.train, task.test, way)
        if division is not None:
            divisions.setdefault((tuple(division.outputs), division.tests), way)
    return tuple(divisions.values())


def learn_each(task: ArcTask, way: str, search: Search) -> tuple[ProgramCandidate, ...]:
    """Return the cheapest programs for the parts of a task, divided in one way."""
    return cheapest(_learned(task, way, search))


def _learned(task: ArcTask, way: str, search: Search) -> Iterator[ProgramCandidate]:
    loo_passed: int | None = None
    for candidate in _programs(task.train, task.test, way, search):
        if loo_passed is None and len(task.train) > FEW_PAIRS and candidate.millibits <= SHORT:
            loo_passed = len(task.train) if _loo_passes(task, way, search) else 0
        yield replace(candidate, loo_passed=loo_passed)


def _programs(
    pairs: Sequence[Pair], tests: Sequence[Grid], way: str, search: Search
) -> Iterator[ProgramCandidate]:
    """Yield the programs of a short search, cheapest first, as programs for the whole grid."""
    division = divide(pairs, tests, way)
    if division is None:
        return
    part_task = division.task()
    for candidate in sorted(search(part_task), key=lambda c: (c.millibits, c.program.text())):
        own = candidate.program
        outputs = dict(zip(part_task.test, decode_grids(candidate.outputs), strict=True))
        grids = division.assembled(outputs)
        if grids is None or own.fitted not in ("", *_rules()):
            continue
        part_program = PartProgram(own.names, own.fitted, own.parameters)
        program = Program((), Each.name, each_parameters(way, part_program))
        yield replace(
            candidate, program=program, millibits=program.millibits(), outputs=encode_grids(grids)
        )


def _rules() -> Sequence[str]:
    rule = BY_NAME[Each.name]
    assert isinstance(rule, Each)
    return tuple(rule.rules)


def _loo_passes(task: ArcTask, way: str, search: Search) -> bool:
    """Whether every pair is predicted by the cheapest program learned without it."""
    return all(_predicts(task, left, way, search) for left in range(len(task.train)))


def _predicts(task: ArcTask, left: int, way: str, search: Search) -> bool:
    others = [pair for n, pair in enumerate(task.train) if n != left]
    pair = task.train[left]
    best = next(_programs(others, [pair.input], way, search), None)
    return best is not None and decode_grids(best.outputs) == (pair.output,)

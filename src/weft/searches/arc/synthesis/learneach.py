"""Learn one short program for every part of a grid: rows, columns, parts between lines, objects.

    task ──► parts of all grids as pairs of a smaller task ──► a short search ──► each(…)

A task can be divided if its outputs are as large as its inputs and differ only in the parts, if
equal parts become equal ones, and if there are more different parts than pairs. The programs are
guesses, as decision lists are, and may answer if every pair is predicted by the cheapest program
learned without it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from weft.searches.arc.fitted.each import WAYS, Each, PartProgram, assembled, boxes_of, cut
from weft.searches.arc.fitted.each import parameters as each_parameters
from weft.searches.arc.fitted.registry import BY_NAME
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.learnlists import FEW_PAIRS, SHORT, cheapest
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.task import ArcTask, Pair
from weft.searches.arc.values import Box, Grid, decode_grids, encode_grids

MOST_PARTS = 48
"""Different parts of the training inputs; with more the search would not be short."""
Search = Callable[[ArcTask], Sequence[ProgramCandidate]]
"""A short search: the programs that are right on every pair of a task."""
Outputs = dict[Grid, Grid]


@dataclass(frozen=True, slots=True)
class Division:
    """A task divided: what becomes of each different part, and the boxes of the tests."""

    way: str
    outputs: Outputs
    tests: tuple[tuple[Grid, tuple[Box, ...]], ...]

    def task(self) -> ArcTask:
        """Return the smaller task: different parts as pairs, those of the tests as tests."""
        parts = dict.fromkeys(cut(grid, box) for grid, boxes in self.tests for box in boxes)
        return ArcTask("", tuple(map(Pair, self.outputs, self.outputs.values())), tuple(parts))

    def assembled(self, outputs: Outputs) -> list[Grid] | None:
        """Put the parts of the tests together; None where they do not fit."""
        grids = (
            assembled(grid, boxes, [outputs[cut(grid, box)] for box in boxes])
            for grid, boxes in self.tests
        )
        complete = [grid for grid in grids if grid is not None]
        return complete if len(complete) == len(self.tests) else None


def divide(pairs: Sequence[Pair], tests: Sequence[Grid], way: str) -> Division | None:
    """Divide a task, if it can be."""
    outputs: Outputs = {}
    for pair in pairs:
        if pair.input.size != pair.output.size:
            return None
        boxes = boxes_of(way, pair.input)
        if boxes is None or _differs_elsewhere(pair, boxes):
            return None
        for box in boxes:
            expected = cut(pair.output, box)
            if outputs.setdefault(cut(pair.input, box), expected) != expected:
                return None
    if not len(pairs) < len(outputs) <= MOST_PARTS:
        return None
    divided = [(grid, boxes_of(way, grid)) for grid in tests]
    known = tuple((grid, boxes) for grid, boxes in divided if boxes is not None)
    return Division(way, outputs, known) if len(known) == len(tests) else None


def _differs_elsewhere(pair: Pair, boxes: Sequence[Box]) -> bool:
    """Whether input and output differ outside the boxes."""
    return assembled(pair.input, boxes, [cut(pair.output, box) for box in boxes]) != pair.output


def ways_of(task: ArcTask) -> tuple[str, ...]:
    """Return the ways to divide a task; of those that divide it alike, the first."""
    divisions: dict[tuple[tuple[Grid, ...], object], str] = {}
    for way in WAYS:
        division = divide(task.train, task.test, way)
        if division is not None:
            divisions.setdefault((tuple(division.outputs), division.tests), way)
    return tuple(divisions.values())


def learn_each(task: ArcTask, way: str, search: Search) -> tuple[ProgramCandidate, ...]:
    """Return the cheapest programs for the parts of a task that can be divided so."""
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
    """The programs of a short search, cheapest first, as programs for the whole grid."""
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

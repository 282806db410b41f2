"""Which object the targets are: criteria that tell it in every training pair.

Every way to cut a grid is tried on the cheapest grids of a phase. Where each target is one of the
objects, criteria are sought that tell it from the others. Many often do, so they are guesses, as
lists are. They may answer if most of those sought without a pair tell it, for every pair.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from weft.arc.fitted.choose import (
    AS,
    CUTS,
    Choose,
    Criterion,
    criteria,
    cut,
    measured_of,
    parameters,
    returned,
)
from weft.arc.program import Program
from weft.arc.search.loom import encoded, grids_of
from weft.arc.search.space import GRID, Candidate, Space
from weft.arc.values import Grid, Piece

VECTORS = 8
"""Grids that are cut, the cheapest."""
MOST = 24
"""Programs kept."""


@dataclass(frozen=True, slots=True)
class _Sets:
    """The objects that a cut makes of every example, measured, and which are the targets."""

    objects: Sequence[Sequence[Piece]]
    measured: Sequence[dict[str, list[int]]]
    targets: Sequence[Sequence[int]]


def choices(space: Space) -> list[Candidate]:
    """Return the cheapest programs that choose an object, where the targets are objects."""
    problem = space.problem
    if any(_is_as_large(given, wanted) for given, wanted in problem.pairs()):
        return []
    nodes = [n for n, node in enumerate(space.nodes) if node.stage == GRID]
    cheapest = sorted(nodes, key=lambda n: (space.nodes[n].millibits, n))[:VECTORS]
    found = [made for n in cheapest for name in CUTS for made in _chosen(space, n, name)]
    found.sort(key=lambda one: (one.millibits, one.program.text()))
    return found[:MOST]


def _chosen(space: Space, node: int, name: str) -> Iterator[Candidate]:
    """Programs that cut one vector in one way."""
    problem, chain = space.problem, space.program_of(node)
    objects = [cut(name, grid) for grid in grids_of(space.nodes[node])]
    for how in AS:
        sets = _sets(problem.inputs, problem.targets_plain, objects, how)
        if sets is None:
            continue
        asked: int | None = None
        for criterion in _fitting(sets, range(problem.train)):
            outputs = _outputs(sets, criterion, problem.inputs, problem.train, how)
            if outputs is None:
                continue
            if asked is None:
                asked = problem.train if _foretells(sets, problem.train) else 0
            program = Program(chain, Choose.name, parameters(name, how, criterion))
            yield Candidate(program, program.millibits(), outputs, space.counts.programs, asked)


def _sets(
    inputs: Sequence[Grid], wanted: Sequence[Grid], objects: Sequence[tuple[Piece, ...]], how: str
) -> _Sets | None:
    """Measure the objects, if each target is among its own, and not alone."""
    targets = []
    for pieces, given, target in zip(objects, inputs, wanted, strict=False):
        targets.append([n for n, one in enumerate(pieces) if _is(one, given, target, how)])
        if len(pieces) < 2 or not targets[-1]:
            return None
    measured = [measured_of(pieces, given) for pieces, given in zip(objects, inputs, strict=True)]
    known = [one for one in measured if one is not None]
    return _Sets(objects, known, targets) if len(known) == len(measured) else None


def _is(piece: Piece, given: Grid, target: Grid, how: str) -> bool:
    same_size = (piece.height, piece.width) == (target.height, target.width)
    return same_size and returned(piece, given, how) == target


def _fitting(sets: _Sets, pairs: Sequence[int]) -> Iterator[Criterion]:
    """Criteria that tell the targets of some pairs."""
    for criterion in criteria([sets.measured[pair] for pair in pairs]):
        if all(criterion.chosen(sets.measured[pair]) in sets.targets[pair] for pair in pairs):
            yield criterion


def _foretells(sets: _Sets, train: int) -> bool:
    """Whether most criteria that tell all other pairs tell a pair's target too, for each pair."""
    return train > 1 and all(_tells(sets, train, left) for left in range(train))


def _tells(sets: _Sets, train: int, left: int) -> bool:
    others = [pair for pair in range(train) if pair != left]
    told = [one.chosen(sets.measured[left]) for one in _fitting(sets, others)]
    right = sum(place in sets.targets[left] for place in told)
    return 2 * right > sum(place is not None for place in told)


def _outputs(
    sets: _Sets, criterion: Criterion, inputs: Sequence[Grid], train: int, how: str
) -> bytes | None:
    """The objects chosen in the tests, encoded; None where one is not told."""
    outputs = []
    for example in range(train, len(inputs)):
        place = criterion.chosen(sets.measured[example]) if sets.objects[example] else None
        piece = None if place is None else sets.objects[example][place]
        grid = None if piece is None else returned(piece, inputs[example], how)
        if grid is None:
            return None
        outputs.append(grid)
    return encoded(outputs)


def _is_as_large(given: Grid, wanted: Grid) -> bool:
    return (given.height, given.width) == (wanted.height, wanted.width)

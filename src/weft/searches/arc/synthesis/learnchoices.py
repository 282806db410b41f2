"""Learn which object each target is: criteria that select it in every training pair.

Every segmentation is tried on the cheapest grids of a phase. If each target is one of the objects,
the criteria that select it are collected. There are often many, so they are guesses, like decision
lists. They qualify as answers if they pass leave-one-out cross-validation: for every pair, most
criteria learned without it select its target.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from weft.searches.arc.fitted import choose
from weft.searches.arc.fitted.choose import Choose, Criterion
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learnarranged import learn_arrangements
from weft.searches.arc.synthesis.learncharts import learn_charts
from weft.searches.arc.synthesis.learncycles import learn_cycles
from weft.searches.arc.synthesis.learnextended import learn_extensions
from weft.searches.arc.synthesis.learninlays import learn_inlays
from weft.searches.arc.synthesis.learnkeyblocks import learn_key_blocks
from weft.searches.arc.synthesis.learnoverviews import learn_overviews
from weft.searches.arc.synthesis.learnproposed import PAINTING, REPEATING, RESIZING, learn_proposed
from weft.searches.arc.synthesis.learntables import learn_tables
from weft.searches.arc.synthesis.sample import SEGMENTED, GridVector, VectorSample
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.values import Grid, Piece, decode_grids, encode_grids

MOST = 24
"""Most programs kept."""


@dataclass(frozen=True, slots=True)
class _Sets:
    """The objects of every example with their measures, and which of them equal the target."""

    objects: Sequence[Sequence[Piece]]
    measured: Sequence[dict[str, list[int]]]
    targets: Sequence[Sequence[int]]


def learn_choices(
    problem: EncodedTask, sample: VectorSample, start: int = 0, end: int | None = None
) -> tuple[ProgramCandidate, ...]:
    """Return the cheapest programs learned from a range of the sample's segmented vectors."""
    return cheapest(
        candidate
        for vector in sample.segmented[start:end]
        for candidate in _learned(problem, sample, vector)
    )


def _learned(
    problem: EncodedTask, sample: VectorSample, vector: GridVector
) -> Iterator[ProgramCandidate]:
    """Yield the programs learned from one vector, of all kinds that the sizes allow.

    If the vector is the first base, tables, cycles and key blocks. If some target has another size
    than its input, inlays, and from the first vectors charts, overviews, arrangements, extensions
    and proposed rules; if all have, also choices.
    """
    if vector in sample.bases[:1]:
        yield from learn_tables(problem, vector, sample.time)
        yield from learn_cycles(problem, vector, sample.time)
        yield from learn_key_blocks(problem, vector, sample.time)
    same = [given.size == expected.size for given, expected in problem.pairs()]
    if not all(same):
        yield from learn_inlays(problem, sample, vector)
    if all(same) or vector not in sample.segmented[:SEGMENTED]:
        return
    for name in () if any(same) else choose.SEGMENTATIONS:
        yield from _chosen(problem, sample, vector, name)
    yield from learn_charts(problem, sample, vector)
    yield from learn_overviews(problem, sample, vector)
    if not vector.chain:
        yield from learn_arrangements(problem, sample, vector)
    yield from learn_extensions(problem, sample, vector)
    yield from learn_proposed(problem, vector, RESIZING, sample.time)
    if not vector.chain:
        for tile in sample.tiles:
            yield from learn_proposed(problem, tile, REPEATING, sample.time)
        for source in sample.sources:
            yield from learn_proposed(problem, source, PAINTING, sample.time)


def cheapest(candidates: Iterable[ProgramCandidate]) -> tuple[ProgramCandidate, ...]:
    """Return the cheapest candidates."""
    ordered = sorted(candidates, key=lambda c: (c.millibits, c.program.text()))
    return tuple(ordered[:MOST])


def _chosen(
    problem: EncodedTask, sample: VectorSample, vector: GridVector, name: str
) -> Iterator[ProgramCandidate]:
    """Yield the choices from one vector with one segmentation."""
    grids = decode_grids(vector.content)
    for how in choose.AS:
        sets = _sets(problem, grids, name, how)
        if sets is None:
            continue
        loo_passed: int | None = None
        for criterion in _fitting(sets, range(problem.train)):
            outputs = _outputs(sets, criterion, problem.inputs, problem.train, how)
            if outputs is None:
                continue
            if loo_passed is None:
                loo_passed = problem.train if _loo_passes(sets, problem.train) else 0
            program = Program(vector.chain, Choose.name, choose.parameters(name, how, criterion))
            yield ProgramCandidate(program, program.millibits(), outputs, sample.time, loo_passed)


def _sets(problem: EncodedTask, grids: Sequence[Grid], name: str, how: str) -> _Sets | None:
    """Segment grids and measure the objects; None unless each target is one of several objects."""
    inputs, targets = problem.inputs, []
    for grid, given, target in zip(grids, inputs, problem.targets_plain, strict=False):
        pieces = choose.segment(name, grid)
        targets.append([n for n, piece in enumerate(pieces) if _is(piece, given, target, how)])
        if len(pieces) < 2 or not targets[-1]:
            return None
    objects = [choose.segment(name, grid) for grid in grids]
    measured = [
        choose.compared(pieces, given) for pieces, given in zip(objects, inputs, strict=True)
    ]
    known = [piece for piece in measured if piece is not None]
    return _Sets(objects, known, targets) if len(known) == len(measured) else None


def _is(piece: Piece, given: Grid, target: Grid, how: str) -> bool:
    return (piece.height, piece.width) == target.size and choose.returned(
        piece, given, how
    ) == target


def _fitting(sets: _Sets, pairs: Sequence[int]) -> Iterator[Criterion]:
    """Yield the criteria that select the targets of the given pairs."""
    for criterion in choose.criteria([sets.measured[pair] for pair in pairs]):
        if all(criterion.chosen(sets.measured[pair]) in sets.targets[pair] for pair in pairs):
            yield criterion


def _loo_passes(sets: _Sets, train: int) -> bool:
    """Whether, for each pair, most criteria that fit all other pairs also select its target."""
    return train > 1 and all(_predicts(sets, train, left) for left in range(train))


def _predicts(sets: _Sets, train: int, left: int) -> bool:
    others = [pair for pair in range(train) if pair != left]
    choices = [criterion.chosen(sets.measured[left]) for criterion in _fitting(sets, others)]
    right = sum(place in sets.targets[left] for place in choices)
    return 2 * right > sum(place is not None for place in choices)


def _outputs(
    sets: _Sets, criterion: Criterion, inputs: Sequence[Grid], train: int, how: str
) -> bytes | None:
    """Return the objects chosen in the tests, encoded; None if some test has none."""
    outputs = []
    for example in range(train, len(inputs)):
        place = criterion.chosen(sets.measured[example]) if sets.objects[example] else None
        piece = None if place is None else sets.objects[example][place]
        grid = None if piece is None else choose.returned(piece, inputs[example], how)
        if grid is None:
            return None
        outputs.append(grid)
    return encode_grids(outputs)

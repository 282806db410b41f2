"""Compose what a phase reached: decision lists over the vectors as large as the targets.

A list begins with one vector, its base: the input where that has the right size, else or besides
those nearest to the targets; or, where no program is found, with a canvas: the input laid on a
grid of the size that formulas foretell. It may ask and copy the features of the base's cells, and
those of the cheapest other vectors. What is found is right on every training pair but was chosen
among very many, so it is a guess; it fills the second attempt of solved tasks. Where no program is
found, lists that are short enough are learned again without each pair: those that foretell them
all may answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from weft.arc.fitted.celllist import BEFORE, Cells, OnCanvas
from weft.arc.fitted.rule import BASE
from weft.arc.lists.canvas import is_steady, supposed
from weft.arc.lists.cells import UNDECIDED, CellList, source_of
from weft.arc.lists.features import U8, features_of
from weft.arc.lists.foretell import foretells
from weft.arc.lists.learn import Lesson, learn
from weft.arc.lists.words import NAMES
from weft.arc.ops.operator import BIT
from weft.arc.program import Program
from weft.arc.search.problem import Problem
from weft.arc.search.space import GRID, Candidate, Node, Space
from weft.arc.values import Grid, Stage, decode, encode

BASES = 3
CANVASES = 6
"""Sizes with ways to lay the input that are tried, the cheapest."""
VECTORS = 300
"""Other vectors that a list may use."""
MOST = 4
"""Lists kept."""
SHORT = 70 * BIT
"""Longer lists are never believed, so nobody asks what they foretell."""
FEW_PAIRS = 2
"""With so few, leaving one out leaves one, and of one pair any list can be learned."""


@dataclass(frozen=True, slots=True)
class _Base:
    """What a list begins with: grids as large as the targets, and their cells' features."""

    grids: Sequence[Grid]
    columns: dict[str, U8]
    chain: tuple[str, ...]
    rule: str
    before: str
    """What the parameters say before the list."""
    millibits: int
    is_steady: bool = True
    """Whether the size is told by the other pairs when any one is left out."""


def weave(space: Space) -> list[Candidate]:
    """Learn lists over a space's vectors; return the cheapest, one for each result."""
    fitting = [
        n for n, node in enumerate(space.nodes) if node.stage == GRID and node.shape_loss == 0
    ]
    found = [made for base in _bases(space, fitting) for made in _from(space, base, fitting)]
    first: dict[bytes, Candidate] = {}
    for made in sorted(found, key=lambda one: (one.millibits, one.program.text())):
        first.setdefault(made.outputs, made)
    return list(first.values())[:MOST]


def _bases(space: Space, fitting: Sequence[int]) -> Iterator[_Base]:
    """The input, if it fits, then the vectors nearest to the targets; then canvases."""
    ranked = sorted(fitting, key=lambda n: (n != 0, space.priority(n)))
    for n in ranked[:BASES]:
        grids = _grids(space.nodes[n])
        columns = dict(zip(NAMES, np.hstack([features_of(grid) for grid in grids]), strict=True))
        yield _Base(
            grids, columns, space.program_of(n), Cells.name, "", space.nodes[n].millibits + BASE
        )
    if not space.candidates:
        yield from _canvases(space.problem)


def _canvases(problem: Problem) -> Iterator[_Base]:
    """Where outputs are not as large as their inputs: what lists can be laid on, cheapest first."""
    if all(_size(a) == _size(b) for a, b in problem.pairs()):
        return
    inputs, wanted = problem.inputs, problem.targets_plain
    steady = is_steady(inputs[: problem.train], wanted)
    for own in supposed(inputs, wanted, CANVASES):
        told = [(own.base(grid), own.columns(grid)) for grid in inputs]
        grids = [base for base, _ in told if base is not None]
        each = [columns for _, columns in told if columns is not None]
        if len(grids) == len(each) == len(inputs):
            columns = {name: np.concatenate([one[name] for one in each]) for name in each[0]}
            before = own.text() + BEFORE
            yield _Base(grids, columns, (), OnCanvas.name, before, BASE + own.millibits, steady)


def _from(space: Space, base: _Base, fitting: Sequence[int]) -> Iterator[Candidate]:
    """All lists found that begin with a base."""
    problem = space.problem
    sizes = [_size(grid) for grid in base.grids]
    columns = dict(base.columns)
    for n in sorted(fitting, key=lambda n: (space.nodes[n].millibits, n))[:VECTORS]:
        others, chain = _grids(space.nodes[n]), space.program_of(n)
        if (base.before or chain != base.chain) and [_size(grid) for grid in others] == sizes:
            columns.setdefault(source_of(chain), _cells(others))
    wanted = _cells(problem.targets_plain)
    known = {source: column[: len(wanted)] for source, column in columns.items()}
    pair = np.repeat(np.arange(problem.train), [len(t.cells) for t in problem.targets_plain])
    lesson = Lesson(known, wanted, pair.astype(np.uint8))
    tests = {source: column[len(wanted) :] for source, column in columns.items()}
    asked: int | None = None
    for found in learn(lesson):
        outputs = _outputs(found, tests, base.grids[problem.train :])
        if outputs is not None:
            program = Program(base.chain, base.rule, base.before + found.text())
            cost = base.millibits + found.millibits
            if asked is None and cost <= SHORT and _may_answer(space):
                asked = problem.train if base.is_steady and foretells(lesson) else 0
            yield Candidate(program, cost, outputs, space.counts.programs, asked)


def _may_answer(space: Space) -> bool:
    """Whether a list could be the answer: no program is, and there are pairs enough to lack one."""
    return space.problem.train > FEW_PAIRS and not space.candidates


def _outputs(found: CellList, columns: dict[str, U8], tests: Sequence[Grid]) -> bytes | None:
    """What a list makes of the tests, encoded; None where it does not say."""
    cells = sum(len(grid.cells) for grid in tests)
    decided = found.decide(columns.__getitem__, cells).tobytes()
    if UNDECIDED in decided:
        return None
    encoded, at = b"", 0
    for grid in tests:
        end = at + len(grid.cells)
        encoded += encode(Stage.GRID, Grid(grid.height, grid.width, decided[at:end]))
        at = end
    return encoded


def _size(grid: Grid) -> tuple[int, int]:
    return grid.height, grid.width


def _grids(node: Node) -> list[Grid]:
    grids = []
    for start in (0, *node.ends[:-1]):
        grid, _ = decode(Stage.GRID, node.content, start)
        assert isinstance(grid, Grid)
        grids.append(grid)
    return grids


def _cells(grids: Sequence[Grid]) -> U8:
    return np.frombuffer(b"".join(grid.cells for grid in grids), np.uint8)

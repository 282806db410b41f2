"""Compose what a phase reached: decision lists over the vectors as large as the targets.

    plain     one list on any base
    scanned   one list that makes the grid cell by cell and sees what it made
    layered   two lists, the second on what the beginning of another one made

The last two are tried where no program is found, on the first base, and not in views. What is
found is right on every training pair but was chosen among very many, so it is a guess; it fills
the second attempt of solved tasks. Where no program is found, lists that are short enough are
learned again without each pair: those that foretell them all may answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from weft.arc.fitted.celllist import BEFORE, THEN, Layered, Scanned
from weft.arc.lists.cells import UNDECIDED, CellList
from weft.arc.lists.features import U8
from weft.arc.lists.foretell import foretells
from weft.arc.lists.learn import MAX_MILLIBITS, beginnings, learn
from weft.arc.lists.scan import CORNERS, PRICE, made_of, scan
from weft.arc.lists.words import MADE
from weft.arc.ops.operator import BIT
from weft.arc.program import Program
from weft.arc.search.loom import Columns, Loom, encoded, looms, split
from weft.arc.search.space import Candidate, Space

MOST = 6
"""Results kept, the cheapest."""
AGREEING = 4
"""Lists kept of each result."""
SHORT = 70 * BIT
"""Longer lists are never believed, so nobody asks what they foretell."""
FEW_PAIRS = 2
"""With so few, leaving one out leaves one, and of one pair any list can be learned."""


def weave(space: Space, *, plain: bool = False) -> list[Candidate]:
    """Learn lists over a space's vectors, or `plain` ones only; return the cheapest."""
    found: list[Candidate] = []
    for n, loom in enumerate(looms(space)):
        found += _plain(space, loom)
        if n == 0 and not plain and _wants_more(space, loom, found):
            found += _scanned(space, loom)
            found += _layered(space, loom)
    kept: dict[bytes, list[Candidate]] = {}
    for made in sorted(found, key=lambda one: (one.millibits, one.program.text())):
        if made.outputs in kept or len(kept) < MOST:
            kept.setdefault(made.outputs, []).append(made)
    return [one for agreeing in kept.values() for one in agreeing[:AGREEING]]


def _wants_more(space: Space, loom: Loom, found: Sequence[Candidate]) -> bool:
    """Whether neither a program nor a plain list may answer; canvases bear plain lists alone."""
    told = any(one.foretold for one in found)
    return not (space.candidates or loom.base.before or told)


def _plain(space: Space, loom: Loom) -> Iterator[Candidate]:
    """All lists found on a base."""
    base, lesson, tests = loom.base, loom.lesson(), loom.test_columns()
    asked: int | None = None
    for found in learn(lesson):
        decided = found.decide(tests.__getitem__, sum(len(grid.cells) for grid in loom.tests))
        program = Program(base.chain, base.rule, base.before + found.text())
        cost = base.millibits + found.millibits
        if asked is None and cost <= SHORT and _may_answer(space):
            asked = loom.problem.train if base.is_steady and foretells(lesson) else 0
        yield from _candidates(space, loom, program, cost, decided, asked)


def _scanned(space: Space, loom: Loom) -> Iterator[Candidate]:
    """Lists that see what they made, from each corner; those that do not look are left out."""
    base, tests = loom.base, loom.test_columns()
    for corner in CORNERS:
        each = [made_of(grid, corner) for grid in loom.problem.targets_plain]
        lesson = loom.lesson({name: np.concatenate([one[name] for one in each]) for name in MADE})
        asked: int | None = None
        for found in learn(lesson):
            if not any(source in MADE for source in found.sources()):
                continue
            decided = _scan(found, loom, tests, corner)
            program = Program(base.chain, Scanned.name, f"{corner}{BEFORE}{found.text()}")
            cost = base.millibits + PRICE + found.millibits
            if asked is None and cost <= SHORT and _may_answer(space):
                asked = loom.problem.train if foretells(lesson) else 0
            yield from _candidates(space, loom, program, cost, decided, asked)


def _layered(space: Space, loom: Loom) -> Iterator[Candidate]:
    """Lists on what the beginnings of lists made; each beginning's result is taken once."""
    base, lesson = loom.base, loom.lesson()
    every = sum(len(grid.cells) for grid in base.grids)
    tried = {lesson.wanted.tobytes()}
    for first in beginnings(lesson):
        made = first.decide(loom.columns.__getitem__, every)
        if UNDECIDED in made or made[: loom.trained].tobytes() in tried:
            continue
        tried.add(made[: loom.trained].tobytes())
        upper = loom.above(split(made, base.grids))
        tests = upper.test_columns()
        for second in learn(upper.lesson(), MAX_MILLIBITS - first.millibits):
            decided = second.decide(tests.__getitem__, every - loom.trained)
            program = Program(base.chain, Layered.name, first.text() + THEN + second.text())
            cost = base.millibits + first.millibits + second.millibits
            yield from _candidates(space, loom, program, cost, decided, None)


def _scan(found: CellList, loom: Loom, columns: Columns, corner: str) -> U8:
    """What a list makes of the tests, one behind the other."""
    parts, at = [], 0
    for grid in loom.tests:
        end = at + len(grid.cells)
        own = {source: column[at:end] for source, column in columns.items()}
        parts.append(scan(found, own, (grid.height, grid.width), corner))
        at = end
    return np.concatenate(parts)


def _candidates(
    space: Space, loom: Loom, program: Program, cost: int, decided: U8, foretold: int | None
) -> Iterator[Candidate]:
    """One candidate, or none where the program does not say what becomes of the tests."""
    if UNDECIDED not in decided:
        outputs = encoded(split(decided, loom.tests))
        yield Candidate(program, cost, outputs, space.counts.programs, foretold)


def _may_answer(space: Space) -> bool:
    """Whether a list could be the answer: no program is, and there are pairs enough to lack one."""
    return space.problem.train > FEW_PAIRS and not space.candidates

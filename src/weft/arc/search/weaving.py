"""Compose what a phase reached: decision lists over the vectors as large as the targets.

    plain     one list on any base
    scanned   one list that makes the grid cell by cell and sees what it made
    layered   two lists, the second on what the beginning of another one made

The last two are tried where no program is found, and not in views. What is
found is right on every training pair but was chosen among very many, so it is a guess; it fills
the second attempt of solved tasks. Where no program is found, lists that are short enough are
learned again without each pair: those that foretell them all may answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.arc.fitted.celllist import THEN, Layered, Scanned
from weft.arc.lists.cells import UNDECIDED, CellList
from weft.arc.lists.features import U8
from weft.arc.lists.foretell import foretells
from weft.arc.lists.learn import MAX_MILLIBITS, beginnings, learn
from weft.arc.lists.scan import CORNERS, OPPOSITE, Layer
from weft.arc.ops.operator import BIT
from weft.arc.program import Program
from weft.arc.search.loom import Loom, encoded, looms, size, split
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
    for loom in looms(space):
        found += _lists(space, loom)
        if not plain and _wants_more(space, loom, found):
            found += [made for corner in CORNERS for made in _lists(space, loom, corner)]
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


def _lists(space: Space, loom: Loom, corner: str = "") -> Iterator[Candidate]:
    """All lists found on a base; from a corner, those that look at what they make."""
    base, lesson, tests = loom.base, loom.lesson(corner), loom.test_columns()
    rule = Scanned.name if corner else base.rule
    asked: int | None = None
    for layer in _layers(learn(lesson), corner):
        cost = base.millibits + layer.millibits
        if asked is None and cost <= SHORT and _may_answer(space):
            asked = loom.problem.train if base.is_steady and foretells(lesson) else 0
        program = Program(base.chain, rule, base.before + layer.text())
        decided = layer.decide(tests, [size(grid) for grid in loom.tests])
        yield from _candidates(space, loom, program, cost, decided, asked)


def _layered(space: Space, loom: Loom) -> Iterator[Candidate]:
    """Lists on what the beginnings of lists made; each beginning's result is taken once.

    Above a scan there is a plain list, or a scan from the opposite corner.
    """
    base, tried = loom.base, {loom.lesson().wanted.tobytes()}
    for corner in ("", *CORNERS):
        for first in _layers(beginnings(loom.lesson(corner)), corner):
            made = first.decide(loom.columns, [size(grid) for grid in base.grids])
            if UNDECIDED in made or made[: loom.trained].tobytes() in tried:
                continue
            tried.add(made[: loom.trained].tobytes())
            upper = loom.above(split(made, base.grids))
            for above in ("", OPPOSITE[corner]) if corner else ("",):
                yield from _above(space, upper, first, above)


def _above(space: Space, loom: Loom, first: Layer, corner: str) -> Iterator[Candidate]:
    """Second layers."""
    base, tests = loom.base, loom.test_columns()
    for second in _layers(learn(loom.lesson(corner), MAX_MILLIBITS - first.millibits), corner):
        cost = base.millibits + first.millibits + second.millibits
        program = Program(base.chain, Layered.name, first.text() + THEN + second.text())
        decided = second.decide(tests, [size(grid) for grid in loom.tests])
        yield from _candidates(space, loom, program, cost, decided, None)


def _layers(lists: Sequence[CellList], corner: str) -> list[Layer]:
    """Lists as layers, without those that could do without their corner."""
    return [layer for layer in (Layer(corner, found) for found in lists) if layer.is_own]


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

"""Decision-list learning over the vectors of a phase that are as large as the targets.

    plain     one list on any base
    scanned   one list that fills the grid cell by cell and reads the cells it has filled
    layered   two lists, the second on the output of an unfinished first one

The last two are tried where no program is found, and not in views. A learned list is right on
every training pair but was chosen among very many, so it is a guess; it fills the second attempt
of solved tasks. Where no program is found, lists that are short enough are cross-validated
(leave-one-out): those that predict every pair may answer.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from weft.searches.arc.fitted.celllist import THEN, Layered, Scanned
from weft.searches.arc.lists.cells import UNDECIDED, CellList
from weft.searches.arc.lists.features import U8
from weft.searches.arc.lists.learn import MAX_MILLIBITS, beginnings, learn, loo_passes
from weft.searches.arc.lists.scan import CORNERS, OPPOSITE, Layer
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.listcontext import ListContext, list_contexts, split
from weft.searches.arc.synthesis.space import ProgramCandidate, Space
from weft.searches.arc.values import encode_grids

MOST = 6
"""Results kept, the cheapest."""
AGREEING = 4
"""Lists kept of each result."""
SHORT = 70 * BIT
"""Longer lists are never accepted, so they are not cross-validated."""
FEW_PAIRS = 2
"""With so few, leaving one out leaves one, and one pair fits any list."""


def learn_lists(space: Space, *, plain: bool = False) -> list[ProgramCandidate]:
    """Learn lists over a space's vectors, or `plain` ones only; return the cheapest."""
    candidates: list[ProgramCandidate] = []
    for context in list_contexts(space):
        candidates += _lists(space, context)
        if not plain and _needs_more(space, context, candidates):
            candidates += [
                candidate for corner in CORNERS for candidate in _lists(space, context, corner)
            ]
            candidates += _layered(space, context)
    by_outputs: dict[bytes, list[ProgramCandidate]] = {}
    for candidate in sorted(
        candidates, key=lambda candidate: (candidate.millibits, candidate.program.text())
    ):
        if candidate.outputs in by_outputs or len(by_outputs) < MOST:
            by_outputs.setdefault(candidate.outputs, []).append(candidate)
    return [candidate for agreeing in by_outputs.values() for candidate in agreeing[:AGREEING]]


def _needs_more(space: Space, context: ListContext, candidates: Sequence[ProgramCandidate]) -> bool:
    """Whether neither a program nor a plain list may answer; canvases support plain lists only."""
    is_validated = any(candidate.loo_passed for candidate in candidates)
    return not (space.candidates or context.base.before or is_validated)


def _lists(space: Space, context: ListContext, corner: str = "") -> Iterator[ProgramCandidate]:
    """All lists learned on a base; from a corner, those that scan from there."""
    base, training, tests = context.base, context.training_cells(corner), context.test_columns()
    rule = Scanned.name if corner else base.rule
    loo_passed: int | None = None
    for layer in _layers(learn(training), corner):
        cost = base.millibits + layer.millibits
        if loo_passed is None and cost <= SHORT and _may_answer(space):
            loo_passed = (
                context.problem.train if base.size_loo_passes and loo_passes(training) else 0
            )
        program = Program(base.chain, rule, base.before + layer.text())
        decided = layer.decide(tests, [grid.size for grid in context.tests])
        yield from _candidates(space, context, program, cost, decided, loo_passed)


def _layered(space: Space, context: ListContext) -> Iterator[ProgramCandidate]:
    """Lists on the output of unfinished lists; each such output is used once.

    Above a scan there is a plain list, or a scan from the opposite corner.
    """
    base, tried = context.base, {context.training_cells().expected.tobytes()}
    for corner in ("", *CORNERS):
        for first in _layers(beginnings(context.training_cells(corner)), corner):
            decided = first.decide(context.columns, [grid.size for grid in base.grids])
            if UNDECIDED in decided or decided[: context.trained].tobytes() in tried:
                continue
            tried.add(decided[: context.trained].tobytes())
            upper = context.above(split(decided, base.grids))
            for above in ("", OPPOSITE[corner]) if corner else ("",):
                yield from _above(space, upper, first, above)


def _above(
    space: Space, context: ListContext, first: Layer, corner: str
) -> Iterator[ProgramCandidate]:
    """Second layers."""
    base, tests = context.base, context.test_columns()
    for second in _layers(
        learn(context.training_cells(corner), MAX_MILLIBITS - first.millibits), corner
    ):
        cost = base.millibits + first.millibits + second.millibits
        program = Program(base.chain, Layered.name, first.text() + THEN + second.text())
        decided = second.decide(tests, [grid.size for grid in context.tests])
        yield from _candidates(space, context, program, cost, decided, None)


def _layers(lists: Sequence[CellList], corner: str) -> list[Layer]:
    """Lists as layers, without those that do not need their corner."""
    return [layer for layer in (Layer(corner, cell_list) for cell_list in lists) if layer.is_own]


def _candidates(
    space: Space, context: ListContext, program: Program, cost: int, decided: U8,
    loo_passed: int | None,
) -> Iterator[ProgramCandidate]:  # fmt: skip
    """One candidate, or none where the program leaves a test cell undecided."""
    if UNDECIDED not in decided:
        outputs = encode_grids(split(decided, context.tests))
        yield ProgramCandidate(program, cost, outputs, space.counts.programs, loo_passed)


def _may_answer(space: Space) -> bool:
    """Whether a list could answer: no program does, and there are pairs enough to leave one out."""
    return space.problem.train > FEW_PAIRS and not space.candidates

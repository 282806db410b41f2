"""Decision-list learning over the vectors of a phase that have the targets' size, in parts.

    plain     one list on a base
    scanned   one list that fills the grid cell by cell and reads the cells it has filled
    acted     one list on the input that also reads the results of actions on all objects
    laid      one list on a base that also reads colours, and smaller grids laid on the base
    layered   two lists, the second on the output of an unfinished first one

The last four are tried if neither a program nor a plain list qualifies as an answer, and not in
views. A learned list is right on every training pair but was chosen from very many, so it is a
guess; it fills the second attempt of solved tasks. If no program is found, lists that are short
enough are cross-validated (leave-one-out): those that predict every pair qualify as answers.

Bases, corners and beginnings determine the parts, which are independent of each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from weft.searches.arc.fitted.celllist import THEN, Layered, Scanned
from weft.searches.arc.lists.cells import UNDECIDED, CellList, parse
from weft.searches.arc.lists.features import U8
from weft.searches.arc.lists.learn import (
    HOPE,
    MAX_MILLIBITS,
    ClauseSearch,
    TrainingCells,
    beginnings,
    learn,
    loo_passes,
    search_of,
)
from weft.searches.arc.lists.scan import CORNERS, Layer
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.actedcolumns import acted_columns
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.laidcolumns import laid_columns
from weft.searches.arc.synthesis.listcontext import Columns, ListContext, context_of, split
from weft.searches.arc.synthesis.sample import VectorSample
from weft.searches.arc.synthesis.space import ProgramCandidate
from weft.searches.arc.values import encode_grids

MOST = 6
"""Most results kept, the cheapest."""
AGREEING = 4
"""Most lists kept of each result."""
SHORT = 70 * BIT
"""Longer lists are never accepted, so they are not cross-validated."""
LITTLE_HOPE = 1
"""Hope for the kinds of lists with many variants, most of them in vain, so that they are given up
soon: scans from every corner, second layers above many first ones, more columns, divided tasks."""
ACTIONS, LAID = "actions", "laid"
FEW_PAIRS = 2
"""With at most this many pairs, leaving one out leaves one, which fits any list."""


@dataclass(frozen=True, slots=True)
class ListPart:
    """One part of list learning: lists on a base, from a corner, or above an unfinished list."""

    base: int
    corner: str = ""
    first: str = ""
    """For layered lists: the text of the first list."""
    reads: str = ""
    """Additional columns: `ACTIONS` for results of actions, `LAID` for colours and laid grids."""


@dataclass(frozen=True, slots=True)
class Beginning:
    """An unfinished list: the first layer of lists in two layers."""

    text: str
    digest: str
    """Digest of its output for the training inputs; beginnings with equal output are equivalent."""


@dataclass(frozen=True, slots=True)
class LearnedLists:
    """The result of one part: lists, and beginnings for further parts."""

    candidates: tuple[ProgramCandidate, ...]
    beginnings: tuple[Beginning, ...] = ()

    @property
    def is_validated(self) -> bool:
        """Whether a list qualifies as an answer."""
        return any(candidate.loo_passed for candidate in self.candidates)


def plain_parts(bases: int) -> list[ListPart]:
    """Return the parts that come first: plain lists on each base."""
    return [ListPart(base) for base in range(bases)]


def scanned_parts(bases: int) -> list[ListPart]:
    """Return the parts that scan from each corner, on the first base; `bases` excludes canvases."""
    return [ListPart(0, corner) for corner in CORNERS] if bases else []


def acted_parts(bases: int) -> list[ListPart]:
    """Return the part that reads results of actions, on the first base; none without bases."""
    return [ListPart(0, reads=ACTIONS)][:bases]


def laid_parts(bases: int) -> list[ListPart]:
    """Return the part that reads colours and laid grids, on the first base; none without bases."""
    return [ListPart(0, reads=LAID)][:bases]


def layered_parts(
    learned: Iterable[tuple[ListPart, Sequence[Beginning]]],
) -> list[ListPart]:
    """Return the parts above beginnings; of those with equal output on a base, the first."""
    parts: dict[tuple[int, str], ListPart] = {}
    for part, part_beginnings in learned:
        for beginning in part_beginnings:
            above = ListPart(part.base, first=beginning.text)
            parts.setdefault((part.base, beginning.digest), above)
    return list(parts.values())


def learn_part(
    problem: EncodedTask, sample: VectorSample, part: ListPart, hope: int = HOPE
) -> LearnedLists:
    """Learn the lists of one part; return the cheapest."""
    context = context_of(problem, sample, part.base)
    learner = _Learner(problem, sample, context)
    if part.reads:
        acts = part.reads == ACTIONS
        columns = acted_columns(problem) if acts else laid_columns(context, sample)
        return LearnedLists(cheapest(learner.reading(columns)))
    if part.first:
        return LearnedLists(cheapest(learner.layered(parse(part.first))))
    if part.corner:
        return learner.learn(part.corner, LITTLE_HOPE)
    return learner.learn("", hope, extendable=part.base < len(sample.bases))


def learn_plain(
    problem: EncodedTask, sample: VectorSample, hope: int = HOPE, *, may_answer: bool = True
) -> tuple[ProgramCandidate, ...]:
    """Learn plain lists on every base; return the cheapest, cross-validated if `may_answer`."""
    contexts = (context_of(problem, sample, base) for base in range(sample.list_bases))
    learners = (_Learner(problem, sample, own, may_answer=may_answer) for own in contexts)
    return cheapest(
        candidate for learner in learners for candidate in learner.learn("", hope).candidates
    )


def cheapest(candidates: Iterable[ProgramCandidate]) -> tuple[ProgramCandidate, ...]:
    """Return a few lists of each of the cheapest results."""
    by_outputs: dict[bytes, list[ProgramCandidate]] = {}
    for candidate in sorted(
        candidates, key=lambda candidate: (candidate.millibits, candidate.program.text())
    ):
        if candidate.outputs in by_outputs or len(by_outputs) < MOST:
            by_outputs.setdefault(candidate.outputs, []).append(candidate)
    return tuple(candidate for agreeing in by_outputs.values() for candidate in agreeing[:AGREEING])


class _Learner:
    """Learns lists on one base."""

    def __init__(
        self, problem: EncodedTask, sample: VectorSample, context: ListContext, *,
        may_answer: bool = True,
    ) -> None:  # fmt: skip
        self._context, self._time = context, sample.time
        self._is_solved = sample.is_solved
        self._may_answer = may_answer and problem.train > FEW_PAIRS and not sample.is_solved
        self._train = problem.train

    def learn(self, corner: str, hope: int, *, extendable: bool = False) -> LearnedLists:
        """Learn the lists on the base, or with a corner those that scan from it; and beginnings.

        Beginnings are omitted if the phase found a program, if a list qualifies as an answer, or
        unless `extendable`.
        """
        training = self._context.training_cells(corner)
        search = search_of(training)
        learned = LearnedLists(cheapest(self._lists(training, search, corner, hope)))
        if self._is_solved or learned.is_validated or not extendable:
            return learned
        return LearnedLists(learned.candidates, tuple(self._beginnings(search)))

    def _lists(
        self, training: TrainingCells, search: ClauseSearch, corner: str, hope: int
    ) -> Iterator[ProgramCandidate]:
        context, base = self._context, self._context.base
        tests, rule = context.test_columns(), Scanned.name if corner else base.rule
        loo_passed: int | None = None
        for layer in _layers(learn(search, hope=hope), corner):
            cost = base.millibits + layer.millibits
            if loo_passed is None and cost <= SHORT and self._may_answer:
                is_validated = base.size_loo_passes and loo_passes(training)
                loo_passed = self._train if is_validated else 0
            program = Program(base.chain, rule, base.before + layer.text())
            decided = layer.decide(tests, [grid.size for grid in context.tests])
            yield from self._candidates(program, cost, decided, loo_passed)

    def _beginnings(self, search: ClauseSearch) -> Iterator[Beginning]:
        """Yield the unfinished lists that decide every cell, but not all of them correctly."""
        context = self._context
        finished = context.training_cells().expected.tobytes()
        for first in beginnings(search):
            decided = first.decide(context.columns.__getitem__, len(context.columns["own"]))
            cells = decided[: context.trained].tobytes()
            if UNDECIDED not in decided and cells != finished:
                yield Beginning(first.text(), blake2b(cells, digest_size=8).hexdigest())

    def reading(self, columns: Columns) -> Iterator[ProgramCandidate]:
        """Yield lists that read one of `columns`; chosen by all pairs, so not cross-validated."""
        context = self._context.beside(columns)
        base, tests = context.base, context.test_columns()
        search = search_of(context.training_cells()) if columns else None
        lists = [] if search is None else learn(search, hope=LITTLE_HOPE)
        for cell_list in lists:
            if any(source in columns for source in cell_list.sources()):
                program = Program(base.chain, base.rule, base.before + cell_list.text())
                decided = cell_list.decide(tests.__getitem__, len(tests["own"]))
                cost = base.millibits + cell_list.millibits
                yield from self._candidates(program, cost, decided, None)

    def layered(self, first: CellList) -> Iterator[ProgramCandidate]:
        """Yield lists on the output of an unfinished one."""
        below, grids = self._context, self._context.base.grids
        decided = first.decide(below.columns.__getitem__, len(below.columns["own"]))
        context = below.above(split(decided, grids))
        base, tests = context.base, context.test_columns()
        search = search_of(context.training_cells())
        for second in learn(search, MAX_MILLIBITS - first.millibits, LITTLE_HOPE):
            cost = base.millibits + first.millibits + second.millibits
            program = Program(base.chain, Layered.name, first.text() + THEN + second.text())
            decided = second.decide(tests.__getitem__, len(tests["own"]))
            yield from self._candidates(program, cost, decided, None)

    def _candidates(
        self, program: Program, cost: int, decided: U8, loo_passed: int | None
    ) -> Iterator[ProgramCandidate]:
        """Yield the candidate, unless the program leaves a test cell undecided."""
        if UNDECIDED not in decided:
            outputs = encode_grids(split(decided, self._context.tests))
            yield ProgramCandidate(program, cost, outputs, self._time, loo_passed)


def _layers(lists: Sequence[CellList], corner: str) -> list[Layer]:
    """Return lists as layers, without those that do not need their corner."""
    return [layer for layer in (Layer(corner, cell_list) for cell_list in lists) if layer.is_own]

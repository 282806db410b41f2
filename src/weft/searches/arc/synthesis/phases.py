"""The phases of a search, each a simple loop over one `Space`.

shallow  all programs by cost, each vector reached once; it solves most tasks. Passes on a sample of
         vectors from which lists and choices are learned in separate parts
viewed   the same, shorter, on the task as a view shows it; its programs are reported with the view
deep     the vectors that the shallow phase left open, best first, in slices by first operator
"""

from __future__ import annotations

import gc
import heapq
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from weft.searches.arc.fitted.each import COLOURS
from weft.searches.arc.normal.registry import FittedView, worthwhile
from weft.searches.arc.ops.operator import BIT
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis import table
from weft.searches.arc.synthesis.ablation import FITTED, LISTS, VIEWS
from weft.searches.arc.synthesis.budget import SearchBudget, WorkerBudget
from weft.searches.arc.synthesis.cache import ApplyCache
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.language import Language
from weft.searches.arc.synthesis.learnchoices import cheapest, learn_choices
from weft.searches.arc.synthesis.learneach import learn_each, ways_of
from weft.searches.arc.synthesis.learnlists import LITTLE_HOPE, learn_plain
from weft.searches.arc.synthesis.learntables import joined, learn_input_tables
from weft.searches.arc.synthesis.log import SHALLOW, VIEWED, SearchEvent, SearchLog
from weft.searches.arc.synthesis.reach import RULES
from weft.searches.arc.synthesis.sample import VectorSample, sample_of
from weft.searches.arc.synthesis.space import ROOT, ProgramCandidate, SearchCounts, Space
from weft.searches.arc.task import ArcTask
from weft.searches.arc.values import decode_grids, encode_grids

Priority = Callable[[int], tuple[int, ...]]
EXPLAINED = 40 * BIT
"""A program of at most this length hardly fits by accident, so the search need not continue."""
PART_SHARE = 4
"""Percent of the programs that may be tried on the parts of a divided task.

If parts change size, the share of a view applies instead: fitting rules to many parts is slow.
"""


@dataclass(frozen=True, slots=True)
class Nearest:
    """The program whose outputs are nearest to the targets."""

    program: Program
    shape_loss: int
    cell_loss: int

    def through(self, view: FittedView) -> Nearest:
        """Return it for a task that a view turns into the one that was searched."""
        return replace(self, program=self.program.through(view))


@dataclass(frozen=True, slots=True)
class PhaseResult:
    """The result of one phase, or of one slice of it."""

    candidates: tuple[ProgramCandidate, ...]
    guesses: tuple[ProgramCandidate, ...]
    nearest: Nearest
    counts: SearchCounts
    log: SearchLog
    exhausted: bool
    """Whether nothing was left to try within the depth limit."""
    states: int
    examples: int
    table: bytes = b""
    """Shallow phase only: its vectors, for the slices."""
    open_slices: tuple[int, ...] = ()
    """Shallow phase only: the slices that have open vectors."""
    sample: VectorSample | None = None
    """Shallow phase only: vectors to learn lists and choices from."""
    views: tuple[FittedView, ...] = ()
    """Shallow phase only: the views worth a search, if it found no short program."""
    ways: tuple[str, ...] = ()
    """Shallow phase only: the ways to divide the task, if it found no short program."""
    input_cells: int = 0
    """Shallow phase only: the number of cells of all inputs."""


@dataclass(frozen=True, slots=True)
class Options:
    """The options shared by all phases."""

    language: Language
    budget: SearchBudget
    prune: Sequence[str] = RULES
    seed: int = 0
    without: Sequence[str] = ()
    """Parts of the method to leave out; see `ablation`."""


@contextmanager
def _without_collector() -> Iterator[None]:
    """Disable the cyclic garbage collector: a search creates many objects and no cycles."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def are_explained(candidates: Sequence[ProgramCandidate]) -> bool:
    """Whether a program that fits is short enough not to fit by accident."""
    return any(candidate.millibits <= EXPLAINED for candidate in candidates)


@_without_collector()
def shallow(
    problem: EncodedTask,
    options: Options,
    cache: ApplyCache | None = None,
    owners: Sequence[frozenset[int]] = (),
) -> PhaseResult:
    """Run the shallow phase; `owners` has the first entries of each slice that may follow."""
    budget = options.budget.for_cells(problem.task.input_cells)
    space = Space(
        problem, options.language, budget, budget.shallow_programs, options.prune, cache,
        options.seed, fitted=FITTED not in options.without,
    )  # fmt: skip
    run = _Run(space, SHALLOW, budget.max_programs, budget.competitor_programs)
    open_nodes = run.explore([ROOT], lambda node: (space.nodes[node].millibits, node))
    is_explained = are_explained(space.candidates)
    needless = is_explained or not (open_nodes and owners and budget.deep_programs)
    handed_on = b"" if needless else table.pack(space, open_nodes, owners)
    views = () if is_explained or VIEWS in options.without else worthwhile(problem.task)
    ways = () if is_explained or FITTED in options.without else ways_of(problem.task)
    firsts = frozenset(space.nodes[node].first for node in open_nodes)
    open_slices = tuple(number for number, own in enumerate(owners) if own & firsts)
    phase, sample = run.result(handed_on, views), sample_of(space)
    if problem.keeps_sizes:  # tables on the input need no sample: `learn_input_tables`
        sample = replace(sample, segmented=())
    return replace(
        phase, open_slices=open_slices, sample=sample, ways=ways,
        input_cells=problem.task.input_cells,
    )  # fmt: skip


def with_learned(
    first: PhaseResult,
    choices: Sequence[ProgramCandidate],
    lists: Sequence[ProgramCandidate],
) -> PhaseResult:
    """Return a phase with the choices and decision lists learned from its vectors.

    If the phase found programs, choices that pass cross-validation compete with them.
    """
    competing = [choice for choice in choices if first.candidates and choice.loo_passed]
    guesses = [choice for choice in choices if choice not in competing]
    return replace(
        first,
        candidates=(*first.candidates, *competing),
        guesses=(*guesses, *lists, *first.guesses),
    )


@_without_collector()
def viewed(
    task: ArcTask, options: Options, view: FittedView, number: int, cache: ApplyCache | None = None
) -> PhaseResult:
    """Search a task through a view; return the result in terms of the task itself."""
    programs = options.budget.for_cells(task.input_cells).view_programs
    space, run = _brief(view.of(task), options, programs, VIEWED + number, view, cache)
    sample = sample_of(space)
    learns_choices = view.shows_objects and FITTED not in options.without
    learns_choices = (
        learns_choices and not space.problem.keeps_sizes
    )  # otherwise only `viewed_tables` apply
    choices = learn_choices(space.problem, sample) if learns_choices else ()
    lists = learn_plain(space.problem, sample) if LISTS not in options.without else ()
    phase = with_learned(run.result(), choices, lists)
    return in_task_terms(phase, task, view)


def viewed_tables(task: ArcTask, view: FittedView, part: int) -> tuple[ProgramCandidate, ...]:
    """Learn one part of the tables over the viewed input, in terms of the task itself."""
    candidates = learn_input_tables(EncodedTask(view.of(task)), part)
    return tuple(unviewed(candidate, task, view) for candidate in candidates)


def with_tables(phase: PhaseResult, parts: Iterable[Sequence[ProgramCandidate]]) -> PhaseResult:
    """Return a phase with the tables learned in parallel."""
    return with_learned(phase, cheapest(joined(parts, phase.counts.programs)), ())


def parted(
    task: ArcTask, options: Options, way: str, cache: ApplyCache | None = None
) -> tuple[ProgramCandidate, ...]:
    """Learn one program for all parts of a task, divided in one way."""
    budget = options.budget.for_cells(task.input_cells)
    is_resized = any(pair.input.size != pair.output.size for pair in task.train)
    is_slow = is_resized and way != COLOURS
    programs = budget.view_programs if is_slow else budget.max_programs * PART_SHARE // 100

    @_without_collector()
    def search(part_task: ArcTask) -> Sequence[ProgramCandidate]:
        space, _ = _brief(part_task, options, programs, SHALLOW, None, cache)
        sample = replace(sample_of(space), canvases=())  # programs for parts have no canvases
        is_asked = LISTS not in options.without
        lists = (
            learn_plain(space.problem, sample, LITTLE_HOPE, may_answer=False) if is_asked else ()
        )  # the programs for whole grids are cross-validated instead
        return (*space.candidates, *space.guesses, *lists)

    return learn_each(task, way, search)


def _brief(
    task: ArcTask, options: Options, programs: int, slice_: int, view: FittedView | None,
    cache: ApplyCache | None,
) -> tuple[Space, _Run]:  # fmt: skip
    """Run a short search with a limit of `programs`."""
    budget = options.budget
    space = Space(
        EncodedTask(task), options.language, budget, programs, options.prune, cache,
        options.seed, fitted=FITTED not in options.without,
    )  # fmt: skip
    run = _Run(space, slice_, programs, budget.competitor_programs, view)
    run.explore([ROOT], lambda node: (space.nodes[node].millibits, node))
    return space, run


def in_task_terms(phase: PhaseResult, task: ArcTask, view: FittedView) -> PhaseResult:
    """Return the result of searching a viewed task in terms of the task itself."""
    both = (phase.candidates, phase.guesses)
    candidates, guesses = (tuple(unviewed(c, task, view) for c in group) for group in both)
    return replace(
        phase, candidates=candidates, guesses=guesses, nearest=phase.nearest.through(view)
    )


def unviewed(candidate: ProgramCandidate, task: ArcTask, view: FittedView) -> ProgramCandidate:
    """Return a program for a viewed task as a program for the task itself."""
    return replace(
        candidate,
        program=candidate.program.through(view),
        millibits=candidate.millibits + view.millibits(),
        outputs=encode_grids(view.back(task.test, decode_grids(candidate.outputs))),
    )


@_without_collector()
def deep(
    problem: EncodedTask,
    options: Options,
    part: WorkerBudget,
    handed_on: bytes,
    cache: ApplyCache | None = None,
) -> PhaseResult:
    """Run one slice of the deep phase."""
    budget = options.budget
    begin = table.unpack(handed_on, part.slice)
    space = Space(
        problem, options.language, budget, part.programs, options.prune, cache, options.seed,
        begin.nodes, begin.known, fitted=FITTED not in options.without,
    )  # fmt: skip
    run = _Run(space, part.slice, part.programs, budget.competitor_programs)
    run.explore(begin.open_nodes, space.priority)
    phase = run.result()
    return replace(phase, exhausted=phase.exhausted and begin.is_complete)


class _Run:
    """The state of a running phase: its log and its limits."""

    def __init__(
        self,
        space: Space,
        slice_: int,
        most_programs: int,
        competitors: int,
        view: FittedView | None = None,
    ) -> None:
        self._space, self._slice, self._view = space, slice_, view
        self._most, self._competitors = most_programs, competitors
        self._events: list[SearchEvent] = []
        self._logged = 0
        self._best: tuple[int, ...] = (1 << 30,)
        self._exhausted = False

    def explore(self, start: Sequence[int], priority: Priority) -> list[int]:
        """Expand vectors by priority until none or no budget is left; return the open vectors."""
        space = self._space
        queue = [(priority(node), node) for node in start]
        heapq.heapify(queue)
        self._log_progress()
        while queue and not space.spent and not (space.candidates and space.budget.stop_on_first):
            _, node = heapq.heappop(queue)
            for child in space.grow(node):
                if space.is_open(child):
                    heapq.heappush(queue, (priority(child), child))
            self._log_progress()
        self._exhausted = not queue
        self._note("end", {"exhausted": self._exhausted, "states": len(space.nodes)})
        return [node for _, node in queue]

    def result(self, handed_on: bytes = b"", views: tuple[FittedView, ...] = ()) -> PhaseResult:
        """Return the result of the phase."""
        space = self._space
        best = space.nodes[space.best]
        nearest = Nearest(Program(space.program_of(space.best)), best.shape_loss, best.cell_loss)
        return PhaseResult(
            candidates=tuple(space.candidates),
            guesses=tuple(space.guesses),
            nearest=nearest,
            counts=space.counts,
            log=SearchLog(tuple(self._events)),
            exhausted=self._exhausted,
            states=len(space.nodes),
            examples=space.problem.examples,
            table=handed_on,
            views=views,
        )

    def _log_progress(self) -> None:
        """Log new events; after the first fit, limit the programs to the competitors' share."""
        space = self._space
        best = space.priority(space.best)[:2]
        if best < self._best:
            self._best = best
            self._note("best", {"shape": best[0], "cells": best[1]})
        for candidate in space.candidates[self._logged :]:
            if self._logged == 0:
                space.programs = min(self._most, candidate.time + self._competitors)
            self._logged += 1
            program = replace(candidate.program, view=self._view)
            extra = 0 if self._view is None else self._view.millibits()
            data: dict[str, int | str | bool] = {
                "program": program.text(),
                "millibits": candidate.millibits + extra,
            }
            self._events.append(SearchEvent(candidate.time, self._slice, "found", data))

    def _note(self, kind: str, data: dict[str, int | str | bool]) -> None:
        self._events.append(SearchEvent(self._space.counts.programs, self._slice, kind, data))

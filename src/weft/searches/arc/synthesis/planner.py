"""The plan of one task's search: a shallow phase, then parts that run in parallel.

    shallow, in parallel with tables over the input's objects
            ──► plain lists, choices of objects; if it found no short program, also
                  programs for parts of grids, for each way to divide the task
                  slices 0 … n (fixed number, fixed bounds), unless every program was tried
                  views worth a search (fixed order, a fixed share each)
            ──► lists that scan, come in layers, or read results of actions, colours and smaller
                  grids, if neither a program nor a plain list qualifies as an answer; two tables
                  in sequence, if no program, table or plain list fits
            ──► all parts merged by (time, slice)
            ──► the same on a black background, if the background has another colour and no program
                was found except through a view (`arc.tasks` runs it in parallel with the above):
                briefly, with all kinds of lists only if no input has a black background
            ──► brief searches without one of the training pairs, for each, if nothing fits them all
            ──► evidence on the programs that compete, examined independently ──► verdict

Before all this, a puzzle whose background has another colour is changed to a black background; the
result is reported in the original colours (`normal.ground`).

The parts depend on the task and the budget, never on who runs them. `ParallelPlanner.search` runs
them all in this process; `arc.tasks` runs them as tasks of the engine. Both combine them with
`assemble` and `conclude`, so they agree byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from weft.searches.arc.assessment import Found, Standard, examined, explanations, judge, needed
from weft.searches.arc.evidence import Evidence
from weft.searches.arc.normal.ground import on_black_ground
from weft.searches.arc.normal.registry import FittedView, grounded, is_coloured
from weft.searches.arc.program import Program
from weft.searches.arc.synthesis.ablation import FITTED, LISTS, OMISSION, VIEWS
from weft.searches.arc.synthesis.budget import (
    SLICES,
    SearchBudget,
    WorkerBudget,
    share,
    split_budget,
)
from weft.searches.arc.synthesis.cache import ApplyCache
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.learnchoices import cheapest as cheapest_choices
from weft.searches.arc.synthesis.learnchoices import learn_choices
from weft.searches.arc.synthesis.learneach import ways_of
from weft.searches.arc.synthesis.learnlists import (
    Beginning,
    ListPart,
    acted_parts,
    cheapest,
    laid_parts,
    layered_parts,
    learn_part,
    plain_parts,
    scanned_parts,
)
from weft.searches.arc.synthesis.learnsteps import learn_firsts, learn_seconds, step_parts
from weft.searches.arc.synthesis.learntables import PARTS as TABLE_PARTS
from weft.searches.arc.synthesis.learntables import joined, learn_input_tables
from weft.searches.arc.synthesis.log import SearchLog, append, merge
from weft.searches.arc.synthesis.log import viewed as viewed_log
from weft.searches.arc.synthesis.omission import Omission, as_guesses, omissions
from weft.searches.arc.synthesis.phases import (
    Nearest,
    Options,
    PhaseResult,
    are_explained,
    deep,
    parted,
    shallow,
    unviewed,
    viewed,
    viewed_tables,
    with_learned,
    with_tables,
)
from weft.searches.arc.synthesis.space import NO_ENTRY, ProgramCandidate
from weft.searches.arc.task import ArcTask
from weft.searches.arc.verdict import TaskVerdict

SEGMENTED_TOGETHER = 2
"""Number of vectors in which one part learns choices."""
Candidates = Sequence[ProgramCandidate]
Learned = Iterable[tuple[ListPart, Sequence[Beginning]]]
"""Parts of list learning, and the beginnings from each."""


@dataclass(frozen=True, slots=True)
class ShallowFacts:
    """The facts about the shallow phase that decide how a search continues."""

    programs: int
    """Programs spent by the phase."""
    is_solved: bool
    """Whether a fitting program is short enough not to fit by accident."""
    exhausted: bool
    views: int
    """The number of views worth a search."""
    open_slices: Sequence[int]
    bases: int
    """Number of vectors on which lists can be learned."""
    canvases: int
    segmented: int
    """Number of vectors in which objects may be segmented."""
    ways: Sequence[str] = ()
    """The ways to divide the task into parts."""
    cells: int = 0
    """Number of cells of all inputs."""

    @staticmethod
    def of(phase: PhaseResult) -> ShallowFacts:
        """Return the facts of a finished phase."""
        sample = phase.sample
        assert sample is not None
        return ShallowFacts(
            phase.counts.programs, are_explained(phase.candidates), phase.exhausted,
            len(phase.views), phase.open_slices, len(sample.bases), len(sample.canvases),
            len(sample.segmented), phase.ways, phase.input_cells,
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class SearchParts:
    """The parts that run in parallel after the shallow phase."""

    lists: tuple[ListPart, ...]
    choices: tuple[tuple[int, int], ...]
    """Ranges of vectors."""
    ways: tuple[str, ...]
    """The ways to divide the task into parts that share a program."""
    slices: tuple[WorkerBudget, ...]
    views: int
    """The number of views to search, the first ones."""


@dataclass(frozen=True, slots=True)
class AssembledSearch:
    """All parts of a search combined, not yet judged."""

    found: Found
    nearest: Nearest
    exhausted: bool
    programs: int
    log: SearchLog

    def beside(self, grounded: AssembledSearch, task: ArcTask, view: FittedView) -> AssembledSearch:
        """Add the search of the task on another background, in terms of the task itself."""
        found, other = self.found, grounded.found
        candidates, guesses = other.candidates, other.guesses
        if view.parameters:  # the original puzzle: its background would be taken for an object
            candidates, guesses = (), (*candidates, *guesses)
        near = grounded.nearest.through(view)
        return AssembledSearch(
            Found(
                (*found.candidates, *(unviewed(c, task, view) for c in candidates)),
                (*found.guesses, *(unviewed(c, task, view) for c in guesses)),
            ),
            min(self.nearest, near, key=lambda n: (n.shape_loss, n.cell_loss)),
            self.exhausted and grounded.exhausted,
            self.programs + grounded.programs,
            append(self.log, grounded.log, view.text()),
        )

    def guessed(
        self, searched: Iterable[tuple[Omission, AssembledSearch]], task: ArcTask
    ) -> AssembledSearch:
        """Add what searches without one of the training pairs found, as guesses.

        The log remains that of the search with all pairs.
        """
        guesses, programs = list(self.found.guesses), self.programs
        for omission, other in searched:
            own, view = (*other.found.candidates, *other.found.guesses), omission.view
            if view is not None:
                own = tuple(unviewed(candidate, task, view) for candidate in own)
            guesses += as_guesses(own, omission.pair)
            programs += other.programs
        found = Found(self.found.candidates, tuple(guesses))
        return replace(self, found=found, programs=programs)


@dataclass(frozen=True, slots=True)
class ParallelSearchResult:
    """The outcome of one task's search, with its log."""

    verdict: TaskVerdict
    nearest: Nearest
    exhausted: bool
    programs: int
    log: SearchLog

    def through(self, view: FittedView | None, task: ArcTask) -> ParallelSearchResult:
        """Return the result for a task that a view turns into the one that was searched."""
        if view is None:
            return self
        return replace(
            self,
            verdict=self.verdict.through(view, task.test),
            nearest=self.nearest.through(view),
            log=viewed_log(self.log, view.text()),
        )


class ParallelPlanner:
    """Plans the search of a task; `slices` is fixed in advance and independent of the workers."""

    def __init__(
        self, options: Options, slices: int = SLICES, standard: Standard | None = None
    ) -> None:
        self.options, self.slices = options, slices
        limit = options.budget.max_millibits
        self.standard = standard or Standard(limit_millibits=limit, without=options.without)

    def search(self, task: ArcTask) -> ParallelSearchResult:
        """Run every part in this process, one after the other."""
        on_black, exchange = on_black_ground(task.without_truth())
        assembled = self.searched(on_black)
        view = self.ground(on_black, exchange, assembled.found)
        if view is not None:
            planner = self.on_ground(exchange is not None or is_coloured(on_black))
            other = planner.searched(view.of(on_black))
            assembled = assembled.beside(other, on_black, view)
        omitted, planner = self.omissions(on_black, exchange, assembled.found), self.on_omission()
        others = [(each, planner.searched(each.task)) for each in omitted]
        assembled = assembled.guessed(others, on_black)
        return self._examined(on_black, assembled).through(exchange, task)

    def searched(self, task: ArcTask) -> AssembledSearch:
        """Run the parts of a task without changing its background."""
        problem, cache, options = EncodedTask(task), ApplyCache(), self.options
        first = shallow(problem, options, cache, self.owners())
        parts = self.parts(ShallowFacts.of(first))
        rest = [deep(problem, options, part, first.table, cache) for part in parts.slices]
        views = [
            with_tables(
                viewed(task, options, view, number, cache),
                (viewed_tables(task, view, part) for part in range(self.view_table_parts(view))),
            )
            for number, view in enumerate(first.views[: parts.views])
        ]
        choices, lists = self.learn(problem, first)
        choices += [parted(task, options, way, cache) for way in parts.ways]
        return self.assemble(first, rest, views, choices, lists)

    def ground(self, task: ArcTask, exchange: FittedView | None, found: Found) -> FittedView | None:
        """Return the view with another background, if the task is to be searched there too.

        For a task whose background was exchanged, that view is the exchange, which restores the
        original puzzle; it is returned only if nothing found qualifies as an answer.
        """
        if VIEWS in self.options.without or found.is_explained:
            return None
        if exchange is None:
            return grounded(task)
        return None if explanations(found, self.standard) else exchange

    def omissions(
        self, task: ArcTask, exchange: FittedView | None, found: Found
    ) -> tuple[Omission, ...]:
        """Return the task without each of its training pairs, if nothing fits them all.

        A task whose background was exchanged is on black already.
        """
        own = self.options
        if found.candidates or found.guesses or own.budget.stop_on_first or OMISSION in own.without:
            return ()
        keeps_ground = exchange is not None or VIEWS in own.without
        return tuple(omissions(task, None if keeps_ground else grounded(task)))

    def ways(self, task: ArcTask) -> tuple[str, ...]:
        """Return the ways to divide a task into parts that share a program."""
        return () if FITTED in self.options.without else ways_of(task)

    def on_ground(self, is_coloured: bool) -> ParallelPlanner:
        """Return the planner for tasks on a black background: brief, and without further views.

        All kinds of lists are learned if no input has a black background.
        """
        return self._brief(self.options.budget.brief(has_late_lists=is_coloured))

    def on_omission(self) -> ParallelPlanner:
        """Return the planner for tasks without one of their pairs: brief, and without views."""
        budget = self.options.budget.brief(has_late_lists=True, has_compositions=False)
        return self._brief(budget)

    def _brief(self, budget: SearchBudget) -> ParallelPlanner:
        without = tuple(sorted({*self.options.without, VIEWS}))
        options = replace(self.options, budget=budget, without=without)
        return ParallelPlanner(options, self.slices, self.standard)

    def learn(
        self, problem: EncodedTask, first: PhaseResult
    ) -> tuple[list[Candidates], list[Candidates]]:
        """Learn choices and lists from the shallow phase; run every part that is needed."""
        facts, sample = ShallowFacts.of(first), first.sample
        assert sample is not None
        parts = self.parts(facts)
        lists = [learn_part(problem, sample, part) for part in parts.lists]
        known = zip(parts.lists, (result.beginnings for result in lists), strict=True)
        late = self.late(facts, known, any(result.is_validated for result in lists))
        plain = [*lists]
        lists += [learn_part(problem, sample, part) for part in late]
        choices: list[Candidates] = [
            learn_choices(problem, sample, start, end) for start, end in parts.choices
        ]
        tables = [learn_input_tables(problem, part) for part in range(self.table_parts)]
        is_guessed = any(tables) or any(result.candidates for result in plain)
        firsts = learn_firsts(problem) if self.has_steps(facts, is_guessed=is_guessed) else ()
        tables += [learn_seconds(problem, part) for part in step_parts(firsts)]
        choices.append(joined(tables, sample.time))
        return choices, [result.candidates for result in lists]

    @property
    def table_parts(self) -> int:
        """The number of table-learning parts that run in parallel with the shallow phase."""
        return 0 if FITTED in self.options.without else len(TABLE_PARTS)

    def view_table_parts(self, view: FittedView) -> int:
        """Return the number of table-learning parts that run in parallel with a view's search."""
        return self.table_parts if view.shows_objects else 0

    def owners(self) -> tuple[frozenset[int], ...]:
        """Return the first entries that belong to each slice; the input belongs to the first."""
        firsts = self.options.language.firsts
        ranges = [firsts[r.operator_start : r.operator_end] for r in self._ranges()]
        return tuple(
            frozenset(own) | ({NO_ENTRY} if number == 0 else frozenset())
            for number, own in enumerate(ranges)
        )

    def parts(self, facts: ShallowFacts) -> SearchParts:
        """Return the parts to run after the shallow phase.

        Views get their shares before the slices.
        """
        budget, without = self.options.budget.for_cells(facts.cells), self.options.without
        remaining, each = max(0, budget.max_programs - facts.programs), budget.view_programs
        views = min(facts.views, remaining // each if each else 0)
        ends = range(0, 0 if FITTED in without else facts.segmented, SEGMENTED_TOGETHER)
        bases = 0 if LISTS in without else facts.bases + facts.canvases
        return SearchParts(
            tuple(plain_parts(bases)),
            tuple((start, start + SEGMENTED_TOGETHER) for start in ends),
            tuple(facts.ways) if budget.has_compositions else (),
            self._slices(facts, remaining - views * each),
            views,
        )

    def late(self, facts: ShallowFacts, learned: Learned, is_validated: bool) -> list[ListPart]:
        """Return the parts to run after plain lists.

        `is_validated` states that a plain list qualifies as an answer. Actions on objects are tried
        if outputs have the sizes of their inputs, that is, if there are no canvases.
        """
        own = self.options
        may_follow = own.budget.has_late_lists and LISTS not in own.without
        if facts.is_solved or is_validated or not may_follow:
            return []
        acts = not facts.canvases and FITTED not in own.without
        return [
            *scanned_parts(facts.bases),
            *laid_parts(facts.bases),
            *(acted_parts(facts.bases) if acts else ()),
            *layered_parts(learned),
        ]

    def has_steps(self, facts: ShallowFacts, *, is_guessed: bool) -> bool:
        """Whether to learn two tables in sequence: nothing fits, and no output changes size.

        `is_guessed` states that a table or a plain list fits.
        """
        own = self.options
        is_allowed = own.budget.has_late_lists and own.budget.has_compositions
        may_follow = is_allowed and FITTED not in own.without
        is_needless = facts.is_solved or is_guessed or facts.canvases > 0 or facts.bases == 0
        return may_follow and not is_needless

    def _slices(self, facts: ShallowFacts, left: int) -> tuple[WorkerBudget, ...]:
        if facts.is_solved or facts.exhausted or left <= 0 or self.options.budget.is_brief:
            return ()
        return share([part for part in self._ranges() if part.slice in facts.open_slices], left)

    def _ranges(self) -> tuple[WorkerBudget, ...]:
        return split_budget(len(self.options.language.firsts), self.slices, 0)

    def assemble(
        self,
        first: PhaseResult,
        rest: Sequence[PhaseResult],
        views: Sequence[PhaseResult] = (),
        choices: Sequence[Candidates] = (),
        lists: Sequence[Candidates] = (),
    ) -> AssembledSearch:
        """Assemble the parts: the shallow phase, then the views, then the slices, each in order."""
        first = with_learned(first, cheapest_choices(_flat(choices)), cheapest(_flat(lists)))
        most, all_parts = self.options.budget.max_candidates, (first, *views, *rest)
        return AssembledSearch(
            Found(
                tuple(c for part in all_parts for c in part.candidates)[:most],
                tuple(c for part in all_parts for c in part.guesses)[:most],
            ),
            nearest(first, (*rest, *views)),
            all(part.exhausted for part in rest) if rest else first.exhausted,
            sum(part.counts.programs for part in all_parts),
            merge(first.log, [part.log for part in (*rest, *views)]),
        )

    def conclude(
        self,
        task: ArcTask,
        assembled: AssembledSearch,
        evidence: Mapping[Program, Evidence],
        incomplete: bool = False,
    ) -> ParallelSearchResult:
        """Judge an assembled search by the evidence from its examinations."""
        verdict = judge(
            task, assembled.found, self.standard, evidence,
            exhausted=assembled.exhausted, incomplete=incomplete,
        )  # fmt: skip
        return ParallelSearchResult(
            verdict, assembled.nearest, assembled.exhausted, assembled.programs, assembled.log
        )

    def combine(
        self,
        task: ArcTask,
        first: PhaseResult,
        rest: Sequence[PhaseResult],
        incomplete: bool = False,
    ) -> ParallelSearchResult:
        """Assemble the phases of a task, run the needed examinations, and conclude."""
        return self._examined(task, self.assemble(first, rest), incomplete)

    def _examined(
        self, task: ArcTask, assembled: AssembledSearch, incomplete: bool = False
    ) -> ParallelSearchResult:
        evidence = {
            each.program: examined(task, self.standard, each)
            for each in needed(assembled.found, self.standard)
        }
        return self.conclude(task, assembled, evidence, incomplete)


def _flat(parts: Sequence[Candidates]) -> list[ProgramCandidate]:
    return [candidate for part in parts for candidate in part]


def nearest(first: PhaseResult, rest: Sequence[PhaseResult]) -> Nearest:
    """Return the program with the smallest loss; the earlier part wins a tie."""
    nearest_by_part = [part.nearest for part in (first, *rest)]
    return min(nearest_by_part, key=lambda n: (n.shape_loss, n.cell_loss))

"""The plan of one task's search: a shallow phase, and if that finds nothing, parts in parallel.

    shallow ──► found? ──► verdict
                  │ no
                  ▼
    slice 0 … slice n (fixed number, fixed bounds), unless every program was tried
    views worth it (fixed order, a fixed share each) ──► merged by (time, slice) ──► verdict

`ParallelPlanner.search` runs it all in this process; `arc.tasks` runs the same steps as
tasks of the engine. Both combine the parts with `combine`, so they agree byte for byte.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from weft.searches.arc.assessment import Standard, judge
from weft.searches.arc.synthesis.budget import SLICES, WorkerBudget, split_budget
from weft.searches.arc.synthesis.cache import ApplyCache
from weft.searches.arc.synthesis.encodedtask import EncodedTask
from weft.searches.arc.synthesis.log import SearchLog, merge
from weft.searches.arc.synthesis.phases import Nearest, Options, PhaseResult, deep, shallow, viewed
from weft.searches.arc.task import ArcTask
from weft.searches.arc.verdict import TaskVerdict


@dataclass(frozen=True, slots=True)
class ParallelSearchResult:
    """The outcome of one task's search, and the log of how it came about."""

    verdict: TaskVerdict
    nearest: Nearest
    exhausted: bool
    programs: int
    log: SearchLog


class ParallelPlanner:
    """Plans the search of a task; `slices` is fixed beforehand, whatever runs them."""

    def __init__(
        self, options: Options, slices: int = SLICES, standard: Standard | None = None
    ) -> None:
        self.options, self.slices = options, slices
        limit = options.budget.max_millibits
        self.standard = standard or Standard(limit_millibits=limit, without=options.without)

    def search(self, task: ArcTask) -> ParallelSearchResult:
        """Run every part here, one after the other."""
        problem, cache = EncodedTask(task.without_truth()), ApplyCache()
        first = shallow(problem, self.options, cache)
        spent, is_solved = first.counts.programs, bool(first.candidates)
        chosen = first.views[: self.most_views(spent)]
        parts = self.parts(spent, is_solved, first.exhausted, len(chosen))
        rest = [deep(problem, self.options, part, first.table, cache) for part in parts]
        views = [
            viewed(problem.task, self.options, view, number, cache)
            for number, view in enumerate(chosen)
        ]
        return self.combine(task, first, rest, views)

    def most_views(self, programs: int) -> int:
        """Return for how many views there is room after so many programs were spent."""
        budget = self.options.budget
        left = budget.max_programs - programs
        return max(0, left) // budget.view_programs if budget.view_programs else 0

    def parts(
        self, programs: int, is_solved: bool, exhausted: bool, views: int = 0
    ) -> tuple[WorkerBudget, ...]:
        """Return the slices to run after the shallow phase spent so many programs.

        Views have their shares before the slices are given theirs.
        """
        budget = self.options.budget
        left = budget.max_programs - programs - views * budget.view_programs
        if is_solved or exhausted or left <= 0:
            return ()
        return split_budget(len(self.options.language.firsts), self.slices, left)

    def combine(
        self,
        task: ArcTask,
        first: PhaseResult,
        rest: Sequence[PhaseResult],
        views: Sequence[PhaseResult] = (),
        incomplete: bool = False,
    ) -> ParallelSearchResult:
        """Assemble the parts: views in their order, then slices in theirs."""
        most, all_parts = self.options.budget.max_candidates, (first, *views, *rest)
        candidates = [c for part in all_parts for c in part.candidates][:most]
        guesses = [c for part in all_parts for c in part.guesses][:most]
        exhausted = all(part.exhausted for part in rest) if rest else first.exhausted
        return ParallelSearchResult(
            judge(
                task,
                candidates,
                guesses,
                self.standard,
                exhausted=exhausted,
                incomplete=incomplete,
            ),
            nearest(first, (*rest, *views)),
            exhausted,
            sum(part.counts.programs for part in all_parts),
            merge(first.log, [part.log for part in (*rest, *views)]),
        )


def nearest(first: PhaseResult, rest: Sequence[PhaseResult]) -> Nearest:
    """Return the program with the smallest loss; the earlier part wins a tie."""
    nearest_by_part = [part.nearest for part in (first, *rest)]
    return min(nearest_by_part, key=lambda n: (n.shape_loss, n.cell_loss))

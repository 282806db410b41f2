"""What those who watch are shown beside plain counts: plans, tasks by lane, ended lanes, best.

The machine and the journal keep it up to date; nothing is ever decided from it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from weft.coordinator.dispatch import Dispatch
from weft.model.plan import Best, Number, Plan, expected_tasks

Recorded = Callable[[], Iterable[tuple[str, str]]]
"""Function and value of every task completed so far, read from the manifest."""


class Outlook:
    """How far a search has come, in its own terms."""

    def __init__(self, dispatch: Dispatch) -> None:
        self._dispatch = dispatch
        self._plans: dict[str, Plan] = {}
        self._tasks: dict[str, int] = {}
        self._ended: set[str] = set()
        self._best: Best | None = None
        self.lanes = 0
        self.lanes_ended = 0
        self.outcomes: dict[str, int] = {}
        """How many lanes ended with which text, if the plan asks for a tally."""

    @property
    def plan(self) -> Plan:
        """The root's plan, which says what is shown."""
        return self._plans.get("", _NO_PLAN)

    @property
    def is_whole(self) -> bool:
        """Whether the search itself has said how many tasks there will be."""
        return self.plan.total is not None

    @property
    def best(self) -> Number | None:
        """The best value so far, if the plan asks for it and somebody looks."""
        return None if self._best is None else self._best.value

    @property
    def workers(self) -> int:
        """How many tasks can run at a time."""
        return len(self._dispatch.placement.slots)

    def expected(self) -> int:
        """How many tasks the run will have, as far as is known."""
        return expected_tasks(self._plans, self._tasks, self._ended)

    def ages_s(self, now_s: float) -> list[float]:
        """For how long each of the tasks runs that are under way."""
        starts = [task.started_s for task in self._dispatch.out.values()]
        return [max(0.0, now_s - start_s) for start_s in starts if start_s is not None]

    # -- kept up to date by the machine and the journal -------------------------------------

    def declare(self, lane: str, plan: Plan) -> None:
        """Take the plan of a lane; it replaces an earlier one."""
        self._plans[lane] = plan

    def plan_tasks(self, lane: str, count: int) -> None:
        """A lane has opened a round of so many tasks; a negative count takes some back."""
        self._tasks[lane] = self._tasks.get(lane, 0) + count

    def open_lanes(self, count: int) -> None:
        """So many lanes were opened."""
        self.lanes += count

    def end_lane(self, lane: str, answer: object) -> None:
        """A lane has its answer."""
        self._ended.add(lane)
        self.lanes_ended += 1
        key = self.plan.tally
        outcome = answer.get(key) if key is not None and isinstance(answer, dict) else None
        if isinstance(outcome, str):
            self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1

    def find_best(self, recorded: Recorded) -> None:
        """Find the best value among all results: after a plan, and when some were dropped."""
        self._best = None if self.plan.best is None else Best(self.plan)
        if self._best is not None:
            for function, value in recorded():
                self._best.offer(function, value)

    def offer(self, function: str, values: Iterable[str]) -> None:
        """Take results of one function in."""
        if self._best is not None:
            for value in values:
                self._best.offer(function, value)


_NO_PLAN = Plan()

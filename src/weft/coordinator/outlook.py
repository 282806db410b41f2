"""What progress displays show besides counts: plans, tasks by lane, ended lanes, best value.

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
        """The number of lanes that ended with each text, if the plan asks for a tally."""

    @property
    def plan(self) -> Plan:
        """The root's plan, which determines what is shown."""
        return self._plans.get("", _NO_PLAN)

    @property
    def is_whole(self) -> bool:
        """Whether the root's plan states how many tasks there will be."""
        return self.plan.total is not None

    @property
    def best(self) -> Number | None:
        """The best value so far, if the plan asks for it and progress is displayed."""
        return None if self._best is None else self._best.value

    @property
    def workers(self) -> int:
        """The number of slots."""
        return len(self._dispatch.placement.slots)

    def expected(self) -> int:
        """Return how many tasks the run will have, as far as is known."""
        return expected_tasks(self._plans, self._tasks, self._ended)

    def ages_s(self, now_s: float) -> list[float]:
        """Return for how long each running task has been running."""
        starts = [task.started_s for task in self._dispatch.out.values()]
        return [max(0.0, now_s - start_s) for start_s in starts if start_s is not None]

    # -- kept up to date by the machine and the journal -------------------------------------

    def declare(self, lane: str, plan: Plan) -> None:
        """Set the plan of a lane, replacing an earlier one."""
        self._plans[lane] = plan

    def plan_tasks(self, lane: str, count: int) -> None:
        """Add the tasks of a round that a lane has opened; a negative count removes some."""
        self._tasks[lane] = self._tasks.get(lane, 0) + count

    def open_lanes(self, count: int) -> None:
        """Count lanes that were opened."""
        self.lanes += count

    def end_lane(self, lane: str, answer: object) -> None:
        """Count a lane that has ended, and tally its answer."""
        self._ended.add(lane)
        self.lanes_ended += 1
        key = self.plan.tally
        outcome = answer.get(key) if key is not None and isinstance(answer, dict) else None
        if isinstance(outcome, str):
            self.outcomes[outcome] = self.outcomes.get(outcome, 0) + 1

    def find_best(self, recorded: Recorded) -> None:
        """Find the best value among all results, after a new plan and when some were dropped."""
        self._best = None if self.plan.best is None else Best(self.plan)
        if self._best is not None:
            for function, value in recorded():
                self._best.offer(function, value)

    def offer(self, function: str, values: Iterable[str]) -> None:
        """Consider results of one function."""
        if self._best is not None:
            for value in values:
                self._best.offer(function, value)


_NO_PLAN = Plan()

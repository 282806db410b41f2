"""Run the evals of a depth through their stages, one round per stage.

    implement ⇄ review ─► approve ─► sweep ─► score, repeated until decided

Evals with equal files are collapsed after `implement`. An eval that failed, was collapsed, or
changed a protected path does not continue. A failure or an exhausted budget may end a round; this
is judged in eval order.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence

from weft.model.codec import Table, from_json
from weft.model.plan import Plan
from weft.model.results import Result, TaskError
from weft.model.tasks import Round, TaskCall, make_round
from weft.model.values import Object
from weft.searches.tree.config import APPROVE, TreeConfig
from weft.searches.tree.decide import Spending, gain_rules, touched
from weft.searches.tree.history import Eval, TreeHistory
from weft.searches.tree.recordings import Recordings
from weft.searches.tree.results import (
    Candidate,
    Review,
    StageCost,
    StageResult,
    cost_of,
    declared_failure,
    failure_of,
    read_stage,
)
from weft.searches.tree.scorings import first_round, settled
from weft.searches.tree.stages import stage_call

Step = Round | Plan
Steps = Generator[Step, Sequence[Result], None]
Store = Callable[[Eval, Table], None]
"""Stores the value that a stage recorded in its eval."""
ONCE = (None,)
"""The repeats of a stage that runs once."""


class EvalStages:
    """Runs the stages of evals and stores their results in the evals."""

    def __init__(
        self,
        config: TreeConfig,
        inputs: Mapping[str, Object],
        recordings: Recordings,
        history: TreeHistory,
    ) -> None:
        self._config, self._inputs = config, inputs
        self._recordings, self._history = recordings, history

    def run(self, planned: Sequence[Eval]) -> Steps:
        """Run all evals of a depth through their stages, one round per stage."""
        yield from self._implement(planned)
        if self._config.asks_before("score"):
            yield from self.ask(self._alive(planned))
        if self._config.has("sweep") and not self._config.dry_run:
            yield from self._stage_round("sweep", self._alive(planned), _store_result)
        yield from self._score(self._alive(planned))

    def _score(self, evals: Sequence[Eval]) -> Steps:
        """Score evals; repeated scorings end as soon as the outcome is decided."""
        repeats = self._config.repeats
        if repeats == 1 or self._config.dry_run:
            yield from self._stage_round("score", evals, _store_result)
            return
        waiting, completed = list(evals), 0
        while waiting:
            count = first_round(repeats) if completed == 0 else 1
            yield from self._stage_round(
                "score", waiting, _store_scoring, range(completed, completed + count)
            )
            completed += count
            for item in self._alive(waiting):
                item.result = item.result or self._settled(item)
            waiting = [e for e in self._alive(waiting) if e.result is None]

    def _settled(self, item: Eval) -> StageResult | None:
        """Return the scoring that counts once the others cannot change the outcome, else None."""
        config, band = self._config, self._history.band

        def is_refused(result: StageResult) -> bool:
            rules = gain_rules(result, item.parent, config, band)
            own = bool(config.gate or config.objectives)  # these may inspect more than the score
            return not own and not all(rule.passed for rule in rules)

        return settled(item.scorings, config.repeats, config.direction, is_refused)

    def _implement(self, planned: Sequence[Eval]) -> Steps:
        """Implement the ideas; implement rejected ones again with the reviewer's feedback."""
        waiting = list(planned)
        for number in range(self._config.review_rounds):
            yield from self._stage_round("implement", waiting, _store_candidate)
            self._collapse(planned)
            reviewed = self._alive(waiting)
            if not self._config.has("review") or self._config.dry_run:
                return
            yield from self._stage_round("review", reviewed, _store_review)
            last = number + 1 == self._config.review_rounds
            waiting = [e for e in reviewed if e.refused == "review-rejected" and not last]
            for item in waiting:
                item.refused, item.error, item.state = "", None, "queued"
            if not waiting:
                return

    def ask(self, evals: Sequence[Eval]) -> Steps:
        """Ask a person to decide about evals."""
        if evals:
            count = f"{len(evals)} eval waits" if len(evals) == 1 else f"{len(evals)} evals wait"
            yield Plan(unit="stages", note=f"{count} for a person: weft tree approve RUN")
        yield from self._stage_round(APPROVE, evals, _store_approval)

    def _alive(self, evals: Sequence[Eval]) -> list[Eval]:
        """Return the evals that continue: not failed, dropped, collapsed or tampered with."""
        sound = [e for e in evals if e.error is None and e.state != "dropped"]
        return [e for e in sound if e.same_as is None and not touched(e, self._config)]

    def _stage_round(
        self, stage: str, evals: Sequence[Eval], store: Store, repeats: Sequence[int | None] = ONCE
    ) -> Steps:
        """Run one stage of some evals; those left out by an early stop are dropped."""
        for item in (e for e in evals if stage in e.imported):
            item.stage = stage
            store(item, item.imported[stage])
        evals = [e for e in evals if stage not in e.imported]
        if not evals or self.is_strict():
            self._drop(evals)
            return
        pairs = [(item, repeat) for item in evals for repeat in repeats]
        config, inputs, recordings = self._config, self._inputs, self._recordings
        calls = [stage_call(stage, e, config, inputs, recordings, repeat=n) for e, n in pairs]
        results = yield from self.run_round(stage, calls)
        for (item, _), result in zip(pairs, results, strict=False):
            item.stage = stage
            item.keys.append(result.key)
            item.stages.append(stage)
            item.costs.append(cost_of(result) or StageCost())
            item.reason = declared_failure(result)
            if result.ok and not item.reason:
                store(item, result.value)
            else:
                item.error, item.state = failure_of(stage, result), "failed"
        self._drop([item for item, _ in pairs[len(results) :] if item.error is None])

    def is_strict(self) -> bool:
        """Whether a failure has ended the search."""
        return self._history.stopped.startswith("strict-fail-depth")

    def run_round(
        self, stage: str, calls: Sequence[TaskCall]
    ) -> Generator[Step, Sequence[Result], Sequence[Result]]:
        """Run one round; a failure or an exhausted budget may end it, judged in task order."""
        spending = Spending(self._config, self._history)
        judged = spending.limited and not self._history.stopped  # after a stop, paid work is scored
        results = yield make_round(calls, spending.stops if judged else None)
        spending.settle(stage, results)
        return results

    def _drop(self, evals: Sequence[Eval]) -> None:
        for item in evals:
            item.state = "dropped"

    def _collapse(self, evals: Sequence[Eval]) -> None:
        """Make evals with equal files share the result of the first of them."""
        first: dict[str, int] = {}
        for item in evals:
            if item.candidate is not None and item.error is None:
                known = first.setdefault(item.candidate.tree, item.eval_id)
                item.same_as = None if known == item.eval_id else known


def _store_candidate(item: Eval, value: Table) -> None:
    item.candidate = read_stage(Candidate, value)
    if item.candidate.turns is not None:
        item.turns = (*item.turns, item.candidate.turns)


def _store_review(item: Eval, value: Table) -> None:
    review = from_json(Review, value)
    item.feedback = review.feedback
    if not review.approved:
        item.refused = "review-rejected"
        item.error = TaskError("review-rejected", "review")
        item.state = "failed"


def _store_scoring(item: Eval, value: Table) -> None:
    result = read_stage(StageResult, value)
    if item.imported:
        item.result = result
    else:
        item.scorings.append(result)


def _store_approval(item: Eval, value: Table) -> None:
    decision = from_json(Review, value)
    item.feedback = decision.feedback
    if not decision.approved:
        item.refused = "approval-rejected"
        item.error, item.state = TaskError("approval-rejected", APPROVE), "failed"


def _store_result(item: Eval, value: Table) -> None:
    result = read_stage(StageResult, value)
    if item.stage == "sweep":
        item.sweep = result
    else:
        item.result = result

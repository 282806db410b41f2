"""The search behind `weft tree run`: plan a depth, run its stages, gate, rank, promote.

    root ─► depth: plan all evals ─► implement ─► collapse equal files ─► review ─► sweep ─► score
              ▲                                                                             │
              └──────────────── the best B are the next frontier ◄── gate, rank ◄───────────┘

Every stage of all evals of a depth is one round; the barrier is its yield. It decides from
recorded results only and notes its decisions in a `TreeHistory`, which is rebuilt from a run.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from weft import INPUTS, search
from weft.model.codec import Table, from_json, to_json
from weft.model.plan import MAX_NOTE_CHARS, Plan
from weft.model.results import Result, TaskError
from weft.model.tasks import Round, SearchCall, TaskCall, Unknown, make_round
from weft.model.values import Object, Value
from weft.searches.tree.config import APPROVE, Idea, Root, TreeConfig
from weft.searches.tree.decide import Spending, gain_rules, touched
from weft.searches.tree.decimals import EXACT, gain, lower_is_better
from weft.searches.tree.history import Eval, Rule, Skip, TreeHistory, TreeNode, stop_text
from weft.searches.tree.objectives import missing, pareto_front
from weft.searches.tree.propose import add_ideas, propose_call
from weft.searches.tree.recordings import ImportedRun, Imports
from weft.searches.tree.results import (
    Candidate,
    Review,
    StageCost,
    StageOutcome,
    StageResult,
    cost_of,
    declared_failure,
    failure_of,
    read_stage,
)
from weft.searches.tree.rules import Judges
from weft.searches.tree.scorings import first_round, median_of, settled
from weft.searches.tree.selection import select
from weft.searches.tree.stages import message_of, root_call, stage_call

NAME = "tree.run"
Step = Round | Plan
Steps = Generator[Step, Sequence[Result], None]
Promotion = Generator[Step, Sequence[Result], list[TreeNode]]
Search = Generator[Round | Plan, Sequence[Result], dict[str, Value] | Unknown]
Store = Callable[[Eval, Table], None]
"""Takes in what a stage recorded."""
ONCE = (None,)
"""The repeats of a stage that is run once."""


@search(name="tree.run", version=3)
def tree(
    config: dict[str, Value],
    ideas: list[dict[str, Value]],
    roots: list[dict[str, Value]],
    recorded: dict[str, Value],
    imported: dict[str, Value] | None,
    *,
    inputs: Mapping[str, Object] = INPUTS,
) -> Search:
    """Improve a repository's score by sequences of ideas; the answer is the best path."""
    given = {
        "config": config, "ideas": ideas, "roots": roots, "recorded": recorded,
        "imported": imported,
    }  # fmt: skip
    args = from_json(SearchArgs, given)
    return (yield from search_tree(args, inputs, TreeHistory()))


@dataclass(frozen=True, slots=True)
class SearchArgs:
    """The arguments of the search, as the run's first record binds them."""

    config: TreeConfig
    ideas: tuple[Idea, ...]
    roots: tuple[Root, ...]
    recorded: Mapping[str, StageOutcome]
    imported: ImportedRun | None

    def call(self) -> SearchCall:
        """Return the search with these arguments."""
        return tree(
            config=to_json(self.config), ideas=[idea.to_dict() for idea in self.ideas],
            roots=[to_json(root) for root in self.roots],
            recorded={key: outcome.to_dict() for key, outcome in self.recorded.items()},
            imported=None if self.imported is None else to_json(self.imported),
        )  # fmt: skip


def search_tree(args: SearchArgs, inputs: Mapping[str, Object], history: TreeHistory) -> Search:
    """Run the search and write down in `history` what is decided."""
    state = TreeState(args, inputs, history)
    yield from state.score_roots(args.roots)
    if not history.scored_roots():
        return Unknown("incomplete", summary_of(state.config, history))
    yield state.expected()
    frontier = list(history.nodes)
    state.check_goals()
    if state.is_stopped():
        return state.answer()
    for depth in range(1, state.config.max_depth + 1):
        if state.is_full():
            history.stopped = state.full_text()
            break
        yield from state.propose(depth, frontier)
        if state.is_stopped():
            break
        planned = state.plan(depth, frontier)
        history.frontiers.append([node.node_id for node in frontier])
        if not planned:
            history.stopped = stop_text("no-ideas")
            break
        yield state.expected()
        yield from state.stages(planned)
        promoted = yield from state.promote(planned)
        state.check_goals()
        yield state.expected()
        if state.is_stopped():
            break
        if not promoted and state.config.stop_on_empty_frontier:
            history.stopped = state.full_text() if state.is_cut else stop_text("empty-frontier")
            break
        frontier = promoted or frontier
    else:
        history.stopped = state.full_text() if state.is_cut else state.depth_text()
    return state.answer()


class TreeState:
    """The state of one search; every method is a pure function of recorded results."""

    def __init__(
        self, args: SearchArgs, inputs: Mapping[str, Object], history: TreeHistory
    ) -> None:
        self.config, self.ideas, self.recordings = args.config, args.ideas, args.recorded
        self.inputs, self.history = inputs, history
        self.imports = Imports(args.imported)
        self._judges = Judges(args.config, history)
        self._tried_digests: set[str] = set()
        self._best_id, self._stale_depths = 0, 0
        self.is_cut = False
        """Whether `max_total_evals` left an idea of the last planned depth out."""

    def expected(self) -> Plan:
        """Say where the search stands: evals that are over, and the best score."""
        evals, best = self.history.evals, best_of(self.config, self.history)
        done = sum(e.state in ("completed", "failed") for e in evals)
        note = f"{done} of {len(evals)} evals, best {best.score_text} at {best.name}"
        return Plan(unit="stages", note=note[:MAX_NOTE_CHARS])

    def score_roots(self, roots: Sequence[Root]) -> Steps:
        """Score the roots, as often as configured; the spread of a root's scores is noise."""
        config, history = self.config, self.history
        nodes = [TreeNode(number, r.commit, r.tree, 0, ()) for number, r in enumerate(roots)]
        history.nodes += nodes
        history.roots = len(nodes)
        repeats = range(max(config.root_repeats, config.repeats))
        calls = [root_call(node, n, config, self.inputs) for node in nodes for n in repeats]
        results = yield make_round(calls)
        for result in (r for r in results if not r.ok):
            history.root_error = failure_of("score", result)
            history.root_key = result.key
            history.stopped = stop_text("root-unscored")
            return
        for number, node in enumerate(nodes):
            own = results[number * len(repeats) : (number + 1) * len(repeats)]
            self._store_root(node, [read_stage(StageResult, result.value) for result in own])

    def _store_root(self, node: TreeNode, scored: Sequence[StageResult]) -> None:
        config, history = self.config, self.history
        unknown = missing(scored[0], config)
        if unknown:
            history.stopped = stop_text("metric-missing", f"{node.name} reports no {unknown[0]}")
            return
        values = [Decimal(result.score_text) for result in scored]
        node.result = scored[0] if config.repeats == 1 else median_of(scored, config.direction)
        if node.node_id == 0:
            history.root_scores = [result.score_text for result in scored]
        history.band = max(history.band, EXACT.subtract(max(values), min(values)))

    def check_goals(self) -> None:
        """End the search when its target is reached, or when it has not improved for long."""
        config, best = self.config, best_of(self.config, self.history)
        depths = len(self.history.frontiers)
        self._stale_depths = (
            0 if best.node_id != self._best_id else self._stale_depths + bool(depths)
        )
        self._best_id = best.node_id
        if self.history.stopped:
            return
        target = Decimal(config.target_score) if config.target_score else None
        if target is not None and gain(best.score, target, config.direction) >= 0:
            self.history.stopped = stop_text("target-score", f"{best.name} has {best.score_text}")
        elif config.patience and self._stale_depths >= config.patience:
            detail = f"no better score in {self._stale_depths} depths"
            self.history.stopped = stop_text("patience", detail)

    def is_stopped(self) -> bool:
        """Whether a limit has ended the search."""
        return bool(self.history.stopped)

    def is_full(self) -> bool:
        """Whether no more evals may be planned."""
        return len(self.history.evals) >= self.config.max_total_evals

    def full_text(self) -> str:
        """Say that no more evals may be planned."""
        return stop_text("max-total-evals", f"{self.config.max_total_evals} evals are planned")

    def depth_text(self) -> str:
        """Say that the last depth is done."""
        return stop_text("max-depth", f"depth {self.config.max_depth} is done")

    def propose(self, depth: int, frontier: Sequence[TreeNode]) -> Steps:
        """Let mutations and a command make ideas for each node, one task per node."""
        if not self.config.proposes():
            return
        nodes = sorted(frontier, key=lambda n: n.node_id)
        calls = [
            propose_call(n, depth, self.config, self.history, self.inputs, self.recordings)
            for n in nodes
        ]
        results = yield from self._judged("propose", calls)
        for node, result in zip(nodes, results, strict=False):
            add_ideas(node, depth, result, self.history)

    # -- planning -------------------------------------------------------------------------

    def plan(self, depth: int, frontier: Sequence[TreeNode]) -> list[Eval]:
        """Allocate every eval of a depth: nodes by id, ideas by name."""
        planned: list[Eval] = []
        for node in sorted(frontier, key=lambda n: n.node_id):
            for idea in self._choose(depth, node):
                if self.is_full():
                    self._skip(node, depth, idea, "max_total_evals is reached")
                    self.is_cut = True
                    continue
                item = Eval(len(self.history.evals) + 1, node, idea, depth)
                item.imported = self.imports.find(item, message_of)
                node.tried.add(idea.name)
                self._tried_digests.add(idea.digest)
                self.history.evals.append(item)
                planned.append(item)
        return planned

    def _choose(self, depth: int, node: TreeNode) -> list[Idea]:
        chosen: list[Idea] = []
        offered = sorted([*self.ideas, *node.ideas], key=lambda idea: idea.name)
        here = {idea.digest for idea in offered if idea.name in node.tried}
        above = {n.idea.digest for n in node.path() if n.idea is not None}
        for idea in offered:
            if idea.name in node.tried:
                continue
            reason = self._known(idea, here, above)
            if reason:
                self._skip(node, depth, idea, reason)
            elif len(chosen) < self.config.ideas_per_node:
                chosen.append(idea)
                here.add(idea.digest)
        return chosen

    def _known(self, idea: Idea, here: set[str], above: set[str]) -> str:
        """Say why an idea needs no try on a node; empty when it does."""
        scope = self.config.dedupe_scope
        if scope != "none" and idea.digest in here:
            return "same text as another idea on this node"
        if scope in ("ancestors", "global") and idea.digest in above:
            return "applied on the path to this node"
        if scope == "global" and idea.digest in self._tried_digests:
            return "tried elsewhere"
        return ""

    def _skip(self, node: TreeNode, depth: int, idea: Idea, reason: str) -> None:
        self.history.skips.append(Skip(node.node_id, depth, idea.name, reason))

    # -- stages ---------------------------------------------------------------------------

    def stages(self, planned: Sequence[Eval]) -> Steps:
        """Take all evals of a depth through their stages, one round per stage."""
        yield from self._implement(planned)
        if self.config.asks_before("score"):
            yield from self._ask(self._alive(planned))
        if self.config.has("sweep") and not self.config.dry_run:
            yield from self._round("sweep", self._alive(planned), _store_result)
        yield from self._score(self._alive(planned))

    def _score(self, evals: Sequence[Eval]) -> Steps:
        """Score evals; where scores are repeated, no more often than it takes to decide."""
        repeats = self.config.repeats
        if repeats == 1 or self.config.dry_run:
            yield from self._round("score", evals, _store_result)
            return
        waiting, done = list(evals), 0
        while waiting:
            count = first_round(repeats) if done == 0 else 1
            yield from self._round("score", waiting, _store_scoring, range(done, done + count))
            done += count
            for item in self._alive(waiting):
                item.result = item.result or self._settled(item)
            waiting = [e for e in self._alive(waiting) if e.result is None]

    def _settled(self, item: Eval) -> StageResult | None:
        """Return the scoring that counts, as soon as the others cannot change the outcome."""
        config, band = self.config, self.history.band

        def is_refused(result: StageResult) -> bool:
            rules = gain_rules(result, item.parent, config, band)
            own = bool(config.gate or config.objectives)  # they may look at more than the score
            return not own and not all(rule.passed for rule in rules)

        return settled(item.scorings, config.repeats, config.direction, is_refused)

    def _implement(self, planned: Sequence[Eval]) -> Steps:
        """Implement, and again with the reviewer's words where it rejected."""
        waiting = list(planned)
        for number in range(self.config.review_rounds):
            yield from self._round("implement", waiting, _store_candidate)
            self._collapse(planned)
            reviewed = self._alive(waiting)
            if not self.config.has("review") or self.config.dry_run:
                return
            yield from self._round("review", reviewed, _store_review)
            last = number + 1 == self.config.review_rounds
            waiting = [e for e in reviewed if e.refused == "review-rejected" and not last]
            for item in waiting:
                item.refused, item.error, item.state = "", None, "queued"
            if not waiting:
                return

    def _ask(self, evals: Sequence[Eval]) -> Steps:
        """Let a person decide about evals."""
        if evals:
            count = f"{len(evals)} eval waits" if len(evals) == 1 else f"{len(evals)} evals wait"
            yield Plan(unit="stages", note=f"{count} for a person: weft tree approve RUN")
        yield from self._round(APPROVE, evals, _store_approval)

    def _alive(self, evals: Sequence[Eval]) -> list[Eval]:
        """Return those that go on: nothing failed, not collapsed, no protected path changed."""
        sound = [e for e in evals if e.error is None and e.state != "dropped"]
        return [e for e in sound if e.same_as is None and not touched(e, self.config)]

    def _round(
        self, stage: str, evals: Sequence[Eval], store: Store, repeats: Sequence[int | None] = ONCE
    ) -> Steps:
        """Run one stage of some evals; what an early stop left out is dropped."""
        for item in (e for e in evals if stage in e.imported):
            item.stage = stage
            store(item, item.imported[stage])
        evals = [e for e in evals if stage not in e.imported]
        if not evals or self._is_strict():
            self._drop(evals)
            return
        pairs = [(item, repeat) for item in evals for repeat in repeats]
        config, inputs, recordings = self.config, self.inputs, self.recordings
        calls = [stage_call(stage, e, config, inputs, recordings, repeat=n) for e, n in pairs]
        results = yield from self._judged(stage, calls)
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

    def _is_strict(self) -> bool:
        """Whether a failure has ended the search."""
        return self.history.stopped.startswith("strict-fail-depth")

    def _judged(
        self, stage: str, calls: Sequence[TaskCall]
    ) -> Generator[Step, Sequence[Result], Sequence[Result]]:
        """Run one round; a failure or spent money may end it, judged in its order."""
        spending = Spending(self.config, self.history)
        judged = spending.limited and not self.history.stopped  # what is paid for is still scored
        results = yield make_round(calls, spending.stops if judged else None)
        spending.settle(stage, results)
        return results

    def _drop(self, evals: Sequence[Eval]) -> None:
        for item in evals:
            item.state = "dropped"

    def _collapse(self, evals: Sequence[Eval]) -> None:
        """Let evals with equal files share the result of the first of them."""
        first: dict[str, int] = {}
        for item in evals:
            if item.candidate is not None and item.error is None:
                known = first.setdefault(item.candidate.tree, item.eval_id)
                item.same_as = None if known == item.eval_id else known

    # -- promotion ------------------------------------------------------------------------

    def promote(self, planned: Sequence[Eval]) -> Promotion:
        """Gate and rank a depth; the best become nodes."""
        for item in planned:
            self._judge(item)
        passed = [e for e in planned if not e.refused and e.result and e.same_as is None]
        order = self._judges.ranked(passed)
        for place, item in enumerate(order, 1):
            item.rank = place
        if self.config.asks_before("promotion"):
            chosen = yield from self._approved(order)
        else:
            chosen = select(order, self.config)
        return [self._node(item) for item in chosen]

    def _approved(self, order: Sequence[Eval]) -> Generator[Step, Sequence[Result], list[Eval]]:
        """Ask a person about the best; where one is refused, about the next one."""
        asked: set[int] = set()
        while True:
            chosen = select([item for item in order if not item.refused], self.config)
            unasked = [item for item in chosen if item.eval_id not in asked]
            if not unasked:
                return chosen
            asked.update(item.eval_id for item in unasked)
            yield from self._ask(unasked)
            for item in unasked:
                self._settle(item)

    def _settle(self, item: Eval) -> None:
        """Note what a person decided about an eval that was scored."""
        if item.state == "dropped":
            item.refused = "dropped"
        elif item.error is None:
            item.rules.append(Rule("approval", True, item.feedback or "a person approved"))
        else:
            item.refused = item.error.type
            item.rules.append(
                Rule(item.refused, False, item.feedback or f"approve: {item.refused}")
            )
            if item.refused == "approval-rejected":  # it was completed all the same
                item.error, item.state = None, "completed"

    def _judge(self, item: Eval) -> None:
        if item.state == "dropped":
            item.refused = "dropped"
            return
        if item.same_as is not None:
            item.state, item.refused = "completed", f"same as e{item.same_as}"
            return
        item.rules = self._judges.gate(item)
        if item.error is None:
            item.state = "completed"
        item.refused = next((rule.name for rule in item.rules if not rule.passed), "")

    def _node(self, item: Eval) -> TreeNode:
        assert item.candidate is not None
        assert item.result is not None
        candidate, parent = item.candidate, item.parent
        steps = parent.steps if candidate.diff is None else (*parent.steps, candidate.diff)
        node = TreeNode(
            len(self.history.nodes), candidate.commit, candidate.tree, item.depth,
            steps, item.result, parent, item.eval_id, item.idea,
            turns=(*parent.turns, *item.turns),
        )  # fmt: skip
        self.history.nodes.append(node)
        item.node_id = node.node_id
        return node

    def answer(self) -> dict[str, Value] | Unknown:
        """Return the best path, or why there is none."""
        history, summary = self.history, summary_of(self.config, self.history)
        done = any(e.state == "completed" for e in history.evals)
        done = done or history.stopped.startswith("target-score")
        if not done or self._is_strict():
            return Unknown("incomplete", summary)
        best = best_of(self.config, history)
        better = best.node_id >= history.roots
        return summary if better else Unknown("no-improvement", summary)


def best_of(config: TreeConfig, history: TreeHistory) -> TreeNode:
    """Return the node with the best score; of equal ones the first."""
    return best_among(config, history.nodes)


def best_among(config: TreeConfig, nodes: Sequence[TreeNode]) -> TreeNode:
    """Return the best of some scored nodes; of equal ones the first."""
    return min(nodes, key=lambda n: (lower_is_better(n.score, config.direction), n.node_id))


def summary_of(config: TreeConfig, history: TreeHistory) -> dict[str, Value]:
    """Return what the answer says of a search."""
    summary: dict[str, Value] = {
        "evals": len(history.evals),
        "completed": sum(e.state == "completed" for e in history.evals),
        "failed": sum(e.state == "failed" for e in history.evals),
        "nodes": len(history.nodes),
        "depth": max((e.depth for e in history.evals), default=0),
        "stopped": history.stopped,
    }
    roots = history.scored_roots()
    if not roots:
        return summary
    best = best_of(config, history)
    if config.objectives:
        summary["pareto"] = [node.name for node in pareto_front(history.nodes, config)]
    summary |= {
        "root_score": best_among(config, roots).score_text,
        "best_score": best.score_text,
        "best_node": best.name,
        "best_commit": best.commit,
        "path": [n.idea.name for n in best.path() if n.idea is not None],
        "promoted": [[n.name, n.commit, n.score_text] for n in history.nodes[len(roots) :]],
    }
    return summary


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

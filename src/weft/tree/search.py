"""The search behind `weft tree run`: plan a depth, run its stages, gate, rank, promote.

    root ─► depth: plan all evals ─► implement ─► collapse equal files ─► review ─► sweep ─► score
              ▲                                                                             │
              └──────────────── the best B are the next frontier ◄── gate, rank ◄───────────┘

Every stage of all evals of a depth is one round; the barrier is its yield. It decides from
recorded results only and keeps what it decided in a `Story`, which views rebuild from the run.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from weft.define import search
from weft.model.results import Result
from weft.model.tasks import Round, TaskCall, Unknown, make_round
from weft.model.values import Object
from weft.tree.decide import EXACT, gain, lower_is_better, touched
from weft.tree.failures import named
from weft.tree.imports import Imports
from weft.tree.plot import Idea, Plot, Root
from weft.tree.propose import propose_call, take
from weft.tree.recordings import Recordings
from weft.tree.rules import Judges
from weft.tree.spending import Spending
from weft.tree.stages import message_of, root_call, stage_call
from weft.tree.story import Eval, Node, Skip, Story

NAME = "weft.tree.search:tree"
Steps = Generator[Round, Sequence[Result], Any]


@search(version=1)
def tree(
    plot: dict[str, Any],
    ideas: list[dict[str, Any]],
    root: dict[str, Any],
    recorded: dict[str, Any],
    imported: dict[str, Any] | None,
    *,
    inputs: Any,
) -> Steps:
    """Improve a repository's score by sequences of ideas; the answer is the best path found."""
    return (yield from grow(plot, ideas, root, recorded, imported, inputs, Story()))


def grow(
    plot: Mapping[str, Any],
    ideas: Sequence[Mapping[str, Any]],
    root: Mapping[str, Any],
    recorded: Mapping[str, Any],
    imported: Mapping[str, Any] | None,
    inputs: Mapping[str, Object],
    story: Story,
) -> Steps:
    """Carry the search out and write down in `story` what is decided."""
    own = [Idea(**raw) for raw in ideas]
    growth = Growth(Plot.from_dict(plot), own, inputs, story, Recordings(recorded))
    growth.imports = Imports(imported)
    yield from growth.score_root(Root(**root))
    if not story.nodes[0].result:
        story.stopped = "the root could not be scored"
        return Unknown("incomplete", summary_of(growth.plot, story))
    frontier = [story.nodes[0]]
    for depth in range(1, growth.plot.max_depth + 1):
        yield from growth.propose(depth, frontier)
        if growth.is_stopped():
            break
        planned = growth.plan(depth, frontier)
        story.frontiers.append([node.node_id for node in frontier])
        if not planned:
            story.stopped = "no ideas left"
            break
        yield from growth.stages(planned)
        promoted = growth.promote(planned)
        if growth.is_stopped():
            break
        if not promoted and growth.plot.stop_on_empty_frontier:
            story.stopped = "no eval was promoted"
            break
        frontier = promoted or frontier
    return growth.answer()


class Growth:
    """One search while it grows; every method is a pure function of recorded results."""

    def __init__(
        self,
        plot: Plot,
        ideas: Sequence[Idea],
        inputs: Mapping[str, Object],
        story: Story,
        recordings: Recordings | None = None,
    ) -> None:
        self.plot, self.ideas, self.inputs, self.story = plot, ideas, inputs, story
        self.imports = Imports()
        self.recordings = recordings or Recordings()
        self._judges = Judges(plot, story)
        self._seen_anywhere: set[str] = set()

    def score_root(self, root: Root) -> Steps:
        """Score the root, as often as asked; the spread of its scores is the noise band."""
        node = Node(0, root.commit, root.tree, 0, (), {})
        self.story.nodes.append(node)
        calls = [root_call(node, n, self.plot, self.inputs) for n in range(self.plot.root_repeats)]
        results = yield make_round(calls)
        if not all(result.ok for result in results):
            return
        values = [Decimal(result.value["score"]) for result in results]
        node.result = dict(results[0].value)
        self.story.root_scores = [result.value["score"] for result in results]
        self.story.band = EXACT.subtract(max(values), min(values))

    def is_stopped(self) -> bool:
        """Whether a limit has ended the search."""
        return bool(self.story.stopped)

    def propose(self, depth: int, frontier: Sequence[Node]) -> Steps:
        """Let mutations and a command make ideas for each node, one task per node."""
        if not self.plot.proposes():
            return
        nodes = sorted(frontier, key=lambda n: n.node_id)
        calls = [
            propose_call(n, depth, self.plot, self.story, self.inputs, self.recordings)
            for n in nodes
        ]
        results = yield from self._judged(calls)
        for node, result in zip(nodes, results, strict=False):
            take(node, depth, result, self.story)

    # -- planning -------------------------------------------------------------------------

    def plan(self, depth: int, frontier: Sequence[Node]) -> list[Eval]:
        """Allocate every eval of a depth: nodes by id, ideas by name."""
        planned: list[Eval] = []
        for node in sorted(frontier, key=lambda n: n.node_id):
            for idea in self._choose(depth, node):
                if len(self.story.evals) >= self.plot.max_total_evals:
                    self._skip(node, depth, idea, "max_total_evals is reached")
                    continue
                item = Eval(len(self.story.evals) + 1, node, idea, depth)
                item.imported = self.imports.find(item, message_of)
                node.tried.add(idea.name)
                self._seen_anywhere.add(idea.digest)
                self.story.evals.append(item)
                planned.append(item)
        return planned

    def _choose(self, depth: int, node: Node) -> list[Idea]:
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
            elif len(chosen) < self.plot.ideas_per_node:
                chosen.append(idea)
                here.add(idea.digest)
        return chosen

    def _known(self, idea: Idea, here: set[str], above: set[str]) -> str:
        """Say why an idea needs no try on a node; empty when it does."""
        scope = self.plot.dedupe_scope
        if scope != "none" and idea.digest in here:
            return "same text as another idea on this node"
        if scope in ("ancestors", "global") and idea.digest in above:
            return "applied on the way to this node"
        if scope == "global" and idea.digest in self._seen_anywhere:
            return "tried elsewhere"
        return ""

    def _skip(self, node: Node, depth: int, idea: Idea, reason: str) -> None:
        self.story.skips.append(Skip(node.node_id, depth, idea.name, reason))

    # -- stages ---------------------------------------------------------------------------

    def stages(self, planned: Sequence[Eval]) -> Steps:
        """Take all evals of a depth through their stages, one round per stage."""
        yield from self._implement(planned)
        for stage in ("sweep", "score"):
            if stage == "score" or (self.plot.has(stage) and not self.plot.dry_run):
                yield from self._round(stage, self._alive(planned), _keep(stage))

    def _implement(self, planned: Sequence[Eval]) -> Steps:
        """Implement, and again with the reviewer's words where it rejected."""
        waiting = list(planned)
        for number in range(self.plot.review_rounds):
            yield from self._round("implement", waiting, _keep_candidate)
            self._collapse(planned)
            reviewed = self._alive(waiting)
            if not self.plot.has("review") or self.plot.dry_run:
                return
            yield from self._round("review", reviewed, _keep_review)
            last = number + 1 == self.plot.review_rounds
            waiting = [e for e in reviewed if e.refused == "review-rejected" and not last]
            for item in waiting:
                item.refused, item.error, item.state = "", None, "queued"
            if not waiting:
                return

    def _alive(self, evals: Sequence[Eval]) -> list[Eval]:
        """Return those that go on: nothing failed, not collapsed, no protected path changed."""
        return [
            e
            for e in evals
            if e.error is None
            and e.state != "dropped"
            and e.same_as is None
            and not touched(e, self.plot)
        ]

    def _round(
        self, stage: str, evals: Sequence[Eval], keep: Callable[[Eval, dict[str, Any]], None]
    ) -> Steps:
        """Run one stage of some evals; what an early stop left out is dropped."""
        for item in (e for e in evals if stage in e.imported):
            item.stage = stage
            keep(item, item.imported[stage])
        evals = [e for e in evals if stage not in e.imported]
        if not evals or self.story.stopped.startswith("strict"):
            self._drop(evals)
            return
        calls = [stage_call(stage, e, self.plot, self.inputs, self.recordings) for e in evals]
        results = yield from self._judged(calls)
        for item, result in zip(evals, results, strict=False):
            item.stage = stage
            item.keys.append(result.key)
            item.stages.append(stage)
            if result.ok:
                keep(item, result.value)
            else:
                item.error, item.state = named(stage, result), "failed"
        self._drop(evals[len(results) :])

    def _judged(self, calls: Sequence[TaskCall]) -> Generator[Round, Sequence[Result], Any]:
        """Run one round; a failure or spent money may end it, judged in its order."""
        spending = Spending(self.plot, self.story)
        judged = spending.limited and not self.story.stopped  # what is paid for is still scored
        results = yield make_round(calls, spending.stops if judged else None)
        spending.settle(results)
        return results

    def _drop(self, evals: Sequence[Eval]) -> None:
        for item in evals:
            item.state = "dropped"

    def _collapse(self, evals: Sequence[Eval]) -> None:
        """Let evals with equal files share the result of the first of them."""
        first: dict[str, int] = {}
        for item in evals:
            if item.candidate is not None and item.error is None:
                known = first.setdefault(item.candidate["tree"], item.eval_id)
                item.same_as = None if known == item.eval_id else known

    # -- promotion ------------------------------------------------------------------------

    def promote(self, planned: Sequence[Eval]) -> list[Node]:
        """Gate and rank a depth; the best become nodes."""
        for item in planned:
            self._judge(item)
        passed = [e for e in planned if not e.refused and e.result and e.same_as is None]
        order = self._judges.ranked(passed)
        for place, item in enumerate(order, 1):
            item.rank = place
        return [self._node(item) for item in order[: self.plot.beam_width]]

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

    def _node(self, item: Eval) -> Node:
        assert item.candidate is not None
        assert item.result is not None
        diff = item.candidate["diff"]
        steps = item.parent.steps if diff is None else (*item.parent.steps, diff)
        node = Node(
            len(self.story.nodes), item.candidate["commit"], item.candidate["tree"], item.depth,
            steps, item.result, item.parent, item.eval_id, item.idea,
            turns=(*item.parent.turns, *item.turns),
        )  # fmt: skip
        self.story.nodes.append(node)
        item.node_id = node.node_id
        return node

    def answer(self) -> Any:
        """Return the best path, or why there is none."""
        story, told = self.story, summary_of(self.plot, self.story)
        done = any(e.state == "completed" for e in story.evals)
        if not done or story.stopped.startswith("strict"):
            return Unknown("incomplete", told)
        best = best_of(self.plot, story)
        better = gain(best.score, story.nodes[0].score, self.plot.direction) > 0
        return told if better else Unknown("no-improvement", told)


def best_of(plot: Plot, story: Story) -> Node:
    """Return the node with the best score; of equal ones the first."""
    return min(story.nodes, key=lambda n: (lower_is_better(n.score, plot.direction), n.node_id))


def summary_of(plot: Plot, story: Story) -> dict[str, Any]:
    """Return what the answer says of a search."""
    told: dict[str, Any] = {
        "evals": len(story.evals),
        "completed": sum(e.state == "completed" for e in story.evals),
        "failed": sum(e.state == "failed" for e in story.evals),
        "nodes": len(story.nodes),
        "depth": max((e.depth for e in story.evals), default=0),
        "stopped": story.stopped or "max_depth is reached",
    }
    if not story.nodes[0].result:
        return told
    best = best_of(plot, story)
    told |= {
        "root_score": story.nodes[0].result["score"],
        "best_score": best.result["score"],
        "best_node": best.name,
        "best_commit": best.commit,
        "path": [n.idea.name for n in best.path() if n.idea is not None],
        "promoted": [[n.name, n.commit, n.result["score"]] for n in story.nodes[1:]],
    }
    return told


def _keep_candidate(item: Eval, value: dict[str, Any]) -> None:
    item.candidate = value
    if value.get("turns") is not None:
        item.turns = (*item.turns, value["turns"])


def _keep_review(item: Eval, value: dict[str, Any]) -> None:
    item.feedback = value.get("feedback", "")
    if not value.get("approved", True):
        item.refused = "review-rejected"
        item.error = {"type": "review-rejected", "stage": "review", "exit_code": None}
        item.state = "failed"


def _keep(stage: str) -> Callable[[Eval, dict[str, Any]], None]:
    def keep(item: Eval, value: dict[str, Any]) -> None:
        if stage == "score":
            item.result = value
        else:
            item.sweep = value

    return keep

"""Decide which evals of a depth become nodes: gate, rank, selection, and optional approval."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from weft.model.results import Result
from weft.searches.tree.config import TreeConfig
from weft.searches.tree.evalstages import EvalStages, Step
from weft.searches.tree.history import Eval, Rule, TreeHistory, TreeNode
from weft.searches.tree.rules import Judges
from weft.searches.tree.selection import select

Promoted = Generator[Step, Sequence[Result], list[TreeNode]]


class Promotion:
    """Judges the evals of a depth and turns the best into nodes."""

    def __init__(self, config: TreeConfig, stages: EvalStages, history: TreeHistory) -> None:
        self._config, self._stages, self._history = config, stages, history
        self._judges = Judges(config, history)

    def promote(self, planned: Sequence[Eval]) -> Promoted:
        """Gate and rank a depth; the best become nodes."""
        for item in planned:
            self._judge(item)
        passed = [e for e in planned if not e.refused and e.result and e.same_as is None]
        order = self._judges.ranked(passed)
        for place, item in enumerate(order, 1):
            item.rank = place
        if self._config.asks_before("promotion"):
            chosen = yield from self._approved(order)
        else:
            chosen = select(order, self._config)
        return [self._add_node(item) for item in chosen]

    def _approved(self, order: Sequence[Eval]) -> Generator[Step, Sequence[Result], list[Eval]]:
        """Ask a person about the best evals; for each one rejected, about the next."""
        requested: set[int] = set()
        while True:
            chosen = select([item for item in order if not item.refused], self._config)
            unasked = [item for item in chosen if item.eval_id not in requested]
            if not unasked:
                return chosen
            requested.update(item.eval_id for item in unasked)
            yield from self._stages.ask(unasked)
            for item in unasked:
                self._settle(item)

    def _settle(self, item: Eval) -> None:
        """Apply a person's decision to a scored eval."""
        if item.state == "dropped":
            item.refused = "dropped"
        elif item.error is None:
            item.rules.append(Rule("approval", True, item.feedback or "a person approved"))
        else:
            item.refused = item.error.type
            item.rules.append(
                Rule(item.refused, False, item.feedback or f"approve: {item.refused}")
            )
            if item.refused == "approval-rejected":  # rejected, but completed
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

    def _add_node(self, item: Eval) -> TreeNode:
        assert item.candidate is not None
        assert item.result is not None
        candidate, parent = item.candidate, item.parent
        steps = parent.steps if candidate.diff is None else (*parent.steps, candidate.diff)
        node = TreeNode(
            len(self._history.nodes), candidate.commit, candidate.tree, item.depth,
            steps, item.result, parent, item.eval_id, item.idea,
            turns=(*parent.turns, *item.turns),
        )  # fmt: skip
        self._history.nodes.append(node)
        item.node_id = node.node_id
        return node

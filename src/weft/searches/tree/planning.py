"""Plan the evals of a depth: every idea on every node of its frontier, except known ones.

All evals of a depth are allocated before the first one starts: nodes by id, ideas by name. An idea
that is left out is recorded as a skip with its reason.
"""

from __future__ import annotations

from collections.abc import Sequence

from weft.searches.tree.config import Idea, TreeConfig
from weft.searches.tree.history import Eval, Skip, TreeHistory, TreeNode
from weft.searches.tree.recordings import Imports
from weft.searches.tree.stages import message_of


class Planner:
    """Allocates evals, and remembers which ideas were tried."""

    def __init__(
        self, config: TreeConfig, ideas: Sequence[Idea], imports: Imports, history: TreeHistory
    ) -> None:
        self._config, self._ideas = config, ideas
        self._imports, self._history = imports, history
        self._tried_digests: set[str] = set()
        self.is_cut = False
        """Whether `max_total_evals` has excluded an idea."""

    def is_full(self) -> bool:
        """Whether no more evals may be planned."""
        return len(self._history.evals) >= self._config.max_total_evals

    def plan(self, depth: int, frontier: Sequence[TreeNode]) -> list[Eval]:
        """Allocate every eval of a depth: nodes by id, ideas by name."""
        planned: list[Eval] = []
        for node in sorted(frontier, key=lambda n: n.node_id):
            for idea in self._choose(depth, node):
                if self.is_full():
                    self._skip(node, depth, idea, "max_total_evals is reached")
                    self.is_cut = True
                    continue
                item = Eval(len(self._history.evals) + 1, node, idea, depth)
                item.imported = self._imports.find(item, message_of)
                node.tried.add(idea.name)
                self._tried_digests.add(idea.digest)
                self._history.evals.append(item)
                planned.append(item)
        return planned

    def _choose(self, depth: int, node: TreeNode) -> list[Idea]:
        chosen: list[Idea] = []
        offered = sorted([*self._ideas, *node.ideas], key=lambda idea: idea.name)
        here = {idea.digest for idea in offered if idea.name in node.tried}
        above = {n.idea.digest for n in node.path() if n.idea is not None}
        for idea in offered:
            if idea.name in node.tried:
                continue
            reason = self._known(idea, here, above)
            if reason:
                self._skip(node, depth, idea, reason)
            elif len(chosen) < self._config.ideas_per_node:
                chosen.append(idea)
                here.add(idea.digest)
        return chosen

    def _known(self, idea: Idea, here: set[str], above: set[str]) -> str:
        """Return why an idea need not be tried on a node; empty if it must be."""
        scope = self._config.dedupe_scope
        if scope != "none" and idea.digest in here:
            return "same text as another idea on this node"
        if scope in ("ancestors", "global") and idea.digest in above:
            return "applied on the path to this node"
        if scope == "global" and idea.digest in self._tried_digests:
            return "tried elsewhere"
        return ""

    def _skip(self, node: TreeNode, depth: int, idea: Idea, reason: str) -> None:
        self._history.skips.append(Skip(node.node_id, depth, idea.name, reason))

"""The answer of a tree search: the best node, its path, and counts of the evals."""

from __future__ import annotations

from collections.abc import Sequence

from weft.model.values import Value
from weft.searches.tree.config import TreeConfig
from weft.searches.tree.decimals import lower_is_better
from weft.searches.tree.history import TreeHistory, TreeNode
from weft.searches.tree.objectives import pareto_front


def best_of(config: TreeConfig, history: TreeHistory) -> TreeNode:
    """Return the node with the best score, the first of equal ones."""
    return best_among(config, history.nodes)


def best_among(config: TreeConfig, nodes: Sequence[TreeNode]) -> TreeNode:
    """Return the best of some scored nodes, the first of equal ones."""
    return min(nodes, key=lambda n: (lower_is_better(n.score, config.direction), n.node_id))


def summary_of(config: TreeConfig, history: TreeHistory) -> dict[str, Value]:
    """Return the answer of a search."""
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

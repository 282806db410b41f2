"""Objectives: the score, and further metrics that a search improves at the same time.

An eval is dominated by another that is at least as good in every objective and better in one.
Ranking is by Pareto fronts: non-dominated evals come first, then those dominated only by the first
front, and so on. Within a front the objectives take turns, so that a narrow beam keeps the best of
each.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

from weft.searches.tree.config import MetricObjective, TreeConfig
from weft.searches.tree.decimals import gain, lower_is_better, number_of
from weft.searches.tree.history import Eval, Rule, TreeNode
from weft.searches.tree.results import StageResult

Vector = tuple[Decimal, ...]
"""A value per objective, the score first; lower is better."""


def metric_of(result: StageResult, name: str) -> Decimal | None:
    """Return a metric of a result by its dotted name; None if it is missing or not a number."""
    place = result.metrics
    for part in name.split("."):
        place = place.get(part) if isinstance(place, Mapping) else None
    return number_of(place)


def missing(result: StageResult, config: TreeConfig) -> list[str]:
    """Return the objectives for which a result has no number."""
    return [o.metric for o in config.objectives if metric_of(result, o.metric) is None]


def vector_of(result: StageResult, config: TreeConfig) -> Vector:
    """Return a result's value for each objective; none may be missing."""
    values = [lower_is_better(result.decimal, config.direction)]
    for objective in config.objectives:
        value = metric_of(result, objective.metric)
        assert value is not None, "missing() comes first"
        values.append(lower_is_better(value, objective.direction))
    return tuple(values)


def dominates(vector: Vector, other: Vector) -> bool:
    """Whether a vector is at least as good in every objective and better in one."""
    return vector != other and all(a <= b for a, b in zip(vector, other, strict=True))


def metric_rule(objective: MetricObjective, result: StageResult, parent: TreeNode) -> Rule:
    """Judge whether a result gains enough over its parent in one objective other than the score."""
    assert parent.result is not None
    value, before = (metric_of(r, objective.metric) for r in (result, parent.result))
    assert value is not None
    assert before is not None
    better = gain(value, before, objective.direction)
    least = Decimal(objective.min_gain or 0)
    enough = better >= least if objective.min_gain else better > 0
    return Rule("dominated", enough, f"{objective.metric} {value} against {before}")


def pareto_ranked(evals: Sequence[Eval], config: TreeConfig) -> list[Eval]:
    """Order evals by fronts; within a front, each objective in turn picks its best."""
    vectors = {e.eval_id: vector_of(e.result, config) for e in evals if e.result is not None}
    remaining = sorted(evals, key=lambda e: e.eval_id)
    order: list[Eval] = []
    while remaining:
        front = [e for e in remaining if not _is_dominated(e.eval_id, remaining, vectors)]
        order += _in_turns(front, vectors)
        chosen = {e.eval_id for e in front}
        remaining = [e for e in remaining if e.eval_id not in chosen]
    return order


def pareto_front(nodes: Sequence[TreeNode], config: TreeConfig) -> list[TreeNode]:
    """Return the non-dominated nodes, by id."""
    scored = [n for n in nodes if n.result is not None]
    vectors = {n.node_id: vector_of(n.result, config) for n in scored if n.result is not None}
    return [
        node
        for node in scored
        if not any(dominates(vectors[o.node_id], vectors[node.node_id]) for o in scored)
    ]


def _is_dominated(eval_id: int, among: Sequence[Eval], vectors: Mapping[int, Vector]) -> bool:
    return any(dominates(vectors[other.eval_id], vectors[eval_id]) for other in among)


def _in_turns(front: Sequence[Eval], vectors: Mapping[int, Vector]) -> list[Eval]:
    count = len(vectors[front[0].eval_id])
    queues = [
        sorted(front, key=lambda e, at=at: (vectors[e.eval_id][at], e.eval_id))  # type: ignore[misc] # a lambda with a default
        for at in range(count)
    ]
    order: list[Eval] = []
    chosen: set[int] = set()
    for turn in range(len(front)):
        best = next(e for e in queues[turn % count] if e.eval_id not in chosen)
        chosen.add(best.eval_id)
        order.append(best)
    return order

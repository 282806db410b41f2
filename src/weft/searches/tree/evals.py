"""Evals and nodes as records, as shown by `weft tree evals` and `--json`.

An eval summarises its stages: the state of the last one, first start, last finish, total time.
Whether a node is expanded is derived from its evals and not stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from weft.inspect.report.view import RunView, ViewedAttempt
from weft.model.values import Value
from weft.searches.tree.history import Eval, Rule, TreeNode, costs_of
from weft.searches.tree.load import LiveStage, Timing, TreeRun
from weft.searches.tree.results import kind_of
from weft.searches.tree.search import NAME

FINAL = ("completed", "failed", "dropped")
RETRIED = ("timeout", "temporary")
TEMPORARY = 75
LIMITS = {"timeout": "it exceeded its time limit", "out-of-memory": "it exceeded its memory limit"}
BY_GATE = {"tampered": "implement", "incomplete": "score"}
"""Gate refusals that are reported as errors, with the stage to which they belong."""


@dataclass(frozen=True, slots=True)
class ErrorRecord:
    """One unsuccessful attempt of a stage."""

    stage: str
    type: str
    message: str
    attempt: int = 1
    retriable: bool = False
    exit_code: int | None = None
    log_tail: str = ""


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A node as `--json` shows it."""

    node_id: int
    parent_node_id: int | None
    eval_id: int | None
    idea_path: str | None
    depth: int
    commit: str
    score: str | None
    holdout: str | None
    expanded: bool


@dataclass(frozen=True, slots=True)
class EvalRecord:
    """An eval as `--json` shows it."""

    eval_id: int
    parent_node_id: int
    idea_path: str
    depth: int
    task_state: str
    queued_at: float | None
    started_at: float | None
    finished_at: float | None
    worker_pid: int | None
    worker_started: float | None
    node: str | None
    gpu: int | None
    attempt: int
    error: ErrorRecord | None
    errors: tuple[ErrorRecord, ...]
    same_as: int | None
    imported: bool
    idea_hash: str
    stage: str
    verdict: str
    score: str | None
    holdout: str | None
    rank: int | None
    node_id: int | None
    commit: str | None
    attempts: int
    attempts_by_stage: dict[str, int]
    seconds: float
    cpu_s: float
    peak_bytes: int
    keys: tuple[str, ...]
    costs: dict[str, dict[str, Value]]
    """The cost reported by each stage."""
    approved_by: str | None
    approved_at: float | None


@dataclass(frozen=True, slots=True)
class TreeRecords:
    """All evals of a run in eval order, all nodes by id, and the cost of each stage."""

    evals: tuple[EvalRecord, ...]
    nodes: tuple[NodeRecord, ...]
    costs: dict[str, dict[str, Value]]


def records_of(run: Path, tree_run: TreeRun) -> TreeRecords:
    """Return every planned eval and every node of a run."""
    attempts: dict[str, list[ViewedAttempt]] = {}
    for attempt in RunView(run, NAME).attempts():
        attempts.setdefault(attempt.key, []).append(attempt)
    history, timing = tree_run.history, tree_run.timing
    open_evals: dict[int, list[bool]] = {}
    for item in history.evals:
        open_evals.setdefault(item.parent.node_id, []).append(item.state not in FINAL)
    return TreeRecords(
        tuple(
            _eval(e, timing.get(e.eval_id, Timing()), attempts, tree_run.live.get(e.eval_id))
            for e in history.evals
        ),
        tuple(_node(n, open_evals.get(n.node_id, [True])) for n in history.nodes),
        {stage: cost.to_dict() for stage, cost in history.costs.items()},
    )


def _node(node: TreeNode, unfinished: Sequence[bool]) -> NodeRecord:
    result, parent, idea = node.result, node.parent, node.idea
    return NodeRecord(
        node.node_id, parent.node_id if parent else None, node.eval_id,
        idea.name if idea else None, node.depth, node.commit, result.score if result else None,
        result.holdout if result else None, not any(unfinished),
    )  # fmt: skip


def _eval(
    item: Eval,
    own: Timing,
    attempts: Mapping[str, Sequence[ViewedAttempt]],
    live: LiveStage | None,
) -> EvalRecord:
    errors = tuple(
        _error(item, stage, key, attempt)
        for key, stage in zip(item.keys, item.stages, strict=True)
        for attempt in attempts.get(key, ())
    )
    timing = asdict(own) | {"task_state": _state(item, own)}
    return EvalRecord(
        **timing,
        eval_id=item.eval_id,
        parent_node_id=item.parent.node_id,
        idea_path=item.idea.name,
        depth=item.depth,
        error=_final_error(item, errors),
        errors=errors,
        same_as=item.same_as,
        imported=bool(item.imported),
        idea_hash=item.idea.digest,
        stage=live.stage if live else item.stage,
        verdict=item.verdict,
        score=item.score or (live.score if live else None),
        holdout=item.result.holdout if item.result else None,
        rank=item.rank,
        node_id=item.node_id,
        commit=item.candidate.commit if item.candidate else None,
        keys=tuple(item.keys),
        costs={stage: cost.to_dict() for stage, cost in costs_of(item).items()},
    )


def _state(item: Eval, own: Timing) -> str:
    """Return the state of the whole eval; between two stages it is still running."""
    if item.state in FINAL or own.queued_at is None:
        return item.state
    return "running" if own.task_state == "completed" else own.task_state


# -- errors -------------------------------------------------------------------------------------


def _error(item: Eval, stage: str, key: str, attempt: ViewedAttempt) -> ErrorRecord:
    final = attempt.outcome == "failed" and key == item.keys[-1]
    code = item.error.exit_code if final and item.error else None
    if attempt.reason == "temporary":
        code = TEMPORARY
    lines = [line for line in attempt.detail.splitlines() if line.strip()]
    line = (lines[0] if code is None else lines[-1]) if lines else attempt.reason
    return ErrorRecord(
        stage=stage,
        type=kind_of(stage, attempt.reason, code),
        message=LIMITS.get(attempt.reason, line)[:500],
        attempt=attempt.attempt,
        retriable=attempt.outcome == "requeued" or attempt.reason in RETRIED,
        exit_code=code,
        log_tail=attempt.detail,
    )


def _final_error(item: Eval, errors: Sequence[ErrorRecord]) -> ErrorRecord | None:
    """Return the final error of the eval; None if it did not fail."""
    if item.error is not None:
        of_stage = [e for e in errors if e.stage == item.error.stage]
        own = ErrorRecord(item.error.stage, item.error.type, item.reason or item.feedback)
        return of_stage[-1] if of_stage else own
    broken: Rule | None = next((rule for rule in item.rules if not rule.passed), None)
    if broken is None or broken.name not in BY_GATE:
        return None
    return ErrorRecord(BY_GATE[broken.name], broken.name, broken.detail)

"""Evals and nodes as records: what `weft tree evals` and `--json` show.

An eval is the view over its stages: the state of the last, first start, last finish, summed
time. Whether a node is expanded follows from its evals and is stored nowhere.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from weft.report.view import AttemptSeen, RunView
from weft.tree.failures import kind_of
from weft.tree.story import Eval, Node, Rule
from weft.tree.view import Timing, TreeSeen

FINAL = ("completed", "failed", "dropped")
RETRIED = ("timeout", "temporary")
TEMPORARY = 75
LIMITS = {
    "timeout": "its time limit was passed",
    "out-of-memory": "its memory limit was passed",
}
BY_GATE = {"tampered": "implement", "incomplete": "score"}
"""Refusals of the gate that are told as errors, and the stage they belong to."""


def eval_records(run: RunView, seen: TreeSeen) -> list[dict[str, Any]]:
    """Return every planned eval of a run, in eval order."""
    told: dict[str, list[AttemptSeen]] = {}
    for attempt in run.attempts():
        told.setdefault(attempt.key, []).append(attempt)
    empty = Timing()
    return [_record(e, seen.timing.get(e.eval_id, empty), told) for e in seen.story.evals]


def node_records(seen: TreeSeen) -> list[dict[str, Any]]:
    """Return every node of a run, by id."""
    open_evals: dict[int, list[bool]] = {}
    for item in seen.story.evals:
        open_evals.setdefault(item.parent.node_id, []).append(item.state not in FINAL)
    return [_node(n, open_evals.get(n.node_id, [True])) for n in seen.story.nodes]


def _node(node: Node, unfinished: Sequence[bool]) -> dict[str, Any]:
    return {
        "node_id": node.node_id,
        "parent_node_id": node.parent.node_id if node.parent else None,
        "eval_id": node.eval_id,
        "idea_path": node.idea.name if node.idea else None,
        "depth": node.depth,
        "commit": node.commit,
        "score": node.result.get("score"),
        "holdout": node.result.get("holdout"),
        "expanded": not any(unfinished),
    }


def _record(item: Eval, own: Timing, told: Mapping[str, Sequence[AttemptSeen]]) -> dict[str, Any]:
    errors = [error for key in item.keys for error in _errors(item, key, told.get(key, ()))]
    return {
        "eval_id": item.eval_id,
        "parent_node_id": item.parent.node_id,
        "idea_path": item.idea.name,
        "depth": item.depth,
        "task_state": _state(item, own),
        "queued_at": own.queued_at,
        "started_at": own.started_at,
        "finished_at": own.finished_at,
        "worker_pid": own.worker_pid,
        "worker_started": own.worker_started,
        "node": own.node,
        "gpu": own.gpu,
        "attempt": own.attempt,
        "error": _final_error(item, errors),
        "errors": errors,
        "same_as": item.same_as,
        "imported": bool(item.imported),
        "idea_hash": item.idea.digest,
        "stage": item.stage,
        "verdict": item.verdict,
        "score": item.result["score"] if item.result else None,
        "holdout": item.result.get("holdout") if item.result else None,
        "rank": item.rank,
        "node_id": item.node_id,
        "commit": item.candidate["commit"] if item.candidate else None,
        "attempts": own.attempts,
        "seconds": own.seconds,
        "cpu_s": own.cpu_s,
        "peak_bytes": own.peak_bytes,
        "keys": list(item.keys),
    }


def _state(item: Eval, own: Timing) -> str:
    """Return the state of the whole eval; between two stages it is still running."""
    if item.state in FINAL or own.queued_at is None:
        return item.state
    return "running" if own.task_state == "completed" else own.task_state


# -- errors -------------------------------------------------------------------------------------


def _errors(item: Eval, key: str, attempts: Sequence[AttemptSeen]) -> list[dict[str, Any]]:
    """Return an entry for each attempt of one stage that did not succeed."""
    stage = item.stages[item.keys.index(key)]
    return [_error(item, stage, key, attempt) for attempt in attempts]


def _error(item: Eval, stage: str, key: str, attempt: AttemptSeen) -> dict[str, Any]:
    final = attempt.outcome == "failed" and key == item.keys[-1]
    code = item.error["exit_code"] if final and item.error else None
    if attempt.reason == "temporary":
        code = TEMPORARY
    lines = [line for line in attempt.detail.splitlines() if line.strip()]
    said = (lines[0] if code is None else lines[-1]) if lines else attempt.reason
    message = LIMITS.get(attempt.reason, said)
    return {
        "stage": stage,
        "type": kind_of(stage, attempt.reason, code),
        "message": message[:500],
        "attempt": attempt.attempt,
        "retriable": attempt.outcome == "requeued" or attempt.reason in RETRIED,
        "exit_code": code,
        "log_tail": attempt.detail,
    }


def _final_error(item: Eval, errors: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """Return why the eval failed in the end; None when it did not."""
    if item.error is not None:
        named = [e for e in errors if e["stage"] == item.error["stage"]]
        return named[-1] if named else _said(item.error["stage"], item.error["type"], item.feedback)
    broken: list[Rule] = [rule for rule in item.rules if not rule.passed]
    if broken and broken[0].name in BY_GATE:
        return _said(BY_GATE[broken[0].name], broken[0].name, broken[0].said)
    return None


def _said(stage: str, kind: str, message: str) -> dict[str, Any]:
    return {
        "stage": stage, "type": kind, "message": message, "attempt": 1, "retriable": False,
        "exit_code": None, "log_tail": "",
    }  # fmt: skip

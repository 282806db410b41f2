"""Results of other tools' evaluators, translated to ours; their measurements of time are left out.

OpenEvolve returns metrics with `combined_score`. ShinkaEvolve writes `metrics.json` with
`combined_score` beside `correct.json`. evo writes `score` and `tasks` to `EVO_RESULT_PATH`.
Each function raises ValueError when what decides is missing. Times would make equal runs differ.
"""

from __future__ import annotations

from weft.model.codec import Table
from weft.model.values import Value

EVO = {
    "EVO_RESULT_PATH": "{result_file}",
    "EVO_TRACES_DIR": "{out_dir}/traces",
    "EVO_EXPERIMENT_ID": "{eval_id}",
    "EVO_ATTEMPT": "{attempt}",
    "EVO_WORKTREE": "{worktree}",
}
TIMES = ("execution_time_mean", "execution_time_std", "started_at", "ended_at")


def from_openevolve(raw: Table) -> dict[str, Value]:
    """Metrics, as `evaluate` returns them, or an EvaluationResult with its artifacts."""
    inner = raw.get("metrics")
    metrics = inner if isinstance(inner, dict) else raw
    result = _combined(metrics)
    if isinstance(inner, dict) and raw.get("artifacts"):
        result["artifacts"] = raw["artifacts"]
    return result


def from_shinka(metrics: Table, correct: Table) -> dict[str, Value]:
    """`metrics.json` ranks, and counts only if `correct.json` says so."""
    verdict = correct.get("correct")
    if not isinstance(verdict, bool):
        raise ValueError("correct.json: correct is not true or false")
    notes = correct.get("error") or metrics.get("text_feedback")
    without = () if correct.get("error") else ("text_feedback",)
    result = _combined(_without(metrics, *without))
    return {**result, "notes": notes} if notes else result


def from_evo(raw: Table) -> dict[str, Value]:
    """`score` ranks; scores of tasks and everything else are metrics."""
    if "score" not in raw:
        raise ValueError("no score")
    return {"score": raw["score"], "metrics": _without(raw, "score", *TIMES)}


def environment(form: str) -> dict[str, str]:
    """Return the variables that a tool's evaluators expect, as templates."""
    return EVO if form == "evo" else {}


def _combined(metrics: Table) -> dict[str, Value]:
    if "combined_score" not in metrics:
        raise ValueError("no combined_score among the metrics")
    rest = _without(metrics, "combined_score", *TIMES)
    return {"score": metrics["combined_score"], "metrics": rest}


def _without(raw: Table, *names: str) -> dict[str, Value]:
    return {name: value for name, value in raw.items() if name not in names}

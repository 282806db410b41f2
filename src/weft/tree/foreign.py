"""Results of other tools' evaluators, put into our words; what they measured of time is left out.

OpenEvolve returns metrics with `combined_score`. ShinkaEvolve writes `metrics.json` with
`combined_score` beside `correct.json`. evo writes `score` and `tasks` to `EVO_RESULT_PATH`.
Each function raises ValueError when what decides is missing. Times would make equal runs differ.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

EVO = {
    "EVO_RESULT_PATH": "{result_file}",
    "EVO_TRACES_DIR": "{out_dir}/traces",
    "EVO_EXPERIMENT_ID": "{eval_id}",
    "EVO_ATTEMPT": "{attempt}",
    "EVO_WORKTREE": "{worktree}",
}
TIMES = ("execution_time_mean", "execution_time_std", "started_at", "ended_at")


def from_openevolve(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Metrics, as `evaluate` returns them, or an EvaluationResult with its artifacts."""
    inner = raw.get("metrics")
    metrics = inner if isinstance(inner, dict) else raw
    result = _combined(metrics)
    if isinstance(inner, dict) and raw.get("artifacts"):
        result["artifacts"] = raw["artifacts"]
    return result


def from_shinka(metrics: Mapping[str, Any], correct: Mapping[str, Any]) -> dict[str, Any]:
    """`metrics.json` ranks, and counts only if `correct.json` says so."""
    verdict = correct.get("correct")
    if not isinstance(verdict, bool):
        raise ValueError("correct.json: correct is not true or false")
    result = _combined(metrics)
    notes = correct.get("error") or result["metrics"].pop("text_feedback", None)
    return result | ({"notes": notes} if notes else {})


def from_evo(raw: Mapping[str, Any]) -> dict[str, Any]:
    """`score` ranks; scores of tasks and everything else are metrics."""
    if "score" not in raw:
        raise ValueError("no score")
    return {"score": raw["score"], "metrics": _without(raw, "score", *TIMES)}


def environment(form: str) -> dict[str, str]:
    """Return the variables that a tool's evaluators expect, as templates."""
    return EVO if form == "evo" else {}


def _combined(metrics: Mapping[str, Any]) -> dict[str, Any]:
    if "combined_score" not in metrics:
        raise ValueError("no combined_score among the metrics")
    rest = _without(metrics, "combined_score", *TIMES)
    return {"score": metrics["combined_score"], "metrics": rest}


def _without(raw: Mapping[str, Any], *names: str) -> dict[str, Any]:
    return {name: value for name, value in raw.items() if name not in names}

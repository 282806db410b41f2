"""Names of failures: the engine's types in the words of an eval."""

from __future__ import annotations

from typing import Any

from weft.model.results import Result

BY_STAGE = {
    "propose": "propose-failed",
    "implement": "implement-failed",
    "review": "review-rejected",
    "sweep": "incomplete",
    "score": "score-invalid",
}
"""What it is called when a stage's command fails, or says something malformed."""
TIMED_OUT, SKIPPED = 124, 125


def named(stage: str, result: Result) -> dict[str, Any]:
    """Return a failure in the words of an eval."""
    error = result.error
    assert error is not None
    kind = kind_of(stage, error.type, error.exit_code)
    return {"type": kind, "stage": stage, "exit_code": error.exit_code}


def kind_of(stage: str, type_: str, exit_code: int | None) -> str:
    """Return the name of a failure."""
    if exit_code == TIMED_OUT:
        return "timeout"
    if exit_code == SKIPPED:
        return "skipped"
    if type_ in ("exit", "crashed", "temporary", "exception"):
        return BY_STAGE[stage]
    return type_

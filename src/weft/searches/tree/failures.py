"""Names of failures: the engine's error types in the terms of an eval."""

from __future__ import annotations

from weft.model.results import Result, TaskError

BY_STAGE = {
    "propose": "propose-failed",
    "implement": "implement-failed",
    "review": "review-rejected",
    "sweep": "incomplete",
    "score": "score-invalid",
}
"""The failure of a stage whose command fails, or whose result is malformed."""
TIMED_OUT, SKIPPED = 124, 125


def failure_of(stage: str, result: Result) -> TaskError:
    """Return why a stage failed, in the terms of an eval."""
    error = result.error
    assert error is not None
    return TaskError(kind_of(stage, error.type, error.exit_code), stage, error.exit_code)


def kind_of(stage: str, type_: str, exit_code: int | None) -> str:
    """Return the name of a failure."""
    if exit_code == TIMED_OUT:
        return "timeout"
    if exit_code == SKIPPED:
        return "skipped"
    if type_ in ("exit", "crashed", "temporary", "exception"):
        return BY_STAGE[stage]
    return type_

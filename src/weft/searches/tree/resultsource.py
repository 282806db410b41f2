"""Descriptions of where a stage's result comes from, for `why`, reports and checks."""

from __future__ import annotations

from weft.searches.tree.config import TreeConfig

OVER_CHANNEL = "its result comes over a descriptor that candidate code does not have"
OPEN_RESULT = (
    "its result comes from a file or stdout, which candidate code can write if it is executed by"
    " the scorer: not protected"
)


def result_notes(config: TreeConfig) -> list[str]:
    """Return a caveat about the source of the scores; empty if the scorer has a channel."""
    is_open = not config.stages["score"].has_channel and not config.dry_run
    return [f"[score]: {OPEN_RESULT}"] if is_open else []

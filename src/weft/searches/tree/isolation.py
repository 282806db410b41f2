"""What stands between candidate code and its score, in the words of `why`, reports and checks."""

from __future__ import annotations

from weft.searches.tree.config import TreeConfig

OVER_CHANNEL = "its result comes over a descriptor that candidate code does not have"
OPEN_RESULT = (
    "its result comes from a file or stdout, which candidate code can write if it is executed by"
    " the scorer: not protected"
)
NOT_ISOLATED = "scores not isolated"
NO_SANDBOX = "without a sandbox candidate code can reach other processes and files"


def isolation_notes(config: TreeConfig) -> list[str]:
    """Return what a reader of scores must know about them; nothing where nothing is open."""
    score = config.stages["score"]
    notes = [] if score.has_channel else [f"[score]: {OPEN_RESULT}"]
    if getattr(score, "sandbox", "off") == "off":
        notes.insert(0, f"{NOT_ISOLATED}: {NO_SANDBOX}")
    return [] if config.dry_run else notes

"""Parts of the method that a search can leave out, to measure what each contributes."""

from __future__ import annotations

from collections.abc import Sequence

from weft.errors import UsageError

FITTED = "fitted"
LISTS = "lists"
VIEWS = "views"
OMISSION = "omission"
PRUNING = "pruning"
BANK = "bank"
CHECKS = "checks"
BEHAVIOUR = "behaviour"
SUPPORT = "support"
CONFIDENCE = "confidence"
PARTS = {
    FITTED: "operators whose parameters come from the training pairs",
    LISTS: "decision lists over cells, composed of what many programs reach",
    VIEWS: "tasks normalised by colour or orientation, example by example",
    OMISSION: "guesses from all training pairs but one, if nothing fits them all",
    PRUNING: "leaving out what cannot reach the outputs",
    BANK: "concepts learned from solved tasks",
    CHECKS: "weighing evidence; any competitor makes an answer UNKNOWN then",
    BEHAVIOUR: "what held at each step in training and a test breaks",
    SUPPORT: "how many pairs and independent programs, how much they say, how new the tests are",
    CONFIDENCE: "fitted confidence; a price in bits decides then",
}
"""What each part does, by name."""


def parse_without(text: str) -> tuple[str, ...]:
    """Parse a comma-separated list of parts; return them sorted, each once."""
    names = sorted({name for name in text.split(",") if name})
    check_without(names)
    return tuple(names)


def check_without(names: Sequence[str]) -> None:
    """Raise `UsageError` for a part that does not exist."""
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise UsageError(f"--without takes {', '.join(PARTS)}, not {unknown[0]!r}")

"""The first problem in a file with invalid fields: its place, and the reason in our words.

Files are validated with pydantic when they are read; this module turns its errors into half a line.
"""

from __future__ import annotations

from typing import Any, Protocol

MAX_PLACE = 200
WORDS = (
    ("Value error, ", ""),
    ("Extra inputs are not permitted", "unknown field"),
    ("Field required", "is missing"),
    ("Input should be", "must be"),
    ("String should", "must"),
    ("List should", "must"),
    (" after validation", ""),
)


class Refusal(Protocol):
    """A validation error of pydantic."""

    def errors(self, *, include_url: bool, include_input: bool) -> list[Any]:
        """Return the problems, in the order of the fields."""


def first_problem(refusal: Refusal) -> tuple[str, str]:
    """Return the dotted place of the first invalid field, and what is wrong with it.

    The place is empty if the file as a whole is invalid, or a combination of fields.
    """
    first = refusal.errors(include_url=False, include_input=False)[0]
    message = "must be a table of fields" if first["type"] == "model_type" else str(first["msg"])
    for theirs, ours in WORDS:
        message = message.replace(theirs, ours)
    return ".".join(str(part) for part in first["loc"])[:MAX_PLACE], message

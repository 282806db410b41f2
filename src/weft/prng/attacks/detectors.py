"""Detectors that need no generator."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from weft.prng.case import Case


@dataclass(frozen=True, slots=True)
class Detection:
    """A finding in words, with its evidence."""

    name: str
    text: str
    evidence: int

    def to_dict(self) -> dict[str, Any]:
        """Return the recorded form."""
        return {"name": self.name, "text": self.text, "evidence": self.evidence}


def detect(case: Case) -> list[Detection]:  # noqa: ARG001
    """Return what was detected."""
    return []

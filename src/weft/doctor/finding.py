"""What a check says: `ok` needs no attention, a `note` is worth knowing, a `problem` stops runs."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

SCHEMA_VERSION = 1
OK, NOTE, PROBLEM = "ok", "note", "problem"


@dataclass(frozen=True, slots=True)
class Check:
    """What one check found; `next` is what to do about it, empty when nothing."""

    name: str
    verdict: str
    found: str
    next: str = ""


@dataclass(frozen=True, slots=True)
class Health:
    """All checks, in the order they were made."""

    checks: tuple[Check, ...]

    @property
    def problems(self) -> int:
        """How many checks found a problem."""
        return sum(check.verdict == PROBLEM for check in self.checks)

    def to_dict(self) -> dict[str, Any]:
        """JSON form."""
        checks = [asdict(check) for check in self.checks]
        return {"schema_version": SCHEMA_VERSION, "problems": self.problems, "checks": checks}


def size_text(count: int) -> str:
    """Bytes in a unit people use.

    >>> size_text(3 * 2**30), size_text(5 * 2**20)
    ('3.0 GiB', '5.0 MiB')
    """
    return f"{count / 2**30:,.1f} GiB" if count >= 2**30 else f"{count / 2**20:.1f} MiB"

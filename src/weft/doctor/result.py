"""The result of a check: `ok` is fine, a `note` is worth knowing, a `problem` stops runs."""

from __future__ import annotations

from dataclasses import dataclass

from weft.model.values import JsonValue

SCHEMA_VERSION = 1
OK, NOTE, PROBLEM = "ok", "note", "problem"


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What one check observed; `next` is what to do about it, empty if nothing."""

    name: str
    verdict: str
    detail: str
    next: str = ""

    def to_dict(self) -> JsonValue:
        """JSON form; the key of the detail is `found`."""
        fields = {"name": self.name, "verdict": self.verdict}
        return {**fields, "found": self.detail, "next": self.next}


@dataclass(frozen=True, slots=True)
class Health:
    """All results, in the order of the checks."""

    checks: tuple[CheckResult, ...]

    @property
    def problems(self) -> int:
        """The number of checks that report a problem."""
        return sum(check.verdict == PROBLEM for check in self.checks)

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON form."""
        checks = [check.to_dict() for check in self.checks]
        return {"schema_version": SCHEMA_VERSION, "problems": self.problems, "checks": checks}


def size_text(count: int) -> str:
    """Return a number of bytes in a suitable unit.

    >>> size_text(3 * 2**30), size_text(5 * 2**20)
    ('3.0 GiB', '5.0 MiB')
    """
    return f"{count / 2**30:,.1f} GiB" if count >= 2**30 else f"{count / 2**20:.1f} MiB"

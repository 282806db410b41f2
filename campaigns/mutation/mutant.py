"""A mutant: one small change to a source file, and the name under which its verdict is stored."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from campaigns.mutation.units import Unit

SHOWN = 100
"""Number of characters of a change that are shown."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change to a file: bytes `begin` to `end` of its text become `after`."""

    path: str
    line: int
    column: int
    operator: str
    before: str
    after: str
    begin: int
    end: int
    first: int
    last: int
    """First and last line of the statement, or of its head: a test that reaches one reaches it."""
    function: str
    """The function whose body it changes; empty for module-level code."""
    unit: Unit
    """The unit that must stay unchanged for its verdict to count."""

    @property
    def inside(self) -> bool:
        """Whether it changes the body of a function."""
        return bool(self.function)

    @property
    def name(self) -> str:
        """Its name, equal for equal changes to the same unit, wherever the unit is in the file."""
        place = f"{self.path} {self.unit.name}@{self.unit.digest}"
        change = hashlib.sha256(f"{self.before}\0{self.after}".encode()).hexdigest()[:8]
        return f"{place} +{self.line - self.unit.first}:{self.column} {self.operator} {change}"

    def apply(self, text: str) -> str:
        """Return the text of the file with this change."""
        content = text.encode()
        return (content[: self.begin] + self.after.encode() + content[self.end :]).decode()

    def __str__(self) -> str:
        texts = (" ".join(part.split()) for part in (self.before, self.after))
        before, after = (text if len(text) <= SHOWN else f"{text[:SHOWN]}…" for text in texts)
        return f"{self.path}:{self.line} {self.operator}: {before} -> {after}"

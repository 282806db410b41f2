"""A mutant: one small change of a source file, and the name that its verdict is kept under."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from campaigns.mutation.units import Unit

SHOWN = 100
"""Characters of a change that are shown."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change of a file: bytes `begin` to `end` of its text become `after`."""

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
    """The lines of the statement, or of its head: who reaches one of them reaches the mutant."""
    function: str
    """The function whose body it changes; empty for what a module does when it is imported."""
    unit: Unit
    """What must not change for its verdict to count."""

    @property
    def inside(self) -> bool:
        """Whether it changes the body of a function."""
        return bool(self.function)

    @property
    def name(self) -> str:
        """The same for the same change of the same unit, wherever that stands in the file."""
        place = f"{self.path} {self.unit.name}@{self.unit.digest}"
        change = hashlib.sha256(f"{self.before}\0{self.after}".encode()).hexdigest()[:8]
        return f"{place} +{self.line - self.unit.first}:{self.column} {self.operator} {change}"

    def apply(self, text: str) -> str:
        """The text of the file with this change."""
        content = text.encode()
        return (content[: self.begin] + self.after.encode() + content[self.end :]).decode()

    def __str__(self) -> str:
        texts = (" ".join(part.split()) for part in (self.before, self.after))
        before, after = (text if len(text) <= SHOWN else f"{text[:SHOWN]}…" for text in texts)
        return f"{self.path}:{self.line} {self.operator}: {before} -> {after}"

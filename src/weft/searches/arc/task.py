"""An ARC task: training pairs, test inputs and, separately, the true test outputs.

The canonical form contains only what a solver may see: no name, no truth, no trace of the source
file. Its SHA-256 identifies the task, whatever its source.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from functools import cached_property

from weft.model.values import canonical
from weft.searches.arc.values import Grid


@dataclass(frozen=True, slots=True)
class Pair:
    """One example: an input and its output."""

    input: Grid
    output: Grid


@dataclass(frozen=True)
class ArcTask:
    """A puzzle. `truth` is for scoring only, and empty if unknown."""

    name: str
    train: tuple[Pair, ...]
    test: tuple[Grid, ...]
    truth: tuple[Grid, ...] = ()

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the canonical form."""
        return hashlib.sha256(self.canonical()).hexdigest()

    @property
    def input_cells(self) -> int:
        """Number of cells of all inputs."""
        return sum(len(grid.cells) for grid in (*(pair.input for pair in self.train), *self.test))

    def canonical(self) -> bytes:
        """Return what a solver may see, as canonical JSON."""
        train = [{"input": p.input.rows(), "output": p.output.rows()} for p in self.train]
        test = [{"input": grid.rows()} for grid in self.test]
        return canonical({"test": test, "train": train}).encode()

    def without_truth(self) -> ArcTask:
        """Return the task as a solver sees it."""
        return replace(self, truth=())

    @staticmethod
    def from_canonical(data: bytes, name: str = "") -> ArcTask:
        """Read what `canonical` wrote."""
        raw = json.loads(data)
        train = tuple(Pair(Grid.of(p["input"]), Grid.of(p["output"])) for p in raw["train"])
        return ArcTask(name, train, tuple(Grid.of(p["input"]) for p in raw["test"]))

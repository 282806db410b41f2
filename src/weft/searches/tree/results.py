"""What stages record, as dataclasses: a candidate, a result, a review, an outcome, a failure.

Each is read from the recorded JSON at the edge of a task; what is recorded again keeps all its
fields, those that nothing here reads included.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from weft.errors import LedgerDamaged
from weft.model.codec import Table, from_json, to_json
from weft.model.results import Result, TaskError
from weft.model.values import Object, Value
from weft.searches.tree.config import Idea

T = TypeVar("T")


def read_stage(kind: type[T], recorded: Table) -> T:
    """Read what a stage recorded as a dataclass that keeps the whole as its field `recorded`."""
    return from_json(kind, {**recorded, "recorded": recorded})


@dataclass(frozen=True, slots=True)
class Rows:
    """How many rows of a sweep or a score are complete."""

    ok: int
    expected: int

    @property
    def complete(self) -> bool:
        """Whether none is missing."""
        return self.ok == self.expected

    def __str__(self) -> str:
        return f"{self.ok} of {self.expected} rows"


@dataclass(frozen=True, slots=True)
class StageCost:
    """What a command cost, in dollars as decimal text, and in tokens."""

    usd: str = "0"
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class StageResult:
    """What a sweep or a scorer reported; numbers as decimal text."""

    recorded: dict[str, Value]
    score: str | None = None
    holdout: str | None = None
    rows: Rows | None = None
    metrics: Value = None
    seal: str | None = None
    """Digest of the protected files it was made with."""

    @property
    def score_text(self) -> str:
        """Its score as recorded; only for results of the scorer, which always have one."""
        if self.score is None:
            raise LedgerDamaged("the record of a scorer has no score")
        return self.score

    @property
    def decimal(self) -> Decimal:
        """Its score as a number."""
        return Decimal(self.score_text)


@dataclass(frozen=True, slots=True)
class Review:
    """What a reviewer decided; without a word it approves."""

    approved: bool = True
    feedback: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """The state that an idea made of its parent's."""

    recorded: dict[str, Value]
    tree: str
    commit: str
    changed: tuple[str, ...]
    """Paths in which it differs."""
    diff: Object | None = None
    """A dry run has none."""
    turns: Object | None = None
    """What the command added to the transcript."""
    merged: str = ""
    """`three-way` when the idea did not fit as it was and was merged."""


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that a proposing command wrote and that is no idea."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """What a proposing stage records, beside its cost."""

    ideas: tuple[Idea, ...]
    skipped: tuple[SkippedFile, ...]
    turns: Object | None = None


@dataclass(frozen=True, slots=True)
class StageOutcome:
    """How a stage ended in an earlier run: with a value, or with an error."""

    value: Value = None
    error: TaskError | None = None

    def to_dict(self) -> dict[str, Value]:
        """JSON form: one of the two."""
        return {"value": self.value} if self.error is None else {"error": to_json(self.error)}


# -- failures -----------------------------------------------------------------------------------

BY_STAGE = {
    "propose": "propose-failed", "implement": "implement-failed", "review": "review-rejected",
    "approve": "approval-rejected",
    "sweep": "incomplete", "score": "score-invalid",
}  # fmt: skip
"""The failure of a stage whose command fails, or whose result is malformed."""
BY_EXIT_CODE = {124: "timeout", 125: "skipped"}


def failure_of(stage: str, result: Result) -> TaskError:
    """Return why a stage failed, in the terms of an eval."""
    error = result.error
    if error is None:
        return TaskError(BY_STAGE[stage], stage)
    return TaskError(kind_of(stage, error.type, error.exit_code), stage, error.exit_code)


def declared_failure(result: Result) -> str:
    """Return why a command that ended well reported a failure itself; empty when it did not.

    Reported in this way the failure has a cost: an exit code has none.
    """
    return str(result.value.get("failed", "")) if result.ok else ""


def cost_of(result: Result) -> StageCost | None:
    """Return what a command cost; None when it reported nothing."""
    cost = result.value.get("cost") if result.ok else None
    return None if cost is None else from_json(StageCost, cost)


def kind_of(stage: str, type_: str, exit_code: int | None) -> str:
    """Return the name of a failure: the engine's error types in the terms of an eval."""
    if exit_code in BY_EXIT_CODE:
        return BY_EXIT_CODE[exit_code]
    return BY_STAGE[stage] if type_ in ("exit", "crashed", "temporary", "exception") else type_

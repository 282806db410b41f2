"""The values that stages record, as dataclasses, and the kinds of their failures.

Each is parsed from a task's recorded JSON; a value that is recorded again keeps all its fields,
including those not read here.
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
    """Parse a stage's value as a dataclass whose field `recorded` keeps the original."""
    return from_json(kind, {**recorded, "recorded": recorded})


@dataclass(frozen=True, slots=True)
class Rows:
    """Number of complete rows of a sweep or a score, and the number expected."""

    ok: int
    expected: int

    @property
    def complete(self) -> bool:
        """Whether no row is missing."""
        return self.ok == self.expected

    def __str__(self) -> str:
        return f"{self.ok} of {self.expected} rows"


@dataclass(frozen=True, slots=True)
class StageCost:
    """The cost of a command in dollars, as decimal text, and in tokens."""

    usd: str = "0"
    input_tokens: int = 0
    output_tokens: int = 0


@dataclass(frozen=True, slots=True)
class StageResult:
    """The result of a sweep or a scorer, with numbers as decimal text."""

    recorded: dict[str, Value]
    score: str | None = None
    holdout: str | None = None
    rows: Rows | None = None
    metrics: Value = None
    seal: str | None = None
    """Digest of the protected files used."""

    @property
    def score_text(self) -> str:
        """Its score as recorded; raises LedgerDamaged if there is none."""
        if self.score is None:
            raise LedgerDamaged("the record of a scorer has no score")
        return self.score

    @property
    def decimal(self) -> Decimal:
        """Its score as a number."""
        return Decimal(self.score_text)


@dataclass(frozen=True, slots=True)
class Review:
    """A reviewer's decision; approval by default."""

    approved: bool = True
    feedback: str = ""


@dataclass(frozen=True, slots=True)
class Candidate:
    """The state that results from applying an idea to its parent's state."""

    recorded: dict[str, Value]
    tree: str
    commit: str
    changed: tuple[str, ...]
    """Paths in which it differs from its parent."""
    diff: Object | None = None
    """None in a dry run."""
    turns: Object | None = None
    """Turns that the command added to the transcript."""
    merged: str = ""
    """`three-way` if the idea did not apply directly and was merged."""


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file written by a propose command that is not an idea."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True)
class Proposal:
    """The value of a propose stage, apart from its cost."""

    ideas: tuple[Idea, ...]
    skipped: tuple[SkippedFile, ...]
    turns: Object | None = None


@dataclass(frozen=True, slots=True)
class StageOutcome:
    """The outcome of a stage in an earlier run: a value or an error."""

    value: Value = None
    error: TaskError | None = None

    def to_dict(self) -> dict[str, Value]:
        """JSON form, with one of the two fields."""
        return {"value": self.value} if self.error is None else {"error": to_json(self.error)}


# -- failures -----------------------------------------------------------------------------------

BY_STAGE = {
    "propose": "propose-failed", "implement": "implement-failed", "review": "review-rejected",
    "approve": "approval-rejected",
    "sweep": "incomplete", "score": "score-invalid",
}  # fmt: skip
"""The failure type of a stage whose command fails or whose result is malformed."""
BY_EXIT_CODE = {124: "timeout", 125: "skipped"}


def failure_of(stage: str, result: Result) -> TaskError:
    """Return why a stage failed, with the failure types of an eval."""
    error = result.error
    if error is None:
        return TaskError(BY_STAGE[stage], stage)
    return TaskError(kind_of(stage, error.type, error.exit_code), stage, error.exit_code)


def declared_failure(result: Result) -> str:
    """Return the failure that a command reported although it exited with 0; empty if none.

    Unlike a failure by exit code, such a failure can carry a cost.
    """
    return str(result.value.get("failed", "")) if result.ok else ""


def cost_of(result: Result) -> StageCost | None:
    """Return the cost of a command; None if it reported none."""
    cost = result.value.get("cost") if result.ok else None
    return None if cost is None else from_json(StageCost, cost)


def kind_of(stage: str, type_: str, exit_code: int | None) -> str:
    """Return the failure type of an eval for an error type of the engine."""
    if exit_code in BY_EXIT_CODE:
        return BY_EXIT_CODE[exit_code]
    return BY_STAGE[stage] if type_ in ("exit", "crashed", "temporary", "exception") else type_

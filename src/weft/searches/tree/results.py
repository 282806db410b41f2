"""What stages record, as dataclasses: a candidate, a result, an outcome.

Each is read from the recorded JSON at the edge of a task and written back to the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from weft.model.results import TaskError
from weft.model.values import Object, Value
from weft.searches.tree import fields
from weft.searches.tree.fields import Table


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
    """What a command cost."""

    usd: Decimal = Decimal(0)
    tokens: int = 0

    @staticmethod
    def from_value(recorded: Table) -> StageCost:
        """Read the `cost` of a stage's value; nothing recorded costs nothing."""
        table = fields.inner_or_none(recorded, "cost")
        if table is None:
            return StageCost()
        names = ("input_tokens", "output_tokens")
        tokens = sum(fields.count(table, name) for name in names)
        return StageCost(Decimal(fields.text(table, "usd")), tokens)


@dataclass(frozen=True, slots=True)
class StageResult:
    """What a sweep, a review or a scorer reported."""

    recorded: Table
    """All its fields as recorded, metrics and notes included; numbers as decimal text."""
    score: str | None
    holdout: str | None
    rows: Rows | None
    seal: str | None
    """Digest of the protected files it was made with."""

    @staticmethod
    def from_dict(recorded: Table) -> StageResult:
        """Read what a stage recorded."""
        rows = fields.inner_or_none(recorded, "rows")
        return StageResult(
            recorded,
            fields.text_or_none(recorded, "score"),
            fields.text_or_none(recorded, "holdout"),
            Rows(fields.count(rows, "ok"), fields.count(rows, "expected")) if rows else None,
            fields.text_or_none(recorded, "seal"),
        )

    def to_dict(self) -> dict[str, Value]:
        """JSON form, as recorded."""
        return dict(self.recorded)

    @property
    def metrics(self) -> Value:
        """What else was measured."""
        return self.recorded.get("metrics")

    @property
    def score_text(self) -> str:
        """Its score as recorded; only for results of the scorer, which always have one."""
        return fields.text(self.recorded, "score")


@dataclass(frozen=True, slots=True)
class Review:
    """What a reviewer decided."""

    approved: bool
    feedback: str

    @staticmethod
    def from_dict(recorded: Table) -> Review:
        """Read what a review recorded; without a word it approves."""
        approved = fields.flag(recorded, "approved") if "approved" in recorded else True
        return Review(approved, fields.text_or_none(recorded, "feedback") or "")


@dataclass(frozen=True, slots=True)
class Candidate:
    """The state that an idea made of its parent's."""

    recorded: Table
    tree: str
    commit: str
    changed: tuple[str, ...]
    """Paths in which it differs."""
    diff: Object | None
    """A dry run has none."""
    turns: Object | None
    """What the command added to the transcript."""

    @staticmethod
    def from_dict(recorded: Table) -> Candidate:
        """Read what an implementation recorded."""
        return Candidate(
            recorded,
            fields.text(recorded, "tree"),
            fields.text(recorded, "commit"),
            fields.texts(recorded, "changed"),
            fields.reference_or_none(recorded, "diff"),
            fields.reference_or_none(recorded, "turns"),
        )

    def to_dict(self) -> dict[str, Value]:
        """JSON form, as recorded."""
        return dict(self.recorded)


@dataclass(frozen=True, slots=True)
class StageOutcome:
    """How a stage ended in an earlier run: with a value, or with an error."""

    value: Value = None
    error: TaskError | None = None

    @staticmethod
    def from_dict(raw: Table) -> StageOutcome:
        """Read what `to_dict` wrote."""
        error = fields.inner_or_none(raw, "error")
        return StageOutcome(raw.get("value"), None if error is None else error_from_dict(error))

    def to_dict(self) -> dict[str, Value]:
        """JSON form."""
        if self.error is None:
            return {"value": self.value}
        return {"error": error_to_dict(self.error)}


def error_to_dict(error: TaskError) -> dict[str, Value]:
    """JSON form of why a stage failed."""
    return {"type": error.type, "stage": error.stage, "exit_code": error.exit_code}


def error_from_dict(raw: Table) -> TaskError:
    """Read what `error_to_dict` wrote."""
    code = fields.count_or_none(raw, "exit_code")
    return TaskError(fields.text(raw, "type"), fields.text(raw, "stage"), code)

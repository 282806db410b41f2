"""What an ARC search records, as JSON objects: arguments and results of its tasks, and answers.

    OptionsRecord ──► PhaseRecord (shallow, slices, views), LearnedRecord ──► AnswerRecord

These types name the keys; `wire` and `codec` fill and read them. Runs of older versions may lack
some: views read `evidence` and `weighing` with that in mind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NotRequired, TypedDict

from weft.model.codec import Table
from weft.model.values import Object
from weft.searches.arc.bank import Bank
from weft.searches.arc.synthesis.budget import SearchBudget

Rows = list[list[int]]
"""A grid as ARC files write it."""

SEARCH = "arc.solve"
"""The declared name of the search."""
SLICE, LISTS, CHOICES, EACH = "arc.slice", "arc.lists", "arc.choices", "arc.each"
TABLES, VIEW_TABLES = "arc.tables", "arc.viewtables"
FIRSTS, STEPS = "arc.firsts", "arc.steps"
"""The declared names of tasks: a slice of the deep phase, parts of what is learned."""


@dataclass(frozen=True, slots=True)
class OptionsRecord:
    """Everything that decides a search's outcome, beside the tasks; `codec` writes and reads it."""

    budget: SearchBudget
    prune: tuple[str, ...]
    seed: int
    slices: int
    needed_permille: int
    margin_millibits: int | None
    operators: str
    bank: Bank | None
    without: tuple[str, ...]


class CandidateRecord(TypedDict):
    """A program that is right on every training pair."""

    program: str
    millibits: int
    outputs: str
    time: int
    loo_passed: int | None


class NearestRecord(TypedDict):
    """The program with the smallest loss."""

    program: str
    shape_loss: int
    cell_loss: int


class PhaseRecord(TypedDict):
    """What a phase, a slice or a view reached; the log travels as an object."""

    candidates: list[CandidateRecord]
    guesses: list[CandidateRecord]
    nearest: NearestRecord
    programs: int
    exhausted: bool
    states: int
    examples: int
    views: list[list[str]]
    log: NotRequired[Object]


class GroundRecord(TypedDict):
    """The task on black ground, if it is to be searched too."""

    ground: Object | None
    ground_ways: list[str]
    """How it can be divided into parts."""
    is_coloured: bool
    """Whether all inputs have a coloured ground."""


class ShallowRecord(PhaseRecord, GroundRecord):
    """What the shallow phase reached, and what it hands on."""

    table: Object | None
    """Its vectors, for the slices."""
    sample: Object
    """Vectors to learn lists and choices from."""
    facts: Table
    """`ShallowFacts`, from which the parts that follow are planned."""


class LearnedRecord(TypedDict):
    """What one part of list learning or of choosing objects found."""

    found: Object | None
    """A JSON list of `CandidateRecord`; None where there is nothing."""
    is_validated: bool
    """Whether some program passes leave-one-out cross-validation."""
    beginnings: list[Table]
    """Of lists: `Beginning`, for lists in two layers."""


class AssembledRecord(TypedDict):
    """All parts of a search together, not yet judged."""

    found: Object
    """A JSON list of two: programs right on every pair, and guesses, each a `CandidateRecord`."""
    nearest: NearestRecord
    exhausted: bool
    programs: int
    log: Object
    examinations: int
    """How many programs to examine."""
    is_explained: bool
    """Whether a program without a view fits every pair: then black ground does not count."""


class GroupRecord(TypedDict):
    """Programs that agree on the tests."""

    outputs: list[Rows]
    programs: list[str]
    millibits: int
    size: int
    shortest_millibits: int
    evidence: Table | None
    """An `Evidence`, or what an older version recorded."""


FailureRecord = TypedDict("FailureRecord", {"class": str, "why": str})


class AnswerRecord(TypedDict):
    """A lane's answer."""

    outcome: str
    confidence_permille: NotRequired[int | None]
    """Probability that the weighed group is right on all tests, see `Weighing.place`; None where it
    was not computed, missing in runs of older versions."""
    groups: list[GroupRecord]
    weighing: Table | None
    """A `Weighing`."""
    nearest: NearestRecord | None
    failure: FailureRecord | None
    programs: NotRequired[int]
    exhausted: NotRequired[bool]
    log: NotRequired[Object]

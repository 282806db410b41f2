"""The JSON objects that an ARC search records: arguments and results of its tasks, and answers.

    OptionsRecord ──► PhaseRecord (shallow, slices, views), LearnedRecord ──► AnswerRecord

These types define the keys; `tasks` and `codec` write and read them. Runs of older versions may
lack some keys, so readers of `evidence` and `weighing` must tolerate that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NotRequired, TypedDict

from weft.model.codec import Table
from weft.model.values import Object
from weft.searches.arc.bank import Bank
from weft.searches.arc.synthesis.budget import SearchBudget

Rows = list[list[int]]
"""A grid as written in ARC files."""

SEARCH = "arc.solve"
"""The declared name of the search."""
SLICE, LISTS, CHOICES, EACH = "arc.slice", "arc.lists", "arc.choices", "arc.each"
TABLES, VIEW_TABLES = "arc.tables", "arc.viewtables"
FIRSTS, STEPS = "arc.firsts", "arc.steps"
"""The declared names of tasks: a slice of the deep phase, and the parts of rule learning."""


@dataclass(frozen=True, slots=True)
class OptionsRecord:
    """Everything but the tasks that decides a search's outcome; `codec` writes and reads it."""

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
    """A program that is right on every training pair, or on all but the one that it names."""

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
    """The result of a phase, a slice or a view; the log is passed as an object."""

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
    """The task on a black background, if it is to be searched too."""

    ground: Object | None
    ground_ways: list[str]
    """Names of the divisions into parts that apply to it."""
    is_coloured: bool
    """Whether all inputs have a coloured background."""


class ShallowRecord(PhaseRecord, GroundRecord):
    """The result of the shallow phase, and what it passes to later parts."""

    table: Object | None
    """The phase's vectors, for the slices."""
    sample: Object
    """Vectors to learn lists and choices from."""
    facts: Table
    """`ShallowFacts`, from which the later parts are planned."""


class LearnedRecord(TypedDict):
    """The result of one part of rule learning (lists, tables, choices, programs for parts)."""

    found: Object | None
    """A JSON list of `CandidateRecord`; None if nothing was found."""
    is_validated: bool
    """Whether some program passes leave-one-out cross-validation."""
    beginnings: list[Table]
    """From list learning: each a `Beginning`, for lists in two layers."""


class AssembledRecord(TypedDict):
    """All parts of a search combined, not yet judged."""

    found: Object
    """A JSON list of two: programs right on every pair, and guesses, each a `CandidateRecord`."""
    nearest: NearestRecord
    exhausted: bool
    programs: int
    log: Object
    examinations: int
    """The number of programs to examine."""
    is_explained: bool
    """Whether a program without a view fits every pair, so that no black background is needed."""
    is_empty: bool
    """Whether nothing fits every pair, not even a guess."""


class OmissionRecord(TypedDict):
    """A puzzle without one of its training pairs."""

    puzzle: Object
    pair: int
    view: list[str] | None
    """The view that changed its background; None if it is unchanged."""


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
    """Probability that the weighed group (see `Weighing.place`) is right on all tests; None if it
    was not computed, missing in runs of older versions."""
    groups: list[GroupRecord]
    weighing: Table | None
    """A `Weighing`."""
    nearest: NearestRecord | None
    failure: FailureRecord | None
    programs: NotRequired[int]
    exhausted: NotRequired[bool]
    log: NotRequired[Object]

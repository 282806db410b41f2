"""What an ARC search records, as JSON objects: arguments and results of its tasks, and answers.

    OptionsRecord ──► PhaseRecord (shallow, slices, views) ──► AnswerRecord

These types name the keys; `wire` and the `to_dict` methods fill and read them. Runs of older
versions may lack some: views read `evidence` and `weighing` with that in mind.
"""

from __future__ import annotations

from typing import NotRequired, TypedDict

from weft.model.values import Object

Rows = list[list[int]]
"""A grid as ARC files write it."""

SEARCH = "arc.solve"
"""The declared name of the search."""
SLICE = "arc.slice"
"""The declared name of the task that runs a slice of the deep phase."""


class ConceptRecord(TypedDict):
    """One concept of a bank."""

    name: str
    operators: list[str]
    millibits: int
    tasks: list[str]
    concepts: list[str]


class BankRecord(TypedDict):
    """A bank file."""

    schema_version: int
    concepts: list[ConceptRecord]


class BudgetRecord(TypedDict):
    """A `SearchBudget`."""

    schema_version: int
    max_programs: int
    max_depth: int
    max_states: int
    shallow_share: int
    shallow_most: int
    view_share: int
    competitor_programs: int
    max_candidates: int
    max_millibits: int
    stop_on_first: bool


class SliceRecord(TypedDict):
    """A `WorkerBudget`."""

    schema_version: int
    slice: int
    operator_start: int
    operator_end: int
    programs_start: int
    programs_end: int


class OptionsRecord(TypedDict):
    """Everything that decides a search's outcome, beside the tasks."""

    budget: BudgetRecord
    prune: list[str]
    seed: int
    slices: int
    margin_millibits: int | None
    operators: str
    bank: BankRecord | None
    without: list[str]


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
    table: NotRequired[Object | None]
    """Of the shallow phase: its vectors, for the slices."""


class EvidenceRecord(TypedDict):
    """How a program fared beyond the pairs it was found for."""

    loo_passed: int
    loo_required: int
    refuted: int
    inconsistent: int
    violated: list[str]
    doubt_millibits: int


class GroupRecord(TypedDict):
    """Programs that agree on the tests."""

    outputs: list[Rows]
    programs: list[str]
    millibits: int
    size: int
    shortest_millibits: int
    evidence: EvidenceRecord | None


class WeighingRecord(TypedDict):
    """The numbers that decided about the best group."""

    price_millibits: int
    alone_millibits: int
    limit_millibits: int
    margin_millibits: int | None
    needed_millibits: int | None


FailureRecord = TypedDict("FailureRecord", {"class": str, "why": str})


class AnswerRecord(TypedDict):
    """A lane's answer."""

    outcome: str
    groups: list[GroupRecord]
    weighing: WeighingRecord | None
    nearest: NearestRecord | None
    failure: FailureRecord | None
    programs: NotRequired[int]
    exhausted: NotRequired[bool]
    log: NotRequired[Object]


class NamedTaskRecord(TypedDict):
    """A task that has no answer yet, as `--json` prints it."""

    name: str
    digest: str


class NamedAnswerRecord(NamedTaskRecord, AnswerRecord):
    """The answer of a task, as `--json` prints it."""


class ResultsRecord(TypedDict):
    """What became of a run's tasks; of a sealed run only how many ended how."""

    outcomes: dict[str, int]
    results: NotRequired[list[NamedTaskRecord | NamedAnswerRecord]]


class ScoreRecord(TypedDict):
    """A `BenchScore`."""

    schema_version: int
    tasks: int
    answered: int
    right: int
    wrong: int
    unknown: int
    top1: int
    top2: int
    outcomes: dict[str, int]
    failures: dict[str, int]
    margins: dict[str, dict[str, int]]
    precision: float | None


class CostRecord(TypedDict):
    """What a run's tasks took, with the rates people ask for."""

    cpu_s: float
    cpu_s_per_task: float
    programs: int
    programs_per_s: int
    states_per_s: int
    pruned_share: float
    pruned: dict[str, int]
    repeated_share: float
    failed_share: float
    cache_hit_share: float


class WorkerRecord(TypedDict):
    """What one worker process did."""

    worker: str
    programs: int
    busy_s: float
    programs_per_s: int


class TelemetryRecord(CostRecord):
    """The figures of a run's search."""

    pruned_shares: dict[str, float]
    workers: list[WorkerRecord]
    slice_balance: float | None


class StepRecord(TypedDict):
    """A step of a program as it is shown: grids as rows, other values in words."""

    line: str
    values: list[Rows | str]


class ShownAnswerRecord(TypedDict):
    """A program as it is shown."""

    program: list[str]
    millibits: int
    programs: int
    doubts: str
    outputs: list[Rows]
    inputs: list[str]
    steps: list[StepRecord]


class ShownTaskRecord(TypedDict):
    """A task as it is shown; what became of it where a run has it."""

    name: str
    digest: str
    train: list[dict[str, Rows]]
    test: list[dict[str, Rows]]
    truth: NotRequired[list[Rows]]
    outcome: NotRequired[str]
    note: NotRequired[str]
    answers: NotRequired[list[ShownAnswerRecord]]
    nearest: NotRequired[ShownAnswerRecord | None]

"""Score a run: answered, right, wrong and unknown, top guesses, failure classes, and cost.

Answers are compared with the truth here and in `livescore` only; nothing of it reaches a run.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

from weft.inspect.report.view import ViewedTask
from weft.model import codec
from weft.model.values import Value
from weft.searches.arc.attempts import right_outputs, solved_within
from weft.searches.arc.recorded import ArcRun
from weft.searches.arc.records import AnswerRecord
from weft.searches.arc.spent import CPU_S
from weft.searches.arc.task import ArcTask
from weft.searches.arc.values import Grid

CONFIDENCES = (0, 500, 800, 850, 900, 920, 930, 950, 980, 990)
"""Values of `--min-confidence`, in permille, for which a bench reports answers."""
BINS = (0, 200, 400, 600, 800, 900, 950, 980)
"""Lower bounds of the bins of a reliability diagram, in permille."""
ATTEMPTS = 2
"""Attempts for each test, as ARC Prize allows them."""
SLOWEST = 20
"""One in `SLOWEST` puzzles counts as slow."""
COMPLETE = ("SOLVED", "UNKNOWN/ambiguous", "UNKNOWN/unsure")
"""Outcomes of searches that ended with an explanation."""


@dataclass(frozen=True, slots=True)
class BenchScore:
    """Totals of a run: `right` and `wrong` count answers, `top1` and `top2` tasks by attempts."""

    tasks: int
    answered: int
    right: int
    wrong: int
    unknown: int
    top1: int
    top2: int
    outputs: int
    """Number of tests of all tasks."""
    outputs_top2: int
    """Tests with a right output among the first two attempts."""
    outcomes: Mapping[str, int]
    failures: Mapping[str, int]
    confidences: Mapping[str, Mapping[str, int]]
    """Counts of answered, right and wrong for other values of `--min-confidence`."""
    reliability: list[dict[str, int]]
    """For each bin of confidence: its lower bound, answers, right ones, and sum of permille."""
    schema_version: Literal[1] = 1

    @property
    def precision(self) -> float | None:
        """Share of answers that are right; None if none was given."""
        return self.right / self.answered if self.answered else None

    def to_dict(self) -> dict[str, Value]:
        """Return the JSON form."""
        return {**codec.to_json(self), "precision": self.precision}


@dataclass(slots=True)
class Cost:
    """The cost of a run's tasks, from the manifest."""

    tasks: int = 0
    cpu_s: float = 0.0
    by_lane: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """CPU seconds of each puzzle."""
    programs: int = 0
    states: int = 0
    failed: int = 0
    repeated: int = 0
    vectors: int = 0
    pruned: Counter[str] = field(default_factory=Counter)
    cache_hits: int = 0
    cache_misses: int = 0

    @property
    def slowest_s(self) -> float:
        """Mean CPU seconds of the slowest twentieth of the puzzles, at least one puzzle."""
        slowest = sorted(self.by_lane.values(), reverse=True)[: max(1, self.tasks // SLOWEST)]
        return sum(slowest) / max(1, len(slowest))

    def rates(self) -> dict[str, float]:
        """Return totals, rates and shares by name."""
        pruned = sum(self.pruned.values())
        lookups = self.cache_hits + self.cache_misses
        return {
            "cpu_s": round(self.cpu_s, 3),
            "cpu_s_per_task": round(self.cpu_s / max(1, self.tasks), 3),
            "cpu_s_of_slowest": round(self.slowest_s, 3),
            "programs": self.programs,
            "programs_per_s": round(self.programs / max(1e-9, self.cpu_s)),
            "states_per_s": round(self.states / max(1e-9, self.cpu_s)),
            "pruned_share": round(pruned / max(1, pruned + self.programs), 4),
            "repeated_share": round(self.repeated / max(1, self.programs), 4),
            "failed_share": round(self.failed / max(1, self.programs), 4),
            "cache_hit_share": round(self.cache_hits / max(1, lookups), 4),
        }


def score(run: ArcRun, truth: Mapping[str, ArcTask]) -> BenchScore:
    """Score a run against the true outputs; `truth` maps digests to tasks."""
    outcomes: Counter[str] = Counter()
    failures: Counter[str] = Counter()
    right = wrong = top1 = top2 = outputs = outputs_top2 = 0
    for item in run.items:
        outcomes[item.outcome] += 1
        failure = None if item.answer is None else item.answer["failure"]
        if failure is not None:
            failures[failure["class"]] += 1
        true = truth[item.task.digest].truth
        is_first = solved_within(item.answer, true, 1)
        top1, top2 = top1 + is_first, top2 + solved_within(item.answer, true, ATTEMPTS)
        outputs += len(true)
        outputs_top2 += right_outputs(item.answer, true, ATTEMPTS)
        if item.outcome == "SOLVED":
            right, wrong = right + is_first, wrong + (not is_first)
    answered, n = right + wrong, len(run.items)
    return BenchScore(
        n, answered, right, wrong, n - answered, top1, top2, outputs, outputs_top2,
        dict(sorted(outcomes.items())), dict(sorted(failures.items())),
        {f"{p / 1000:g}": _at_confidence(run, truth, p) for p in CONFIDENCES},
        reliability(run, truth),
    )  # fmt: skip


def _at_confidence(run: ArcRun, truth: Mapping[str, ArcTask], permille: int) -> dict[str, int]:
    """Count the answers that a run with this minimum confidence would give."""
    right = wrong = 0
    for item in run.items:
        own = None if item.answer is None else item.answer.get("confidence_permille")
        if own is not None and own >= permille and item.outcome in COMPLETE:
            is_right = is_weighed_right(item.answer, truth[item.task.digest].truth)
            right, wrong = right + is_right, wrong + (not is_right)
    return {"answered": right + wrong, "right": right, "wrong": wrong}


def reliability(run: ArcRun, truth: Mapping[str, ArcTask]) -> list[dict[str, int]]:
    """Count weighed answers and right ones by bins of confidence, lowest first, with empty ones."""
    bins = [{"from": low, "answers": 0, "right": 0, "permille": 0} for low in BINS]
    for item in run.items:
        own = None if item.answer is None else item.answer.get("confidence_permille")
        if own is not None:
            entry = bins[bisect_right(BINS, own) - 1]
            entry["answers"] += 1
            entry["right"] += is_weighed_right(item.answer, truth[item.task.digest].truth)
            entry["permille"] += own
    return bins


def is_weighed_right(answer: AnswerRecord | None, truth: tuple[Grid, ...]) -> bool:
    """Whether the weighed group is right; with a low confidence it may not be the first."""
    weighing = None if answer is None else answer["weighing"]
    return weighing is not None and rank(answer, truth) == weighing.get("place", 0)


def rank(answer: AnswerRecord | None, truth: tuple[Grid, ...]) -> int | None:
    """Return the place of the right outputs among an answer's groups; None if they are missing."""
    expected = [grid.rows() for grid in truth]
    groups = [] if answer is None else answer["groups"]
    places = [i for i, group in enumerate(groups) if group["outputs"] == expected]
    return places[0] if places else None


def cost(tasks: int, records: Iterable[ViewedTask]) -> Cost:
    """Add up what the tasks of a run reported."""
    total = Cost(tasks)
    for task in records:
        spent_s = task.notes.get(CPU_S, task.run_s or 0.0)
        total.cpu_s += spent_s
        total.by_lane[task.lane] += spent_s
        notes = task.notes
        if "programs" not in notes:
            continue
        for name in ("programs", "states", "failed", "repeated", "vectors"):
            setattr(total, name, getattr(total, name) + notes[name])
        total.cache_hits += notes["cache_hits"]
        total.cache_misses += notes["cache_misses"]
        total.pruned.update(notes["pruned"])
    return total

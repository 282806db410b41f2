"""Records of trials: their parameters, how they ended, their values. Pure.

Converts an objective's recorded value to numbers, and chooses the best trials by comparing only
recorded numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from weft.errors import SearchInvalid
from weft.model.tasks import Unknown
from weft.model.values import Argument, Value

Params: TypeAlias = Mapping[str, Value]
Direction: TypeAlias = Literal["minimize", "maximize"]
DIRECTIONS: tuple[Direction, ...] = ("minimize", "maximize")


@dataclass(frozen=True, slots=True)
class TrialRecord:
    """A trial that ended. `values` is empty for a failed one."""

    number: int
    params: Params
    state: Literal["complete", "pruned", "failed"]
    values: tuple[float, ...] = ()
    steps: tuple[tuple[int, float], ...] = ()
    """The level and value of each rung that the trial went through."""
    space: Mapping[str, str] | None = None
    """The trial's own distributions, if they depend on its parameters."""

    @property
    def value(self) -> float | list[float] | None:
        """Value told to an optimizer: a number, a list for several objectives, None if failed."""
        return list(self.values) if len(self.values) > 1 else next(iter(self.values), None)


def numbers_of(value: Value, count: int, function: str) -> tuple[float, ...] | None:
    """Return the numbers that an objective returned; None if one of them is NaN.

    Raises `SearchInvalid` for anything but `count` numbers, which no sampler could be told.
    """
    numbers = value if isinstance(value, list) else [value]
    if len(numbers) != count or any(type(number) not in {int, float} for number in numbers):
        expected = "a number" if count == 1 else f"a list of {count} numbers, one per direction"
        raise SearchInvalid(f"{function} returned {value!r:.80}; an objective returns {expected}")
    plain = tuple(number for number in numbers if isinstance(number, int | float))
    return None if any(math.isnan(number) for number in plain) else plain


def ranked(trials: Sequence[TrialRecord], direction: str) -> list[TrialRecord]:
    """Return the complete trials, best first, ties by number."""
    complete = [trial for trial in trials if trial.state == "complete"]
    return sorted(complete, key=lambda trial: (signed(trial.values[0], direction), trial.number))


def signed(value: float, direction: str) -> float:
    """Return the value with the sign for which smaller is better; negation is exact."""
    return value if direction == "minimize" else -value


def pareto_front(trials: Sequence[TrialRecord], directions: Sequence[str]) -> list[TrialRecord]:
    """Return the complete trials that no other one dominates, in their order."""
    complete = [trial for trial in trials if trial.state == "complete"]
    points = [
        tuple(signed(value, way) for value, way in zip(trial.values, directions, strict=True))
        for trial in complete
    ]
    return [
        trial
        for trial, point in zip(complete, points, strict=True)
        if not any(_dominates(other, point) for other in points)
    ]


def _dominates(a: tuple[float, ...], b: tuple[float, ...]) -> bool:
    return a != b and all(x <= y for x, y in zip(a, b, strict=True))


def answer(trials: Sequence[TrialRecord], directions: Sequence[str]) -> Argument | Unknown:
    """Return the search's answer: the best trial or the Pareto front, and the trials by state."""
    counts = {
        state: sum(trial.state == state for trial in trials)
        for state in ("complete", "pruned", "failed")
    }
    if not counts["complete"]:
        return Unknown("incomplete", f"none of {len(trials)} trials was completed")
    if len(directions) > 1:
        return {"front": [shown(t) for t in pareto_front(trials, directions)], "trials": counts}
    return {"best": shown(ranked(trials, directions[0])[0]), "trials": counts}


def shown(trial: TrialRecord) -> dict[str, Argument]:
    """Return a trial in the form that answers show."""
    return {"number": trial.number, "params": dict(trial.params), "value": trial.value}

"""How fast a run is and how long it will take: pure functions of counts and times.

The rate is measured between completions, so that tasks which end at the same moment do not look
fast, and over the later half of them, so that a slow start is forgotten. The remaining tasks are
counted in waves of concurrent tasks; a task that is overdue by some time is expected to run for as
long again. Where the time cannot be known, a lower bound is given.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

LONG_SHARE = 3.0
"""A task that has run for more than this multiple of the usual time is of unknown length."""
TAIL_SHARE = 0.5
"""The estimate is a lower bound if such a task takes more than this share of the time left."""
LEAST_AGE_S = 1.0
"""Minimum age of the running tasks that allows an estimate before any task has ended."""
FEW_WAVES = 3
MAX_SAMPLES = 256


@dataclass(frozen=True, slots=True)
class Sample:
    """The number of tasks finished at a given time, and the worker-seconds spent on them.

    The first sample of a session is its start.
    """

    at_s: float
    finished: int
    busy_s: float
    longest_s: float = 0.0
    """The longest run time of a task that ran since the previous sample."""


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """Seconds until the end; with `at_least`, a lower bound."""

    seconds: float
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class Pace:
    """The recent pace: tasks per second, usual seconds per task, and tasks running at a time."""

    rate_per_s: float
    usual_s: float
    width: float
    longest_s: float = 0.0


def add_sample(samples: list[Sample], sample: Sample) -> None:
    """Append a sample, unless no task has ended since the last; join pairs when there are many."""
    if sample.finished <= samples[-1].finished:
        return
    samples.append(sample)
    if len(samples) > MAX_SAMPLES:
        samples[:] = [
            samples[0],
            *(_joined(*pair) for pair in zip(samples[1::2], samples[2::2], strict=True)),
        ]


def _joined(earlier: Sample, later: Sample) -> Sample:
    return replace(later, longest_s=max(earlier.longest_s, later.longest_s))


def pace_of(samples: Sequence[Sample], now_s: float) -> Pace | None:
    """Return the recent pace; None before a task of the session has ended.

    A silence as long as one task takes is normal; a longer one slows the pace.
    """
    first, last = samples[0], samples[-1]
    middle = (first.finished + last.finished) // 2
    start = max((s for s in samples if s.finished <= middle), key=lambda s: s.finished)
    tasks, span_s = last.finished - start.finished, last.at_s - start.at_s
    if tasks <= 0 or span_s <= 0:
        return None
    usual_s = (last.busy_s - start.busy_s) / tasks
    silence_s = max(0.0, now_s - last.at_s - usual_s)
    return Pace(
        tasks / (span_s + silence_s),
        usual_s * (span_s + silence_s) / span_s,
        (last.busy_s - start.busy_s) / span_s,
        max(sample.longest_s for sample in samples if sample.finished > start.finished),
    )


def time_left(
    pace: Pace | None, remaining: int, ages_s: Sequence[float], workers: int, *, is_whole: bool
) -> TimeLeft | None:
    """Return how long the `remaining` tasks will take; None if there is nothing to go by.

    `ages_s` has the age of each running task. Without `is_whole` more tasks may follow, and the
    time is a lower bound.
    """
    if remaining <= 0:
        return TimeLeft(0.0) if is_whole else None
    ages_s = sorted(ages_s, reverse=True)[: min(workers, remaining)]
    waves = _waves(remaining - len(ages_s), max(len(ages_s), pace.width if pace else 0.0), workers)
    if pace is None:
        return _before_the_first(waves, ages_s)
    rest_s = [abs(pace.usual_s - age_s) for age_s in ages_s] or [0.0]
    seconds = max(*rest_s, sum(rest_s) / len(rest_s) + waves * pace.usual_s)
    longest_s = max(ages_s[0] if ages_s else 0.0, pace.longest_s if waves else 0.0)
    is_open = longest_s > max(LONG_SHARE * pace.usual_s, TAIL_SHARE * seconds)
    return TimeLeft(seconds, at_least=not is_whole or is_open)


def _waves(waiting: int, width: float, workers: int) -> float:
    """Return how many waves the waiting tasks take; the last few are counted as whole waves."""
    waves = waiting / min(float(workers), max(1.0, width))
    return waves if waves > FEW_WAVES else float(math.ceil(waves))


def _before_the_first(waves: float, ages_s: Sequence[float]) -> TimeLeft | None:
    """Estimate before any task has ended: each takes at least as long as the youngest has run."""
    if not waves or not ages_s or ages_s[-1] < LEAST_AGE_S:
        return None
    return TimeLeft(waves * ages_s[-1], at_least=True)

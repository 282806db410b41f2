"""How fast a run is and how long it will take: a pure function of what was counted.

A rate is measured from one completion to another, so that tasks which end at the same moment do
not look fast, and over the last half of them, so that a slow start is forgotten. What is left is
counted in waves of the tasks that run side by side; a task that runs for longer than others is
expected to run on for as long again. What cannot be known is given as a lower bound.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

LONG_SHARE = 3.0
"""A task that has run for so many times the usual is of unknown length."""
TAIL_SHARE = 0.5
"""One more such task would not fit into so much of the time left."""
LEAST_AGE_S = 1.0
"""Before any task has ended, the age of those that run says something from here on."""
FEW_WAVES = 3
MAX_SAMPLES = 256


@dataclass(frozen=True, slots=True)
class Sample:
    """How many tasks were over at a time, and the worker-seconds that had gone into tasks.

    The first sample of a session is its start.
    """

    at_s: float
    finished: int
    busy_s: float
    longest_s: float = 0.0
    """The longest that a task had run for which ran since the sample before."""


@dataclass(frozen=True, slots=True)
class TimeLeft:
    """Seconds until the end; with `at_least` it may well be more."""

    seconds: float
    at_least: bool = False


@dataclass(frozen=True, slots=True)
class Pace:
    """How tasks of late went by: so many a second, each so long, so many side by side."""

    rate_per_s: float
    usual_s: float
    width: float
    longest_s: float = 0.0


def add_sample(samples: list[Sample], sample: Sample) -> None:
    """Append a sample, unless no task has ended since the last; thin them out as they get many."""
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
    """Return the pace of late; None before a task of the session has ended.

    That none ends for as long as one takes is nothing unusual; a longer silence slows the pace.
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
    """Return how long the `remaining` tasks will take; None when nothing can be known.

    `ages_s` says for how long each of the tasks runs that are under way. Without `is_whole`
    more tasks than these may follow, and the time is a lower bound.
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
    """How many times as long as one task those that wait take; the last few in whole waves."""
    waves = waiting / min(float(workers), max(1.0, width))
    return waves if waves > FEW_WAVES else float(math.ceil(waves))


def _before_the_first(waves: float, ages_s: Sequence[float]) -> TimeLeft | None:
    """No task has ended: those to come are taken to last as long as the youngest has run."""
    if not waves or not ages_s or ages_s[-1] < LEAST_AGE_S:
        return None
    return TimeLeft(waves * ages_s[-1], at_least=True)

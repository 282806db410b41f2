"""The progress of a run, as every view shows it: counts, speed, best value, lanes, time left.

    counts at every read ─► Gauge ─► Progress ─► words
    rows of the manifest ─► inspect.progress ──┘

The bar of the command line, `weft.run`, `weft status`, `weft watch` and the live page show these.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from weft.coordinator.machine import Counts
from weft.coordinator.outlook import Outlook
from weft.model.pace import Sample, TimeLeft, add_sample, pace_of, time_left
from weft.model.plan import Number, Plan
from weft.model.values import JsonValue

MAX_OUTCOMES = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """The progress of a run, for display only; it is not recorded and affects no decision."""

    finished: int
    total: int
    """Tasks that the search expects, or those of the rounds opened so far."""
    is_whole: bool = False
    """Whether the search itself has declared how many there will be."""
    failed: int = 0
    running: int = 0
    rate_per_s: float | None = None
    left: TimeLeft | None = None
    best: Number | None = None
    lanes: int = 0
    lanes_ended: int = 0
    outcomes: Mapping[str, int] = field(default_factory=dict)
    """The number of lanes that ended with each text, if the search requests a tally."""
    plan: Plan = field(default_factory=Plan)

    def count(self) -> str:
        """Return how many tasks are finished, of how many; with a plus if more may follow.

        >>> Progress(finished=3, total=10).count()
        '3/10+ tasks'
        >>> Progress(finished=3, total=10, is_whole=True).count()
        '3/10 tasks'
        """
        more = "" if self.is_whole else "+"
        return f"{self.finished:,}/{self.total:,}{more} {self.plan.unit}"

    def details(self) -> list[str]:
        """Return the other details in words, the most important first."""
        parts = [] if not self.lanes else [self.lane_count()]
        if self.failed:
            parts.append(f"{self.failed:,} failed")
        if self.best is not None:
            parts.append(f"best {best_text(self.best)}")
        if self.plan.note:
            parts.append(self.plan.note)
        if self.rate_per_s is not None:
            parts.append(rate_text(self.rate_per_s))
        return parts

    def lane_count(self) -> str:
        """Return in words how many lanes have ended, and how."""
        counted = sorted(self.outcomes.items(), key=lambda item: (-item[1], item[0]))
        ends = [f", {count:,} {text.lower()}" for text, count in counted[:MAX_OUTCOMES]]
        return f"{self.lanes_ended:,}/{self.lanes:,} {self.plan.lanes}" + "".join(ends)

    def words(self) -> str:
        """Return the whole progress in one line.

        >>> Progress(finished=50, total=200, failed=1, running=2, left=TimeLeft(31.2)).words()
        '50/200+ tasks, 1 failed, 2 running, about 31 s left'
        """
        running = [f"{self.running:,} running"] if self.running else []
        remaining = [] if self.left is None else [left_text(self.left)]
        return ", ".join([self.count(), *self.details(), *running, *remaining])

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the JSON form, as in `weft status --json` and on the live page."""
        remaining = self.left
        return {
            "words": self.words(),
            "finished": self.finished,
            "total": self.total,
            "total_is_whole": self.is_whole,
            "unit": self.plan.unit,
            "failed": self.failed,
            "running": self.running,
            "rate_per_s": self.rate_per_s,
            "left_s": None if remaining is None else remaining.seconds,
            "left_is_lower_bound": remaining is not None and remaining.at_least,
            "best": self.best,
            "lanes": self.lanes,
            "lanes_ended": self.lanes_ended,
            "outcomes": dict(self.outcomes),
            "note": self.plan.note,
        }


class Gauge:
    """Computes a run's progress from its counts; one for each session."""

    def __init__(self, counts: Counts, now_s: float) -> None:
        self._samples = [Sample(now_s, counts.finished, 0.0)]
        self._read_s, self._busy_s, self._longest_s = now_s, 0.0, 0.0

    def read(self, counts: Counts, now_s: float) -> Progress:
        """Return the progress, given the counts at this moment."""
        outlook = counts.outlook
        workers = outlook.workers if outlook else max(1, counts.running)
        ages_s = outlook.ages_s(now_s) if outlook else []
        self._busy_s += (now_s - self._read_s) * min(counts.running, workers)
        self._longest_s = max([self._longest_s, *ages_s])
        self._read_s = now_s
        if counts.finished > self._samples[-1].finished:
            sample = Sample(now_s, counts.finished, self._busy_s, self._longest_s)
            add_sample(self._samples, sample)
            self._longest_s = 0.0
        total = max(counts.planned, outlook.expected() if outlook else 0)
        is_whole = outlook is None or outlook.is_whole
        pace = pace_of(self._samples, now_s)
        progress = Progress(
            finished=counts.finished,
            total=total,
            is_whole=is_whole,
            failed=counts.failed,
            running=min(counts.running, workers),
            rate_per_s=None if pace is None else pace.rate_per_s,
            left=time_left(pace, total - counts.finished, ages_s, workers, is_whole=is_whole),
        )
        return progress if outlook is None else _with_outlook(progress, outlook)


def _with_outlook(progress: Progress, outlook: Outlook) -> Progress:
    return replace(
        progress,
        best=outlook.best,
        lanes=outlook.lanes,
        lanes_ended=outlook.lanes_ended,
        outcomes=outlook.outcomes,
        plan=outlook.plan,
    )


def rate_text(rate_per_s: float) -> str:
    """Return a speed in words, per minute or hour if it is slow.

    >>> rate_text(1234.5), rate_text(2.345), rate_text(0.25), rate_text(0.002)
    ('1,234/s', '2.3/s', '15/min', '7.2/h')
    """
    for per, unit in ((1, "s"), (60, "min"), (3600, "h")):
        rate = rate_per_s * per
        if rate >= 1 or unit == "h":
            break
    return f"{rate:,.0f}/{unit}" if rate >= 10 else f"{rate:.1f}/{unit}"


def left_text(left: TimeLeft) -> str:
    """Return the time left in words, in two units at most.

    >>> left_text(TimeLeft(31.2)), left_text(TimeLeft(95, at_least=True)), left_text(TimeLeft(8000))
    ('about 31 s left', '≥ 1 min 35 s left', 'about 2 h 13 min left')
    """
    return f"{'≥' if left.at_least else 'about'} {span_text(left.seconds)} left"


def span_text(seconds: float) -> str:
    """Return a time span in words, in two units at most."""
    whole = max(1, round(seconds))
    for size, big, small_size, small in (
        (86400, "d", 3600, "h"), (3600, "h", 60, "min"), (60, "min", 1, "s"),
    ):  # fmt: skip
        if whole >= size:
            rest = whole % size // small_size
            return f"{whole // size} {big}" + f" {rest} {small}" * bool(rest)
    return f"{whole} s"


def best_text(value: Number) -> str:
    """Return a number as text, with six digits at most unless it is an integer."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.6g}"

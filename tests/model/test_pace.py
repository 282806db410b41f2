"""The time left, against traces whose end is known: a simple simulation of workers is the truth."""

from __future__ import annotations

import heapq
import random
from dataclasses import dataclass

import pytest

from weft.model.pace import MAX_SAMPLES, Pace, Sample, TimeLeft, add_sample, pace_of, time_left

EVERY_S = 0.1


@dataclass
class Trace:
    """Tasks of known length, executed by workers that each take the next one."""

    spans: list[tuple[float, float]]
    workers: int

    @staticmethod
    def of(lengths: list[float], workers: int, start_s: float = 0.0) -> Trace:
        free = [start_s] * workers
        heapq.heapify(free)
        spans = []
        for length in lengths:
            begin = heapq.heappop(free)
            heapq.heappush(free, begin + length)
            spans.append((begin, begin + length))
        return Trace(spans, workers)

    @property
    def end_s(self) -> float:
        return max(end for _, end in self.spans)

    def samples(self, now_s: float) -> list[Sample]:
        """The samples of an observer who checks at intervals from 0 to now."""
        samples, every_s = [Sample(0.0, 0, 0.0)], max(EVERY_S, self.end_s / 200)
        for tick in range(1, int(now_s / every_s) + 1):
            at_s = tick * every_s
            finished = sum(end <= at_s for _, end in self.spans)
            busy_s = sum(max(0.0, min(end, at_s) - begin) for begin, end in self.spans)
            since_s = samples[-1].at_s
            spans_s = [min(e, at_s) - b for b, e in self.spans if b < at_s and e > since_s]
            add_sample(samples, Sample(at_s, finished, busy_s, max(spans_s, default=0.0)))
        return samples

    def left(self, now_s: float, *, total: int | None = None) -> TimeLeft | None:
        samples = self.samples(now_s)
        ages = [now_s - begin for begin, end in self.spans if begin <= now_s < end]
        remaining = (total or len(self.spans)) - sum(end <= now_s for _, end in self.spans)
        pace = pace_of(samples, now_s)
        return time_left(pace, remaining, ages, self.workers, is_whole=True)


def check(trace: Trace, shares: tuple[float, ...], most: float = 1.5) -> None:
    """At each share of the run, the time left is right within a factor, or a true lower bound."""
    for share in shares:
        now_s = share * trace.end_s
        remaining, truth = trace.left(now_s), trace.end_s - now_s
        assert remaining is not None
        if remaining.at_least:
            assert remaining.seconds <= most * truth, (share, remaining, truth)
        else:
            assert truth / most <= remaining.seconds + 1.5 * EVERY_S, (share, remaining, truth)
            assert remaining.seconds <= most * truth + 1.5 * EVERY_S, (share, remaining, truth)


@pytest.mark.parametrize("workers", [1, 2, 8])
@pytest.mark.parametrize("length", [0.1, 1.0, 7.0])
def test_constant_speed_is_right_all_the_way(workers: int, length: float) -> None:
    check(Trace.of([length] * 80, workers), (0.25, 0.5, 0.75, 0.9, 0.95))


def test_twenty_seconds_are_not_called_two() -> None:
    """Four one-second tasks end at the same moment: that is not a rate of hundreds per second."""
    trace = Trace.of([1.0] * 80, 4)
    for now_s in (1.05, 1.5, 1.95):
        remaining = trace.left(now_s)
        assert remaining is not None
        assert remaining.seconds == pytest.approx(20 - now_s, abs=1.1)
        pace = pace_of(trace.samples(now_s), now_s)
        assert pace is not None
        assert pace.rate_per_s == pytest.approx(4.0, rel=0.1)


def test_slow_start_is_forgotten() -> None:
    """Ten seconds in which nothing ends, as when compiling, then tasks of one second."""
    trace = Trace.of([1.0] * 60, 2, start_s=10.0)
    check(trace, (0.5, 0.75, 0.9), most=1.6)


def test_speed_that_changes_is_followed() -> None:
    check(Trace.of([0.2] * 100 + [1.0] * 100, 4), (0.6, 0.75, 0.9), most=2.0)


@pytest.mark.parametrize("seed", range(6))
def test_heavy_tails_are_within_a_factor_of_two_and_a_half(seed: int) -> None:
    chance = random.Random(seed)
    lengths = [chance.lognormvariate(0.0, 1.2) for _ in range(200)]
    check(Trace.of(lengths, 4), (0.2, 0.4, 0.6, 0.8), most=2.5)


def test_last_task_that_is_long_is_a_lower_bound() -> None:
    """All tasks but one have ended: its end is unknown, but it is not now."""
    trace = Trace.of([0.5] * 39 + [30.0], 4)
    assert trace.end_s > 30
    for now_s in (8.0, 15.0, 25.0):
        remaining = trace.left(now_s)
        assert remaining is not None
        assert remaining.at_least
        assert 2.0 < remaining.seconds < 31


def test_total_that_grows_is_a_lower_bound() -> None:
    pace = Pace(2.0, 1.0, 2.0)
    assert time_left(pace, 10, [], 2, is_whole=False) == TimeLeft(5.0, at_least=True)
    assert time_left(pace, 10, [], 2, is_whole=True) == TimeLeft(5.0)


def test_nothing_is_said_before_anything_is_known() -> None:
    start = [Sample(5.0, 3, 2.0)]
    assert pace_of(start, 9.0) is None
    assert time_left(None, 10, [0.2, 0.3], 2, is_whole=True) is None
    assert time_left(None, 10, [], 2, is_whole=True) is None
    assert time_left(None, 2, [8.0, 9.0], 2, is_whole=True) is None  # all run, none has ended


def test_age_of_the_first_tasks_is_a_lower_bound_for_those_to_come() -> None:
    assert time_left(None, 10, [8.0, 9.0], 2, is_whole=True) == TimeLeft(32.0, at_least=True)


def test_nothing_is_left_at_the_end() -> None:
    assert time_left(None, 0, [], 2, is_whole=True) == TimeLeft(0.0)
    assert time_left(None, 0, [], 2, is_whole=False) is None


def test_silence_slows_the_pace_after_one_usual_task() -> None:
    samples = [Sample(0.0, 0, 0.0), Sample(1.0, 1, 1.0), Sample(2.0, 2, 2.0)]
    paces = [pace_of(samples, now_s) for now_s in (2.0, 3.0, 12.0)]
    assert [pace.rate_per_s for pace in paces if pace] == [1.0, 1.0, 0.1]


def test_narrow_rounds_on_many_workers_keep_their_pace() -> None:
    """Two tasks at a time despite eight workers, as in a search with small rounds."""
    trace = Trace(Trace.of([1.0] * 40, 2).spans, workers=8)
    for now_s in (5.05, 10.05, 15.05):
        remaining = trace.left(now_s)
        assert remaining is not None
        assert remaining.seconds == pytest.approx(20 - now_s, abs=1.2)


def test_tasks_of_a_resumed_session_count_from_its_start() -> None:
    samples = [Sample(100.0, 1000, 0.0), Sample(110.0, 1010, 10.0)]
    pace = pace_of(samples, 110.0)
    assert pace is not None
    assert pace.rate_per_s == 1.0


def test_samples_stay_few_and_keep_first_and_last() -> None:
    samples = [Sample(0.0, 0, 0.0)]
    for n in range(1, 5000):
        add_sample(samples, Sample(float(n), n, float(n)))
        add_sample(samples, Sample(n + 0.5, n, n + 0.5))  # nothing has ended: no information
    assert len(samples) <= MAX_SAMPLES
    assert (samples[0].finished, samples[-1].finished) == (0, 4999)
    pace = pace_of(samples, 4999.0)
    assert pace is not None
    assert pace.rate_per_s == pytest.approx(1.0)


def test_samples_that_show_no_time_or_no_task_have_no_pace() -> None:
    assert pace_of([Sample(1.0, 0, 0.0), Sample(1.0, 3, 1.0)], 2.0) is None, "no time went by"
    assert pace_of([Sample(0.0, 5, 0.0), Sample(1.0, 5, 1.0)], 2.0) is None, "no task ended"


def test_samples_are_thinned_out_in_pairs_that_keep_the_longest() -> None:
    samples = [Sample(0.0, 0, 0.0)]
    for at in range(1, MAX_SAMPLES + 1):
        add_sample(samples, Sample(float(at), at, float(at), longest_s=float(-at)))
    assert [sample.finished for sample in samples[:4]] == [0, 2, 4, 6]
    assert [sample.longest_s for sample in samples[1:4]] == [-1.0, -3.0, -5.0]
    assert len(samples) == 1 + MAX_SAMPLES // 2


def left(pace: Pace | None, remaining: int, ages: list[float], workers: int) -> TimeLeft | None:
    return time_left(pace, remaining, ages, workers, is_whole=True)


def test_few_waves_are_whole_and_many_are_not() -> None:
    pace = Pace(2.0, 1.0, 2.0)
    assert left(pace, 3, [], 2) == TimeLeft(2.0), "one and a half waves end with the second"
    assert left(pace, 6, [], 2) == TimeLeft(3.0)
    assert left(pace, 7, [], 2) == TimeLeft(3.5)


def test_time_left_is_open_only_beyond_three_times_the_usual() -> None:
    assert left(Pace(1.0, 1.0, 1.0), 1, [3.0], 1) == TimeLeft(2.0)
    assert left(Pace(1.0, 1.0, 1.0), 1, [3.1], 1) == TimeLeft(2.1, at_least=True)
    assert left(Pace(10.0, 0.1, 1.0), 1, [], 1) == TimeLeft(0.1), "nothing runs, nothing is long"
    assert left(Pace(20.0, 0.125, 1.0), 1, [0.0625], 1) == TimeLeft(0.0625)


def test_tasks_to_come_last_as_long_as_the_youngest_that_has_run_for_a_second() -> None:
    assert left(None, 2, [1.0], 1) == TimeLeft(1.0, at_least=True)
    assert left(None, 2, [0.9], 1) is None
    assert left(None, 4, [5.0, 0.5], 2) is None, "the youngest says too little"
    assert left(None, 6, [5.0, 4.0, 3.0], 3) == TimeLeft(3.0, at_least=True)


def test_pace_is_that_of_the_last_half_and_its_longest_task() -> None:
    samples = [Sample(0.0, 0, 0.0), Sample(1.0, 1, 1.0, 9.0), Sample(2.0, 2, 3.0, 2.0)]
    assert pace_of(samples, 2.0) == Pace(1.0, 2.0, 2.0, longest_s=2.0), "9 s were before that"
    assert pace_of([Sample(0.0, 0, 0.0), Sample(1.0, 1, 1.0)], 1.0) == Pace(1.0, 1.0, 1.0)


def test_silence_makes_the_usual_task_longer() -> None:
    samples = [Sample(0.0, 0, 0.0), Sample(1.0, 1, 1.0)]
    assert pace_of(samples, 5.0) == Pace(0.25, 4.0, 1.0)


def test_time_left_is_open_beyond_the_usual_and_beyond_half_of_the_time() -> None:
    assert left(Pace(0.5, 2.0, 1.0), 1, [5.0], 1) == TimeLeft(3.0), "5 s is not 3 times 2 s"
    assert left(Pace(1.0, 1.0, 1.0, 4.0), 20, [], 1) == TimeLeft(20.0), "4 s fit into 20"


def test_workers_that_idle_count_as_one() -> None:
    assert left(Pace(0.5, 1.0, 0.5), 4, [], 2) == TimeLeft(4.0)

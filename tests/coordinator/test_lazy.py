"""Lazy rounds: how many of their tasks exist at a time, and results read back from storage."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.machines import Bench, call, once
from weft.coordinator.lane import StoredResults
from weft.coordinator.making import LazyLimits
from weft.coordinator.steps import Close, Queue
from weft.errors import SearchInvalid
from weft.model.results import Result
from weft.model.tasks import make_lazy


class Made:
    """Creates the tasks of a lazy round and records which were created."""

    def __init__(self):
        self.calls: list[int] = []

    def make(self, i):
        self.calls.append(i)
        return call(i)


@given(
    chance=st.integers(0, 2**32).map(Random),
    size=st.integers(0, 60),
    window=st.integers(1, 9),
    reach=st.integers(1, 20),
    adversary=st.sampled_from(["random", "last", "first-last"]),
)
@settings(max_examples=120)
def test_lazy_adversarial_orders_keep_window_and_reach(chance, size, window, reach, adversary):
    maker = Made()

    def body():
        results = yield make_lazy(size, maker.make)
        return [r.value if r.ok else None for r in results]

    bench = Bench(body, lazy=LazyLimits(window, reach))
    out: list = []
    finished: set[int] = set()
    while not bench.machine.done:
        out += bench.take()
        existing = len(maker.calls) - len(finished)
        recorded = next(i for i in range(size + 1) if i not in finished)
        assert existing <= window
        assert not maker.calls or maker.calls[-1] < recorded + reach
        order = {"random": chance.randrange(len(out)), "last": -1, "first-last": len(out) // 2}
        ended = out.pop(order[adversary])
        finished.add(ended.index)
        bench.end(ended)
    assert maker.calls == [*range(size)]
    assert bench.machine.value == [None if x % 7 == 5 else 10 * x for x in range(size)]


def test_lazy_small_window_makes_tasks_by_quarter_windows():
    maker = Made()
    bench = Bench(once(make_lazy(100, maker.make)), lazy=LazyLimits(8, 64))
    assert len(maker.calls) == 8
    out = bench.take()
    bench.end(out[0])
    assert len(maker.calls) == 8
    bench.end(out[1])
    assert len(maker.calls) == 10
    assert [len(c.tasks) for c in bench.of(Queue)] == [8, 2]


def test_round_of_many_tasks_is_made_in_steps_while_workers_run():
    maker = Made()
    bench = Bench(once(make_lazy(10_000, maker.make)), lazy=LazyLimits(4096, 32768))
    out, sizes = bench.take(), [256]
    while out and len(maker.calls) < 4096:
        bench.end(out.pop(0))
        out = out or bench.take()
        sizes.append(len(maker.calls) - sum(sizes))
    steps = [size for size in sizes if size]
    assert max(steps) <= 1024
    assert len(steps) > 8


def test_lazy_size_zero_ends_at_once():
    maker = Made()

    def body():
        results = yield make_lazy(0, maker.make)
        return [len(results), list(results), results[:]]

    bench = Bench(body)
    assert bench.machine.value == [0, [], []]
    assert maker.calls == []
    assert bench.of(Close) == [Close("", 0, 0, stopped=False)]


@given(chance=st.integers(0, 2**32).map(Random), stop=st.integers(0, 29))
@settings(max_examples=40)
def test_lazy_until_any_order_stops_at_the_same_place(chance, stop):
    judged: list[int] = []
    maker = Made()

    def until(result):
        judged.append(result.index)
        return result.index == stop

    def body():
        results = yield make_lazy(30, maker.make, until=until)
        return [r.index for r in results]

    bench = Bench(body, lazy=LazyLimits(4, 7))
    assert bench.run(chance) == [*range(stop + 1)]
    assert judged == [*range(stop + 1)]
    assert maker.calls[-1] < stop + 7
    assert bench.of(Close) == [Close("", 0, stop + 1, stopped=True)]


def test_lazy_make_of_something_else_is_refused_with_the_index():
    with pytest.raises(SearchInvalid, match="task 2 of a round is int"):
        Bench(once(make_lazy(5, lambda i: call(i) if i < 2 else i)))


def test_lazy_make_raising_names_index_lane_and_round():
    def make(i):
        return call(1 // (3 - i))

    with pytest.raises(
        SearchInvalid, match=r"task 3 of round 0 \(lane /\): make raised ZeroDivisionError"
    ):
        Bench(once(make_lazy(5, make)))


def test_lazy_make_raising_weft_error_passes_unchanged():
    def make(i):
        raise SearchInvalid("my own words")

    with pytest.raises(SearchInvalid, match=r"^my own words$"):
        Bench(once(make_lazy(5, make)))


# -- stored results -----------------------------------------------------------------------


class Store:
    """Rows 0 … size − 1, with a record of the ranges that were read."""

    def __init__(self, size):
        self.reads: list[tuple[int, int]] = []
        self.results = StoredResults(self._fetch, "/lane", 3, size)

    def _fetch(self, lane, round_, start, end):
        assert (lane, round_) == ("/lane", 3)
        self.reads.append((start, end))
        return [Result(i, "k", "m:f", "{}", str(i), None) for i in range(start, end)]


def test_stored_results_any_index_is_as_in_a_list():
    size = 2500
    store, plain = Store(size), list(range(size))
    for index in (0, 1, 1023, 1024, 2499, -1, -2500, -1024):
        assert store.results[index].value == plain[index]
    for index in (2500, -2501):
        with pytest.raises(IndexError):
            store.results[index]
    assert len(store.results) == size
    assert repr(store.results) == "<2500 results>"


@given(
    start=st.none() | st.integers(-15, 15),
    stop=st.none() | st.integers(-15, 15),
    step=st.none() | st.integers(-4, 4).filter(bool),
)
def test_stored_results_slice_is_as_in_a_list(start, stop, step):
    store, plain = Store(10), list(range(10))
    cut = slice(start, stop, step)
    assert [r.value for r in store.results[cut]] == plain[cut]


def test_stored_results_iterated_twice_read_each_stretch_in_order():
    store = Store(2100)
    for _ in range(2):
        assert [r.value for r in store.results] == list(range(2100))
    stretches = [(0, 1024), (1024, 2048), (2048, 2100)]
    assert store.reads == stretches * 2


def test_stored_results_are_a_sequence():
    results = Store(5).results
    assert [r.value for r in reversed(results)] == [4, 3, 2, 1, 0]
    assert results[2] in results


def test_window_grows_with_the_slots_so_that_none_waits():
    assert LazyLimits.for_slots(2) == LazyLimits(4096, 32768)
    assert LazyLimits.for_slots(64) == LazyLimits(64 * 320, 64 * 320 * 8)

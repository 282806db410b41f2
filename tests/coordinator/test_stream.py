"""Streams: a fixed number of tasks in flight, proposals that depend on task order alone."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.machines import RANDOM, Bench, call, once
from tests.support.sessions import Sessions, double
from weft.coordinator.policy import Policy
from weft.coordinator.steps import Close, OpenRound, Queue
from weft.errors import SearchInvalid
from weft.model.results import Result
from weft.model.tasks import StreamRound, Unknown, make_lanes, make_stream


def climb(told, count):
    """Each proposal depends on the result that came `width` tasks earlier."""
    total = 0
    for index in range(count):
        result = yield call(total % 5 + index % 3)
        told.append(None if result is None else result.index)
        total += result.value if result is not None and result.ok else 1


def search(told, count=20, width=4, most=100):
    def body():
        results = yield make_stream(climb(told, count), width=width, most=most)
        return [r.value if r.ok else r.error.type for r in results]

    return body


@given(chance=RANDOM, slots=st.integers(1, 8))
@settings(max_examples=60)
def test_stream_any_order_proposes_and_gives_the_same(chance, slots):
    expected: list = []
    answer = Bench(search(expected)).run()
    reported: list = []
    assert Bench(search(reported)).run(chance, slots) == answer
    assert reported == expected == [None, None, None, *range(17)]


def test_stream_keeps_its_width_under_way():
    bench = Bench(search([], width=3))
    out = bench.take()
    assert [a.index for a in out] == [0, 1, 2]
    bench.end(out[1])
    assert bench.take() == []  # task 3 is decided from task 0
    bench.end(out[0])
    assert [a.index for a in bench.take()] == [3, 4]


def test_stream_is_a_round_that_ends_where_its_proposals_end():
    bench = Bench(search([], count=6, most=10))
    bench.run()
    assert bench.of(OpenRound) == [OpenRound("", 0, 10)]
    assert bench.of(Close) == [Close("", 0, 6, stopped=True)]
    counts = bench.machine.counts()
    assert (counts.planned, counts.finished) == (6, 6)


@pytest.mark.parametrize("count", [10, 100])
def test_stream_ends_at_most_tasks(count):
    bench = Bench(search([], count=count, most=10))
    assert len(bench.run()) == 10
    assert bench.of(Close) == [Close("", 0, 10, stopped=False)]


def test_stream_of_no_proposals_is_over_at_once():
    bench = Bench(search([], count=0))
    assert bench.machine.done
    assert bench.machine.value == []
    assert bench.of(Queue) == []


def test_stream_whose_last_proposal_waits_for_its_results_closes_with_them():
    """The generator inspects a result before it decides that it is finished."""

    def until_large():
        result = None
        while result is None or result.value < 20:
            result = yield call(1 if result is None else result.value // 10 + 1)

    def body():
        return len((yield make_stream(until_large(), width=1, most=50)))

    assert Bench(body).run() == 2


def test_stream_that_uses_a_value_that_is_not_there_fails_its_lane():
    def careless():
        while True:
            result = yield call(5)  # fails, see `outcome_of`
            assert result is None or result.value

    def body():
        return (yield make_stream(careless(), width=2, most=9))

    def lanes():
        answers = yield make_lanes({"a": body(), "b": once([call(1)])()})
        return [isinstance(answer, Unknown) for answer in answers]

    assert Bench(lanes).run() == [True, False]


def test_strict_stream_stops_at_its_first_failure():
    def proposals():
        for index in range(9):
            yield call(5 if index == 3 else 1)

    def body():
        return (yield make_stream(proposals(), width=2, most=9))

    bench = Bench(body, policy=Policy(strict=True))
    bench.run()
    assert isinstance(bench.machine.value, Unknown)
    assert bench.of(Close) == [Close("", 0, 4, stopped=True)]


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: make_stream([call(1)], width=1, most=1), "needs a generator of task calls"),
        (lambda: make_stream(climb([], 1), width=0, most=1), "width of 1 or more"),
        (lambda: make_stream(climb([], 1), width=True, most=1), "width of 1 or more"),
        (lambda: make_stream(climb([], 1), width=1, most=0), "most of 1 or more"),
    ],
)
def test_stream_without_sense_is_refused(make, words):
    with pytest.raises(SearchInvalid, match=words):
        make()


@pytest.mark.parametrize(
    ("raises", "words"),
    [(ZeroDivisionError("x"), "make raised ZeroDivisionError: x"), (SearchInvalid("no"), "no")],
)
def test_stream_that_raises_names_the_task(raises, words):
    def proposals():
        yield call(1)
        raise raises

    with pytest.raises(SearchInvalid, match=words):
        Bench(once(make_stream(proposals(), width=2, most=9)))


def test_stream_that_yields_no_call_is_refused():
    def proposals():
        yield 7

    with pytest.raises(SearchInvalid, match="not a call of a @weft"):
        Bench(once(make_stream(proposals(), width=2, most=9)))


def streamed():
    def proposals():
        total = 0
        for index in range(30):
            result = yield double(total % 11 + index)
            total += result.value if result is not None and result.ok else 1

    results = yield make_stream(proposals(), width=5, most=40)
    return sum(r.value for r in results if r.ok)


def test_stream_stopped_anywhere_goes_on_to_the_same_ledger(tmp_path):
    whole = Sessions(tmp_path / "whole")
    (tmp_path / "whole").mkdir()
    whole.go(streamed)
    for stop_after in range(1, 30, 4):
        root = tmp_path / f"cut-{stop_after}"
        root.mkdir()
        cut = Sessions(root, pick=lambda held: len(held) - 1)
        first = cut.go(streamed, stop_after=stop_after)
        second = cut.go(streamed)
        assert cut.ledger == whole.ledger
        assert len(first) + len(second) == len({*first, *second}) == 30


def test_planted_stream_told_in_order_of_arrival_is_noticed():
    """A stream that is sent the latest result to end would depend on the order of completion."""

    def answer(chance):
        reported: list = []
        bench = Bench(search(reported, most=20))
        proposals = climb(reported, 21)
        for _ in range(4):  # those already created
            proposals.send(None)
        ended: list = []
        take = bench.end

        def end(assignment):
            ended.append(Result(assignment.index, "", "", "{}", "10", None))
            take(assignment)

        bench.end = end
        bench.machine._making._makers["", 0] = lambda index: proposals.send(ended[-1])
        bench.run(chance, 4)
        return reported[4:]

    assert answer(Random(1)) != answer(Random(2))


def test_stream_round_is_plain_data():
    proposals = climb([], 1)
    assert make_stream(proposals, width=2, most=3) == StreamRound(proposals, 2, 3)

"""The values a search may yield, and how anything else is refused."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.machines import Bench, call, once
from weft.coordinator.steps import Answer, Close, OpenRound
from weft.errors import SearchInvalid
from weft.model.tasks import make_lanes, make_lazy, make_round


def test_empty_rounds_hundreds_in_a_row_need_no_stack():
    def body():
        for _ in range(3000):
            assert (yield []) == []
        return "through"

    bench = Bench(body)
    assert bench.machine.value == "through"
    assert len(bench.of(OpenRound)) == len(bench.of(Close)) == 3000
    assert bench.of(Answer)[0].rounds == 3000


def test_single_task_call_yielded_is_a_round_of_one():
    def body():
        [result] = yield call(4)
        return result.value

    assert Bench(body).run() == 40


def test_tuple_yielded_is_a_round():
    def body():
        return len((yield (call(1), call(2))))

    assert Bench(body).run() == 2


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        ({"a": 1}, "yielded dict"),
        (7, "yielded int"),
        (None, "yielded NoneType"),
        ("ab", "yielded str"),
        (iter(()), "yielded tuple_iterator"),
        ((call(i) for i in range(2)), "yielded generator"),
        ([call(0), 3], "task 1 of a round is int"),
    ],
)
def test_wrong_yield_is_refused_with_its_type(thing, message):
    with pytest.raises(SearchInvalid, match=message):
        Bench(once(thing))


def test_round_of_bare_iterator_is_refused():
    with pytest.raises(SearchInvalid, match=r"not generator.*weft\.lazy"):
        make_round(call(i) for i in range(3))


def test_lazy_size_of_numpy_is_a_count():
    assert type(make_lazy(np.prod([2, 3]), call).size) is int


@pytest.mark.parametrize("size", [-1, True, 2.0, "3", np.int64(-1), np.float64(2)])
def test_lazy_wrong_size_is_refused(size):
    with pytest.raises(SearchInvalid, match="size of 0 or more"):
        make_lazy(size, call)


@pytest.mark.parametrize("name", ["", "a/b", "a\n", 5])
def test_lanes_bad_name_is_refused(name):
    with pytest.raises(SearchInvalid, match="lane name"):
        make_lanes({name: iter_nothing()})


def test_lanes_of_something_else_is_refused():
    with pytest.raises(SearchInvalid, match="lane 'a' is int"):
        make_lanes({"a": 3})


def iter_nothing():
    yield []


def test_arguments_that_are_no_values_are_refused_with_the_task():
    with pytest.raises(SearchInvalid, match=r"task 1 of round 0 \(lane /\), lab:task: value at"):
        Bench(once([call(1), call({1, 2})]))

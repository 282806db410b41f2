"""Rounds that end early: `until` is applied in task order; tasks after the stop are dropped."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.machines import RANDOM, Bench, call, once, outcomes
from weft.coordinator.policy import Policy
from weft.coordinator.steps import Close, Kill
from weft.errors import SearchInvalid, ValueInvalid
from weft.model.tasks import make_round


@given(chance=RANDOM, stop=st.integers(0, 11), slots=st.integers(1, 12))
@settings(max_examples=80)
def test_until_any_order_judges_each_result_once_in_task_order(chance, stop, slots):
    judged: list[int] = []

    def until(result):
        judged.append(result.index)
        return result.index == stop  # task 5 fails: failed results are judged too

    def body():
        results = yield make_round([call(i) for i in range(12)], until=until)
        return outcomes(results)

    bench = Bench(body)
    answer = bench.run(chance, slots)
    assert judged == [*range(stop + 1)]
    assert [index for index, _ in answer] == [*range(stop + 1)]
    assert bench.of(Close) == [Close("", 0, stop + 1, stopped=True)]


def test_until_stop_found_waits_for_lower_indices_and_their_retries():
    def body():
        results = yield make_round(
            [call(i) for i in range(4)], until=lambda r: r.ok and r.value == 99
        )
        return outcomes(results)

    bench = Bench(body, policy=Policy(retries=1))
    out = bench.take()
    bench.succeed(out[2], 99)
    bench.succeed(out[0], 1)
    assert not bench.machine.done
    bench.fail(out[1], "temporary", retriable=True)
    assert not bench.machine.done
    [retry] = bench.take()
    assert retry.index == 1
    bench.fail(retry, "temporary", retriable=True)
    assert bench.machine.value == [[0, 1], [1, "temporary"], [2, 99]]
    assert [t for c in bench.of(Kill) for t in c.tickets] == [out[3].ticket]


def test_until_stop_drops_finished_later_results_and_kills_running_ones():
    def body():
        results = yield make_round([call(i) for i in range(5)], until=lambda r: r.index == 1)
        return len(results)

    bench = Bench(body)
    out = bench.take()
    bench.start(out[3])
    bench.succeed(out[4], 4)
    bench.succeed(out[1], 1)
    bench.succeed(out[0], 0)
    assert bench.machine.value == 2
    assert sorted(t for c in bench.of(Kill) for t in c.tickets) == [out[2].ticket, out[3].ticket]
    before = len(bench.commands)
    bench.succeed(out[3], 3)  # the killed attempt's result was already on its way
    assert len(bench.commands) == before


def test_until_stop_on_last_result_is_a_stop():
    bench = Bench(once(make_round([call(0)], until=lambda r: True)))
    bench.end(*bench.take())
    assert bench.of(Close) == [Close("", 0, 1, stopped=True)]


def test_until_raising_names_the_error():
    bench = Bench(once(make_round([call(0)], until=lambda r: 1 // 0)))
    [first] = bench.take()
    with pytest.raises(SearchInvalid, match="`until` raised ZeroDivisionError"):
        bench.end(first)


def test_until_using_a_missing_value_makes_the_lane_incomplete():
    tasks = [call(0), call(1), call(2)]
    bench = Bench(once(make_round(tasks, until=lambda r: r.value > 9)))
    first, second, third = bench.take()
    bench.end(third)
    bench.fail(second)
    bench.end(first)
    assert bench.of(Close) == [Close("", 0, 2, stopped=True)]
    assert bench.machine.value.reason == "incomplete"


def test_until_weft_error_passes_unchanged():
    def until(result):
        raise ValueInvalid("mine")

    bench = Bench(once(make_round([call(0)], until=until)))
    [first] = bench.take()
    with pytest.raises(ValueInvalid, match="mine"):
        bench.end(first)

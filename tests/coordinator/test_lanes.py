"""Lanes in the machine: nesting, the order of answers and of dispatch, and that none waits."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.machines import Bench, call, once
from weft.coordinator.steps import Answer, OpenLanes, OpenRound
from weft.errors import SearchInvalid
from weft.model.tasks import SearchCall, Unknown, make_lanes, make_round


def walk(start, rounds):
    here = start
    for _ in range(rounds):
        [result] = yield [call(here)]
        here = (result.value if result.ok else 3) % 11 + 1
    return here


def tree(depth, start):
    if depth == 0:
        return (yield from walk(start, 2))
    answers = yield make_lanes({f"l{i}": tree(depth - 1, start + i) for i in range(2)})
    [result] = yield [call(sum(answers))]
    more = yield make_lanes({"last": walk(start, 1)})
    return sum(answers) + (result.value if result.ok else 0) + more[0]


@given(chance=st.integers(0, 2**32).map(Random), slots=st.integers(1, 6))
@settings(max_examples=50)
def test_nested_lanes_any_order_same_answer_and_answers(chance, slots):
    calm, wild = Bench(lambda: tree(2, 1)), Bench(lambda: tree(2, 1))
    assert wild.run(chance, slots) == calm.run()
    by_lane = [{c.lane: (c.rounds, c.body) for c in bench.of(Answer)} for bench in (calm, wild)]
    assert by_lane[0] == by_lane[1]
    assert {c.paths for c in wild.of(OpenLanes)} == {
        ("/l0", "/l1"), ("/last",),
        ("/l0/l0", "/l0/l1"), ("/l0/last",), ("/l1/l0", "/l1/l1"), ("/l1/last",),
    }  # fmt: skip


def test_lanes_empty_set_returns_no_answers():
    def body():
        answers = yield make_lanes({})
        return ["none", answers]

    bench = Bench(body)
    assert bench.machine.value == ["none", []]
    assert bench.of(OpenLanes) == [OpenLanes("", 0, ())]


def test_lanes_answers_come_in_the_order_of_the_mapping():
    def lane(x):
        [result] = yield [call(x)]
        return result.value

    def body():
        return (yield make_lanes({"b": lane(1), "a": lane(2), "c": once()()}))

    bench = Bench(body)
    first, second = bench.take()
    bench.end(second)
    bench.end(first)
    assert bench.machine.value == [10, 20, None]


def test_lane_that_fails_closed_is_unknown_to_its_parent():
    def lane():
        [result] = yield [call(5)]
        return result.value

    def body():
        [answer] = yield make_lanes({"a": lane()})
        return answer

    assert Bench(body).run() == Unknown("incomplete", "lab:task #0 failed: exception")


def test_lane_name_in_a_later_set_again_is_refused():
    def body():
        yield make_lanes({"a": once()()})
        yield make_lanes({"a": once()()})

    with pytest.raises(SearchInvalid, match=r"lane /a was opened before; .*other names"):
        Bench(body)


def test_lane_same_name_under_another_parent_is_fine():
    def body():
        return (yield make_lanes({"a": inner(), "b": inner()}))

    def inner():
        return (yield make_lanes({"same": once()()}))

    assert Bench(body).machine.value == [[None], [None]]


def test_lane_never_waits_for_another():
    def body():
        return (yield make_lanes({"slow": walk(1, 1), "fast": walk(2, 50)}))

    bench = Bench(body)
    slow, fast = bench.take()
    for _ in range(50):
        bench.end(fast)
        if later := bench.take():
            [fast] = later
    assert [c.lane for c in bench.of(Answer)] == ["/fast"]
    bench.end(slow)
    assert bench.machine.done


def test_dispatch_gives_the_first_lane_first_then_by_index():
    def wide(n):
        yield [call(i) for i in range(n)]

    def body():
        yield make_lanes({"a": wide(2), "b": wide(2), "c": nested()})

    def nested():
        yield make_lanes({"x": wide(1), "y": wide(1)})

    bench = Bench(body)
    assert [(a.lane, a.index) for a in bench.take()] == [
        ("/a", 0), ("/a", 1), ("/b", 0), ("/b", 1), ("/c/x", 0), ("/c/y", 0),
    ]  # fmt: skip


def test_dispatch_requeued_task_of_an_earlier_lane_goes_first():
    def wide(n):
        yield [call(i) for i in range(n)]

    bench = Bench(once(make_lanes({"a": wide(2), "b": wide(3)})))
    out = bench.take(3)
    assert [(a.lane, a.index) for a in out] == [("/a", 0), ("/a", 1), ("/b", 0)]
    bench.lose(out[1])
    assert [(a.lane, a.index) for a in bench.take(2)] == [("/a", 1), ("/b", 1)]


def test_lane_stop_ends_its_own_lane_only():
    def stopping():
        results = yield make_round([call(i) for i in range(3)], until=lambda r: True)
        return len(results)

    def whole():
        results = yield [call(i) for i in range(3)]
        return len(results)

    assert Bench(lambda: (yield make_lanes({"a": stopping(), "b": whole()}))).run() == [1, 3]


def test_lane_of_a_search_call_starts_with_the_context():
    def inner(x, *, seed):
        yield []
        return x + seed

    def body():
        return (yield make_lanes({"a": SearchCall("lab:inner", 1, {"x": 5}, inner, (), ("seed",))}))

    assert Bench(body, context={"seed": 100}).machine.value == [105]


def test_lane_raising_names_its_path():
    def bad():
        yield []
        raise ValueError("no")

    with pytest.raises(SearchInvalid, match=r"\(lane /a, round 1\)"):
        Bench(once(make_lanes({"a": bad()})))


def test_lane_wrong_yield_names_its_path():
    with pytest.raises(SearchInvalid, match=r"yielded int \(lane /a\)"):
        Bench(once(make_lanes({"a": once(5)()})))


def test_lane_rounds_are_numbered_by_themselves():
    bench = Bench(lambda: (yield make_lanes({"a": walk(1, 3), "b": walk(2, 2)})))
    bench.run(Random(1))
    opened = sorted((c.lane, c.round) for c in bench.of(OpenRound))
    assert opened == [("/a", 0), ("/a", 1), ("/a", 2), ("/b", 0), ("/b", 1)]


def test_lanes_one_generator_in_two_lanes_is_refused():
    def body():
        yield []

    shared = body()
    with pytest.raises(SearchInvalid, match="one generator cannot serve two lanes"):
        make_lanes({"a": shared, "b": shared})

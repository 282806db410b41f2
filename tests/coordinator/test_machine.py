"""The machine alone: order of dispatch, the search's view, strict runs, interrupts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.machines import GENESIS, RANDOM, Bench, call, once, outcomes
from weft.coordinator.machine import Counts, Machine
from weft.coordinator.policy import Policy
from weft.coordinator.steps import (
    Advance,
    Answer,
    Close,
    Kill,
    Queue,
    RecordResult,
    Requeue,
)
from weft.errors import SearchInvalid, ValueInvalid
from weft.model.attempts import Finished
from weft.model.results import TaskFailed
from weft.model.tasks import (
    COMMAND,
    Milestone,
    SearchCall,
    Unknown,
    make_lanes,
    make_lazy,
    make_round,
)

# -- order --------------------------------------------------------------------------------


def three_rounds(seen):
    state = 1
    for size in (5, 1, 4):
        results = yield [call(state + i) for i in range(size)]
        seen.append(outcomes(results))
        state += sum(r.value for r in results if r.ok) % 13
    return state


@given(chance=RANDOM, slots=st.integers(1, 8))
@settings(max_examples=60)
def test_results_any_order_give_the_search_the_same(chance, slots):
    expected: list = []
    answer = Bench(lambda: three_rounds(expected)).run()
    rounds: list = []
    assert Bench(lambda: three_rounds(rounds)).run(chance, slots) == answer
    assert rounds == expected
    assert [[index for index, _ in results] for results in rounds] == [
        [*range(5)],
        [0],
        [*range(4)],
    ]


@given(order=st.permutations(range(5)))
@settings(max_examples=60)
def test_results_any_order_recorded_prefix_grows_in_task_order(order):
    def body():
        yield [call(i) for i in range(5)]

    bench = Bench(body)
    out = bench.take()
    finished: set[int] = set()
    for index in order:
        bench.end(out[index])
        finished.add(index)
        prefix = next(i for i in range(6) if i not in finished)
        reached = [c.recorded for c in bench.of(Advance) + bench.of(Close)]
        assert max(reached, default=0) == prefix
    assert bench.of(Close) == [Close("", 0, 5, stopped=False)]


def test_take_limited_count_gives_lower_indices_first():
    bench = Bench(once([call(i) for i in range(4)]))
    assert [a.index for a in bench.take(3)] == [0, 1, 2]
    assert [a.index for a in bench.take(3)] == [3]
    assert bench.take(3) == []


def test_take_before_commit_gives_nothing():
    bench = Bench(once([call(0)]))
    [first] = bench.take()
    machine = bench.machine
    commands = machine.apply(Finished(first.ticket, "1"))
    assert [type(c) for c in commands] == [RecordResult, Close]
    fresh = Bench(once([call(0)])).machine
    assert not fresh.dispatch.holds_back
    assert not fresh.dispatch.idle


def test_commands_before_release_are_held_back_and_functions_are_not():
    def body():
        yield [call(0)]
        yield [call(1, function=COMMAND)]
        yield [call(2)]

    bench = Bench(body)
    [first] = bench.take()
    machine = bench.machine
    machine.apply(Finished(first.ticket, "1"))
    while machine.advance():
        pass
    assert machine.dispatch.holds_back
    assert machine.dispatch.idle
    assert machine.dispatch.take([5]) == []
    machine.dispatch.release()
    assert not machine.dispatch.holds_back
    [second] = bench.take(5)
    assert second.round == 1
    machine.apply(Finished(second.ticket, "1"))
    while machine.advance():
        pass
    assert not machine.dispatch.holds_back
    assert [a.round for a in machine.dispatch.take([5])] == [2]


def test_counts_follow_the_run_and_drop_what_a_stop_leaves_out():
    def body():
        yield make_round([call(i) for i in range(6)], until=lambda r: r.index == 1)

    bench = Bench(body)
    out = bench.take(4)
    assert bench.machine.counts() == Counts(planned=6, running=4)
    bench.fail(out[3])
    assert bench.machine.counts() == Counts(planned=6, finished=1, failed=1, running=3)
    bench.succeed(out[0], 1)
    bench.succeed(out[1], 1)
    assert bench.machine.counts() == Counts(planned=3, finished=3, failed=1, running=0)


# -- what the search sees -----------------------------------------------------------------


def test_values_seen_are_decoded_from_their_text():
    def body():
        [result] = yield [call((1, (2, 2.5)))]
        return [result.args["x"], result.value]

    bench = Bench(body)
    [first] = bench.take()
    bench.succeed(first, (1, {"$k": (2**60, 0.1)}))
    assert bench.machine.value == [[1, [2, 2.5]], [1, {"$k": [2**60, 0.1]}]]
    assert bench.of(Queue)[0].tasks[0].args == '{"x":[1,[2,{"$f":"2.5"}]]}'


def test_answer_tuple_is_seen_as_list():
    def body():
        yield []
        return (1, 2)

    bench = Bench(body)
    assert bench.machine.value == [1, 2]


def test_answer_that_is_no_value_is_refused():
    def body():
        yield []
        return {1, 2}

    with pytest.raises(ValueInvalid, match="sorted list"):
        Bench(body)


def test_answer_unknown_keeps_reason_and_decoded_detail():
    def body():
        yield []
        return Unknown("ambiguous", (1, 2))

    bench = Bench(body)
    assert bench.machine.value == Unknown("ambiguous", [1, 2])
    assert bench.of(Answer)[0].body == (
        '{"detail":[1,2],"lane":"","reason":"ambiguous","status":"unknown"}'
    )


def test_failed_value_used_uncaught_is_unknown_incomplete():
    def body():
        results = yield [call(0), call(5)]
        return [r.value for r in results]

    bench = Bench(body)
    assert bench.run() == Unknown("incomplete", "lab:task #1 failed: exception")


def test_failed_value_caught_goes_on():
    def body():
        [result] = yield [call(5)]
        try:
            return result.value
        except TaskFailed as failed:
            results = yield [call(1)]
            return [results[0].value, failed.result is result]

    assert Bench(body).run() == [10, True]


def test_search_raising_names_lane_round_and_line():
    def body():
        yield [call(0)]
        raise KeyError("k")

    bench = Bench(body)
    [first] = bench.take()
    with pytest.raises(
        SearchInvalid, match=r"raised KeyError: 'k' at test_machine\.py:\d+ \(lane /, round 1\)"
    ):
        bench.end(first)


def test_search_raising_weft_error_passes_unchanged():
    def body():
        yield []
        raise SearchInvalid("my own words")

    with pytest.raises(SearchInvalid, match=r"^my own words$"):
        Bench(body)


def test_context_reaches_the_search_that_asks():
    def body(*, seed):
        yield []
        return seed

    bench = Bench(body, context={"seed": 3, "inputs": {}}, needs=("seed",))
    assert bench.machine.value == 3


# -- strict -------------------------------------------------------------------------------


def test_strict_failure_uncaught_ends_unknown_and_kills_the_rest():
    def body():
        yield [call(i) for i in range(3)]
        return "not reached"

    bench = Bench(body, policy=Policy(strict=True))
    out = bench.take()
    bench.fail(out[1])
    assert not bench.machine.done  # index 0 comes first
    bench.succeed(out[0], 0)
    assert bench.machine.value == Unknown("incomplete", "lab:task #1 failed: exception")
    assert bench.of(Close) == [Close("", 0, 2, stopped=True)]
    assert [t for c in bench.of(Kill) for t in c.tickets] == [out[2].ticket]


def test_strict_failure_caught_goes_on():
    def body():
        try:
            yield [call(5)]
        except TaskFailed:
            [result] = yield [call(2)]
            return result.value

    assert Bench(body, policy=Policy(strict=True)).run() == 20


def test_strict_lazy_failure_stops_in_task_order():
    bench = Bench(once(make_lazy(9, call)), policy=Policy(strict=True))
    assert bench.run() == Unknown("incomplete", "lab:task #5 failed: exception")
    assert bench.of(Close) == [Close("", 0, 6, stopped=True)]


# -- interrupt ----------------------------------------------------------------------------


def test_interrupt_requeues_what_runs_and_waits_for_nothing():
    bench = Bench(once([call(i) for i in range(3)]))
    out = bench.take(2)
    bench.start(out[0])
    bench.follow(bench.machine.interrupt())
    # the second was assigned but never began: that is no attempt
    [requeued] = bench.of(Requeue)
    assert (requeued.task.index, requeued.reason, requeued.detail) == (0, "interrupted", "")
    assert requeued.started_s == 0.0
    assert bench.machine.counts().running == 0
    before = len(bench.commands)
    bench.succeed(out[0], 1)
    assert len(bench.commands) == before


def test_take_from_a_round_that_was_stopped_gives_nothing():
    def body():
        yield make_round([call(i) for i in range(5)], until=lambda result: True)
        yield [call(9)]

    bench = Bench(body)
    [first] = bench.take(1)
    bench.succeed(first, 1)
    assert [(a.round, a.index) for a in bench.take()] == [(1, 0)]


def test_answers_have_the_bodies_that_ledgers_hold():
    def lane(value):
        yield []
        return value

    def body():
        answers = yield make_lanes({"a": lane([1]), "b": lane(Unknown("few", detail=2))})
        return len(answers)

    assert [answer.body for answer in Bench(body).of(Answer)] == [
        '{"lane":"/a","status":"answered","value":[1]}',
        '{"detail":2,"lane":"/b","reason":"few","status":"unknown"}',
        '{"lane":"","status":"answered","value":2}',
    ]


def test_machine_pauses_at_the_milestone_that_it_was_given_and_at_no_other():
    def body():
        yield Milestone("first", (1,))
        yield [call(1)]
        yield Milestone("second")
        yield [call(2)]

    def started(pause_at):
        root = SearchCall("lab:search", 1, {}, body)
        machine = Machine(GENESIS, root, {}, Policy(), lambda *_: [], pause_at=pause_at)
        queued = [command for command in machine.advance() if isinstance(command, Queue)]
        return machine.paused, len(queued), machine.counts().milestone

    assert started("first") == (True, 0, Milestone("first", (1,)))
    assert started("second") == (False, 1, Milestone("first", (1,)))
    assert started("") == (False, 1, Milestone("first", (1,)))


def test_first_failure_is_the_first_that_came_in():
    bench = Bench(once([call(i) for i in range(3)]))
    first, second, third = bench.take()
    bench.succeed(first, 1)
    assert bench.machine.first_failure is None
    bench.fail(third, "late")
    bench.fail(second, "later")
    assert bench.machine.first_failure.error.type == "late"

"""Plans in the machine: shown to watchers, without any influence on decisions."""

from __future__ import annotations

from tests.support.machines import Bench, call, once
from weft.coordinator.steps import Declare
from weft.model.plan import Plan
from weft.model.tasks import make_lanes, make_round, make_stream


def test_plan_is_passed_on_and_the_search_goes_on_at_once():
    def body():
        yield Plan(total=9, unit="steps")
        yield [call(1), call(2)]

    bench = Bench(body)
    outlook = bench.machine.outlook
    assert bench.of(Declare) == [Declare("", Plan(total=9, unit="steps"))]
    assert (outlook.expected(), outlook.is_whole, outlook.plan.unit) == (9, True, "steps")
    assert bench.machine.counts().outlook is outlook
    assert bench.machine.counts().planned == 2


def test_without_a_plan_the_total_is_what_was_opened():
    def body():
        yield [call(1), call(2)]

    outlook = Bench(body).machine.outlook
    assert (outlook.expected(), outlook.is_whole, outlook.plan) == (2, False, Plan())


def test_plans_in_a_row_do_not_pile_up():
    def body():
        for number in range(3000):
            yield Plan(note=f"step {number}")
        yield [call(1)]

    assert Bench(body).machine.outlook.plan.note == "step 2999"


def test_lanes_are_counted_with_how_they_ended():
    def lane(x, outcome):
        [result] = yield [call(x)]
        return {"outcome": outcome} if result.ok else None

    def body():
        yield Plan(lanes="puzzles", tally="outcome")
        ends = {"a": "SOLVED", "b": "UNKNOWN", "c": "SOLVED", "d": 3}
        yield make_lanes({name: lane(3, end) for name, end in ends.items()})
        yield [call(1)]

    bench = Bench(body)
    outlook = bench.machine.outlook
    assert (outlook.lanes, outlook.lanes_ended, outlook.outcomes) == (4, 0, {})
    for task in bench.take(4):
        bench.succeed(task, 1)
    assert (outlook.lanes, outlook.lanes_ended) == (4, 4)
    assert outlook.outcomes == {"SOLVED": 2, "UNKNOWN": 1}


def test_total_follows_rounds_that_end_early():
    def tasks():
        yield call(1)

    def body():
        yield make_round([call(i) for i in range(6)], until=lambda r: r.index == 1)
        yield make_stream(tasks(), width=1, most=50)

    bench = Bench(body)
    outlook = bench.machine.outlook
    assert outlook.expected() == 6
    for task in bench.take(6)[:2]:
        bench.succeed(task, 1)
    assert outlook.expected() == 2 + 50
    [task] = bench.take(1)
    bench.succeed(task, 1)
    assert outlook.expected() == 3


def test_ages_are_those_of_tasks_that_were_started():
    def body():
        yield [call(i) for i in range(4)]

    bench = Bench(body)
    outlook = bench.machine.outlook
    assert outlook.ages_s(10.0) == []
    first, second, _ = bench.take(3)
    assert outlook.ages_s(10.0) == []
    bench.start(first, 4.0)
    bench.start(second, 7.5)
    assert outlook.ages_s(10.0) == [6.0, 2.5]
    assert outlook.workers == len(bench.machine.dispatch.placement.slots)


def test_best_is_found_among_what_is_recorded_and_what_comes_in():
    def body():
        yield Plan(best="max")
        yield [call(1)]

    outlook = Bench(body).machine.outlook
    outlook.offer("f", ["100"])
    assert outlook.best is None  # nobody has asked for the best value
    outlook.find_best(lambda: [("f", "3"), ("f", "8")])
    assert outlook.best == 8
    outlook.offer("f", ["5", "11"])
    assert outlook.best == 11


def test_best_that_no_plan_asks_for_is_not_looked_for():
    def body():
        yield [call(1)]

    outlook = Bench(body).machine.outlook
    outlook.find_best(lambda: [("f", "3")])
    outlook.offer("f", ["100"])
    assert outlook.best is None


def test_lane_that_ended_counts_what_it_opened_and_not_what_it_planned():
    def lane(x):
        yield Plan(total=10)
        yield [call(x)]

    def body():
        yield make_lanes({"a": lane(1), "b": lane(2)})
        yield [call(3)]

    bench = Bench(body)
    assert bench.machine.outlook.expected() == 20
    bench.succeed(bench.take(1)[0], 1)
    assert bench.machine.outlook.expected() == 11


def test_ages_of_running_tasks_are_those_since_their_start_and_never_negative():
    bench = Bench(once([call(1), call(2), call(3)]))
    first, second, _ = bench.take()
    bench.start(first, 10.0)
    bench.start(second, 10.4)
    outlook = bench.machine.outlook
    assert outlook.ages_s(10.5) == [0.5, 10.5 - 10.4]
    assert outlook.ages_s(10.0) == [0.0, 0.0]


def test_answer_without_keys_is_in_no_tally():
    outlook = Bench(once([call(1)])).machine.outlook
    for answer in (["solved"], {"other": "solved"}, None):
        outlook.declare("", Plan(tally="outcome"))
        outlook.end_lane("/a", answer)
    outlook.end_lane("/b", {"outcome": "solved"})
    outlook.declare("", Plan())
    outlook.end_lane("/c", {"outcome": "solved"})
    assert (outlook.outcomes, outlook.lanes_ended) == ({"solved": 1}, 5)

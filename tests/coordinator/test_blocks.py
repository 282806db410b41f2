"""Blocks in the machine: which tasks travel together, and which of their results count."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.machines import GENESIS, Bench, call, once
from tests.support.sessions import InProcess, Sessions, double
from weft.coordinator.machine import Machine
from weft.coordinator.making import LazyLimits
from weft.coordinator.placement import Placement
from weft.coordinator.policy import Policy
from weft.coordinator.steps import Advance, Close, RecordValues
from weft.model.attempts import (
    MAX_BLOCK,
    Completed,
    Finished,
    GivenBack,
    Lost,
    Started,
    Worker,
)
from weft.model.keys import task_key
from weft.model.slots import Node
from weft.model.tasks import (
    COMMAND,
    Limits,
    SearchCall,
    TaskCall,
    make_lanes,
    make_lazy,
    make_round,
)
from weft.storage.disk import Disk
from weft.storage.manifest import Manifest

WORKER = Worker(pid=3)


def completed(ticket, *values):
    return Completed(ticket, values, tuple(range(len(values))), WORKER)


def bench_with(body, rooms, mode="greedy"):
    bench = Bench(body)
    placement = Placement([Node("n", cpus=len(rooms))], mode)
    root = SearchCall("lab:search", 1, {}, body)
    bench.machine = Machine(GENESIS, root, {}, Policy(), bench._fetch, placement=placement)
    bench.follow([])
    return bench, bench.machine.dispatch.take(rooms)


def shapes(assignments):
    return [(a.slot, a.index, 1 + len(a.more)) for a in assignments]


def test_tasks_of_a_kind_travel_together_each_slot_with_its_share():
    _, assignments = bench_with(once([call(i) for i in range(10)]), [8, 8, 8])
    assert shapes(assignments) == [(0, 0, 4), (1, 4, 4), (2, 8, 2)]
    assert [list(a.tickets) for a in assignments] == [[1, 2, 3, 4], [5, 6, 7, 8], [9, 10]]
    assert assignments[1].args == '{"x":4}'
    assert assignments[1].more == ('{"x":5}', '{"x":6}', '{"x":7}')
    assert assignments[1].key == task_key(GENESIS, "", 0, 4, "lab:task", '{"x":4}')


def test_near_its_end_a_round_is_handed_out_so_that_all_slots_end_together():
    bench, assignments = bench_with(once([call(i) for i in range(40)]), [8, 8, 8, 8])
    assert shapes(assignments) == [(0, 0, 8), (1, 8, 8), (2, 16, 8), (3, 24, 8)]
    bench.machine.apply(completed(1, *["0"] * 8))  # 32 are left: 8 per slot, already held
    assignments = bench.machine.dispatch.take([16, 4, 4, 4])
    assert {a.slot for a in assignments} == {0}
    assert sum(1 + len(a.more) for a in assignments) == 6  # the rest is for the next slot to report
    bench.machine.apply(completed(9, *["0"] * 8))
    assignments = bench.machine.dispatch.take([4, 16, 4, 4])
    assert {a.slot for a in assignments} == {1}
    assert sum(1 + len(a.more) for a in assignments) == 2
    bench, _ = bench_with(once([call(i) for i in range(34)]), [8, 8, 8, 8])
    bench.machine.apply(completed(1, "0", "0"))
    assert bench.machine.dispatch.take([4, 0, 0, 0]) == []  # others may have done more unreported
    bench.machine.apply(completed(3, "0", "0"))
    assert bench.machine.dispatch.take([0, 0, 0, 9]) == []  # slot 3 has its part, 0 ends first
    assert shapes(bench.machine.dispatch.take([1, 0, 0, 9])) == [(0, 32, 1)]  # less room, less held
    assert shapes(bench.machine.dispatch.take([4, 0, 0, 0])) == [(0, 33, 1)]


def test_near_its_end_a_slot_gets_its_part_in_several_blocks_that_report_earlier():
    bench, _ = bench_with(once([call(i) for i in range(60)]), [8, 8, 8, 8])
    bench.machine.apply(completed(1, *["0"] * 8))  # 52 are left: 13 for an idle slot
    assignments = bench.machine.dispatch.take([40, 0, 0, 0])
    assert shapes(assignments) == [(0, 32, 7), (0, 39, 2), (0, 41, 1)]  # ten: busy by then
    bench, _ = bench_with(once([call(i) for i in range(30)]), [8, 8])
    bench.machine.apply(completed(1, *["0"] * 8))
    assert shapes(bench.machine.dispatch.take([40, 0])) == [(0, 16, 11)]  # two end together anyway


def test_many_results_at_once_make_tasks_once_and_the_rest_ahead():
    bench, [block] = bench_with(lambda: (yield make_lazy(5000, call)), [256])
    state = next(iter(bench.machine._open.values()))
    assert bench.machine.makes_ahead
    for ticket in range(block.ticket, block.ticket + 4):
        bench.give(completed(ticket, "0"))
    assert state.made == 512  # only once: filling slots comes first
    bench.machine.dispatch.take([0])
    counts = []
    while bench.machine.make_ahead():
        counts.append(state.made)
        assert bench.machine.dispatch.has_any_new
        bench.machine.dispatch.take([0])
    assert counts[0] == 768
    assert len(state.tasks) > LazyLimits().window * 3 // 4  # and then no more
    assert bench.machine.makes_ahead


def test_round_whose_tasks_are_all_made_makes_nothing_ahead():
    bench, _ = bench_with(lambda: (yield make_lazy(600, call)), [256])
    state = next(iter(bench.machine._open.values()))
    while state.made < state.size:
        assert bench.machine.makes_ahead
        assert bench.machine.make_ahead()
    assert bench.machine.make_ahead() == []
    assert not bench.machine.makes_ahead


def test_while_another_round_waits_a_slot_is_filled_whatever_the_others_hold():
    lane = once([call(i) for i in range(6)])
    _, assignments = bench_with(lambda: (yield make_lanes({"a": lane(), "b": lane()})), [8, 0, 0])
    assert shapes(assignments) == [(0, 0, 6)]
    _, assignments = bench_with(lane, [8, 0, 0])
    assert shapes(assignments) == [(0, 0, 2)]  # the others will have room for their parts


def test_block_is_no_larger_than_room_and_limit():
    _, assignments = bench_with(once([call(i) for i in range(3000)]), [4000])
    assert shapes(assignments) == [(0, 0, 256)]  # the size with which a round begins
    _, assignments = bench_with(once([call(i) for i in range(10)]), [3])
    assert shapes(assignments) == [(0, 0, 3)]
    bench = Bench(once([call(i) for i in range(3000)]), lazy=LazyLimits(first=3000))
    assert [1 + len(a.more) for a in bench.machine.dispatch.take([4000])] == [MAX_BLOCK] * 2 + [952]


@pytest.mark.parametrize(
    "other",
    [
        TaskCall("lab:other", {"x": 2}),
        TaskCall("lab:task", {"x": 2}, Limits(memory_mb=9)),
        TaskCall("lab:task", {"x": 2}, code=(("lab:task", "else:where"),)),
        TaskCall("lab:task", {"x": 2}, Limits(group="g")),
    ],
)
def test_task_of_another_kind_ends_a_block(other):
    _, assignments = bench_with(once([call(0), call(1), other, call(3), call(4)]), [9])
    assert shapes(assignments) == [(0, 0, 2), (0, 2, 1), (0, 3, 2)]


def test_command_gpu_and_static_tasks_travel_alone():
    _, assignments = bench_with(once([call(i, function=COMMAND) for i in range(2)]), [5, 5])
    assert shapes(assignments) == [(0, 0, 1), (1, 1, 1)]
    _, assignments = bench_with(once([call(i) for i in range(4)]), [5, 5], "static")
    assert shapes(assignments) == [(0, 0, 1), (1, 1, 1), (0, 2, 1), (1, 3, 1)]


def test_task_with_an_attempt_behind_it_travels_alone():
    bench = Bench(once([call(i) for i in range(6)]))
    [block] = bench.machine.dispatch.take([6])
    for ticket in (4, 3):
        bench.give(GivenBack(ticket))
    bench.give(Lost(2, "gone"))
    assignments = bench.machine.dispatch.take([9])
    assert shapes(assignments) == [(0, 1, 1), (0, 2, 2)]
    assert [a.attempt for a in assignments] == [2, 1]
    assert list(block.tickets) == [1, 2, 3, 4, 5, 6]


def test_values_of_a_block_are_one_command_in_task_order():
    bench = Bench(once([call(i) for i in range(4)]))
    [block] = bench.machine.dispatch.take([4])
    bench.give(completed(block.ticket + 2, "2", "3"))
    assert bench.of(Advance) == []
    bench.give(completed(block.ticket, "0", "1"))
    records = bench.of(RecordValues)
    assert [[t.index for t in r.tasks] for r in records] == [[2, 3], [0, 1]]
    assert records[0].worker is WORKER
    assert bench.of(Close) == [Close("", 0, 4, stopped=False)]
    assert bench.machine.counts().finished == 4


def test_values_that_nobody_waits_for_are_left_out():
    bench = Bench(once([call(i) for i in range(5)]))
    bench.machine.dispatch.take([5])
    bench.give(Finished(2, "9"))
    bench.give(completed(1, "0", "1", "2"))
    records = bench.of(RecordValues)
    assert [([t.index for t in r.tasks], [*r.values], [*r.run_us]) for r in records] == [
        ([0], ["0"], [0]), ([2], ["2"], [2]),
    ]  # fmt: skip
    bench.give(completed(1, "0", "1", "2"))
    assert len(bench.of(RecordValues)) == 2


def test_until_stops_inside_a_block_and_drops_the_rest_of_it():
    values = []

    def until(result):
        values.append(result.value)
        return result.value == 20

    bench = Bench(once(make_round([call(i) for i in range(6)], until=until)))
    bench.machine.dispatch.take([6])
    bench.give(completed(1, "0", "10", "20", "30"))
    assert values == [0, 10, 20]
    assert bench.of(Close) == [Close("", 0, 3, stopped=True)]
    bench.give(completed(5, "40", "50"))
    assert len(bench.of(RecordValues)) == 1


@given(st.permutations(range(5)))
def test_lazy_blocks_any_order_recorded_prefix_grows(order):
    bench = Bench(once(make_lazy(20, call)), lazy=LazyLimits(window=20, reach=20, first=20))
    bench.machine.dispatch.take([20])
    finished = set()
    for part in order:
        bench.give(completed(1 + 4 * part, "1", "1", "1", "1"))
        finished.add(part)
        prefix = 4 * next(i for i in range(6) if i not in finished)
        reached = [c.recorded for c in bench.of(Advance) + bench.of(Close)]
        assert max(reached, default=0) == prefix


def test_block_with_a_time_limit_is_watched_task_by_task():
    bench = Bench(once([call(i, timeout_s=5.0) for i in range(3)]))
    [block] = bench.take(1 << 30)[:1]
    bench.start(block, 100.0)
    assert bench.machine.dispatch.next_deadline_s() == 105.0
    bench.give(completed(1, "1", "2"))
    assert bench.machine.dispatch.next_deadline_s() is None
    assert list(bench.machine.dispatch.out) == [3]


def test_task_that_must_run_alone_lets_others_go_when_its_value_is_in():
    bench = Bench(once([call(0), call(1)]))
    for _ in range(3):
        assignment, _ = bench.take()
        bench.start(assignment)
        bench.give(GivenBack(assignment.ticket + 1))
        bench.give(Lost(assignment.ticket, "gone"))
    [alone] = bench.take()
    assert (alone.index, bench.take()) == (0, [])
    bench.give(completed(alone.ticket, "5"))
    assert [a.index for a in bench.take()] == [1]


class Noticed(InProcess):
    """Reports the first start, then the ends of all held tasks as one block."""

    def poll(self, timeout_s):
        self.clock.now_s += 0.6  # long enough for the start to be committed
        if not self.ran:
            self.ran.append(("", 0, 0))
            return [Started(self.held[0].ticket, WORKER)]
        first, count = self.held[0], len(self.held)
        self.held.clear()
        return [Completed(first.ticket, ["7"] * count, [1000] * count, WORKER)]


def test_rows_of_a_block_replace_those_of_tasks_that_were_seen_running(tmp_path):
    sessions = Sessions(tmp_path)
    sessions.go(lambda: iter_round(4), backend_type=Noticed)
    manifest = Manifest.open(sessions.folder.manifest, Disk(), read_only=True)
    rows = manifest.query("SELECT state, value, worker_pid, run_s, attempt FROM tasks ORDER BY id")
    started = manifest.query("SELECT started_at FROM tasks ORDER BY id")
    manifest.close()
    assert rows == [("completed", "7", 3, 0.001, 1)] * 4
    assert started == sorted(started)  # one after another


def iter_round(size):
    yield [double(i) for i in range(size)]


def test_journal_forgets_a_start_whose_end_came_first(tmp_path):
    """A start and the end of its block in one turn: the row is written once, as completed."""

    class AtOnce(Noticed):
        def poll(self, timeout_s):
            first, count = self.held[0], len(self.held)
            self.held.clear()
            self.ran.append(("", 0, 0))
            started = Started(first.ticket, WORKER)
            return [started, Completed(first.ticket, ["7"] * count, [1000] * count, WORKER)]

    sessions = Sessions(tmp_path)
    sessions.go(lambda: iter_round(2), backend_type=AtOnce)
    manifest = Manifest.open(sessions.folder.manifest, Disk(), read_only=True)
    assert manifest.query("SELECT DISTINCT state FROM tasks") == [("completed",)]
    manifest.close()


def test_consecutive_tickets_of_several_blocks_are_taken_range_by_range():
    """Tasks 0 and 3 are lost, assigned again with consecutive tickets, and end in one message."""
    bench = Bench(once([call(i) for i in range(5)]))
    bench.machine.dispatch.take([5])
    bench.give(Lost(4, "gone"))
    bench.give(Lost(1, "gone"))
    assignments = bench.machine.dispatch.take([9])
    assert [(a.ticket, a.index) for a in assignments] == [(6, 0), (7, 3)]
    bench.give(completed(6, "0", "3"))
    assert [[t.index for t in r.tasks] for r in bench.of(RecordValues)] == [[0], [3]]
    assert [c.recorded for c in bench.of(Advance)] == [1]


def test_block_behind_another_in_one_message_is_taken_as_one_range():
    """Tasks 0, 3 and 4 are lost; the last two are consecutive and stay together."""
    bench = Bench(once([call(i) for i in range(6)]))
    bench.machine.dispatch.take([6])
    for ticket in (5, 4, 1):
        bench.give(Lost(ticket, "gone"))
    assignments = bench.machine.dispatch.take([9])
    assert [(a.ticket, a.index, len(a.tickets)) for a in assignments] == [(7, 0, 1), (8, 3, 2)]
    bench.give(completed(7, "0", "3", "4"))
    assert [[t.index for t in r.tasks] for r in bench.of(RecordValues)] == [[0], [3, 4]]


def test_values_behind_the_end_of_their_round_are_left_out():
    def until(result):
        return result.index == 0

    bench = Bench(once(make_round([call(i) for i in range(5)], until=until)))
    bench.machine.dispatch.take([5])
    bench.give(Lost(4, "gone"))
    bench.give(Lost(1, "gone"))
    bench.machine.dispatch.take([9])
    bench.give(completed(6, "0", "3"))
    assert [[t.index for t in r.tasks] for r in bench.of(RecordValues)] == [[0]]
    assert bench.of(Close) == [Close("", 0, 1, stopped=True)]


def test_values_of_two_kinds_in_a_row_are_recorded_by_kind():
    bench = Bench(once([call(0), call(1, function="lab:other"), call(2, function="lab:other")]))
    assignments = bench.machine.dispatch.take([9])
    assert [a.function for a in assignments] == ["lab:task", "lab:other"]
    bench.give(completed(1, "0", "1", "2"))
    parts = [(r.tasks[0].function, [t.index for t in r.tasks]) for r in bench.of(RecordValues)]
    assert parts == [("lab:task", [0]), ("lab:other", [1, 2])]

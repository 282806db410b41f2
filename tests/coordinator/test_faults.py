"""Attempts that do not succeed: retries, losses, timeouts, and events for unknown attempts."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.machines import Bench, call, once
from weft.coordinator.policy import LOSSES_BEFORE_ALONE, LOSSES_BEFORE_FAILED, Policy
from weft.coordinator.steps import Begin, Close, Kill, Recalled, RecordResult, Requeue
from weft.errors import WorldError
from weft.model.attempts import Entered, Finished, GivenBack, Lost, Started, Worker
from weft.model.results import TaskError
from weft.model.tasks import make_lanes


def attempts_until_recorded(bench, **fault):
    """Fail every attempt in the same way; return the number of attempts."""
    for count in range(1, 200):
        [assignment] = bench.take()
        bench.fail(assignment, **fault)
        if bench.of(RecordResult):
            return count
    raise AssertionError("never recorded")


@pytest.mark.parametrize("retries", [0, 1, 3])
def test_retriable_fault_is_tried_again_up_to_the_policy(retries):
    bench = Bench(once([call(0)]), policy=Policy(retries=retries))
    assert attempts_until_recorded(bench, kind="temporary", retriable=True) == retries + 1
    [record] = bench.of(RecordResult)
    assert record.error == TaskError("temporary", "run")
    assert record.task.attempt == retries + 1


@pytest.mark.parametrize(("task", "policy", "attempts"), [(0, 5, 1), (2, 0, 3), (2, 9, 3)])
def test_task_limit_goes_before_the_policy(task, policy, attempts):
    bench = Bench(once([call(0, retries=task)]), policy=Policy(retries=policy))
    assert attempts_until_recorded(bench, kind="temporary", retriable=True) == attempts


def test_plain_fault_is_never_tried_again():
    bench = Bench(once([call(0)]), policy=Policy(retries=9))
    assert attempts_until_recorded(bench, kind="exception") == 1


def test_retry_that_succeeds_gives_the_value():
    def body():
        [result] = yield [call(0)]
        return result.value

    bench = Bench(body, policy=Policy(retries=1))
    bench.fail(*bench.take(), "temporary", retriable=True)
    bench.succeed(*bench.take(), 8)
    assert bench.machine.value == 8
    assert [(c.reason, c.task.charged) for c in bench.of(Requeue)] == [("temporary", 1)]


def test_loss_is_uncharged():
    bench = Bench(once([call(0)]), policy=Policy(retries=1))
    for _ in range(2):
        bench.lose(*bench.take())
    assert attempts_until_recorded(bench, kind="temporary", retriable=True) == 2


def test_losses_in_a_row_run_alone_then_fail_as_worker_died():
    bench = Bench(once([call(i) for i in range(3)]))
    a, b, c = bench.take()
    for _ in range(LOSSES_BEFORE_ALONE):
        bench.lose(a)
        if len(bench.of(Requeue)) < LOSSES_BEFORE_ALONE:
            [a] = bench.take()
    assert bench.take() == []  # it waits until nothing else runs
    bench.end(b)
    assert bench.take() == []
    bench.end(c)
    for _ in range(LOSSES_BEFORE_FAILED - LOSSES_BEFORE_ALONE):
        [a] = bench.take()
        assert a.index == 0
        bench.lose(a)
    record = bench.of(RecordResult)[-1]
    assert (record.task.index, record.error) == (0, TaskError("worker-died", "run"))
    assert record.run_s == 0.0
    assert bench.machine.done


def test_loss_that_interrupts_is_queued_again_and_says_why_once():
    bench = Bench(once([call(0), call(1)]))
    a, b = bench.take()
    bench.give(Lost(a.ticket, "the command is not there", "its log", cause="command"))
    bench.give(Lost(b.ticket, "nor is the other", cause="command"))
    assert bench.machine.broken == "the command is not there"
    assert [(c.reason, c.detail) for c in bench.of(Requeue)] == [
        ("the command is not there", "its log"),
        ("nor is the other", ""),
    ]
    assert bench.of(RecordResult) == []
    assert [x.index for x in bench.take()] == [1, 0]  # not charged: both may run again


def test_loss_for_want_of_room_stops_the_run_and_the_first_reason_stays():
    bench = Bench(once([call(0), call(1), call(2)]))
    a, b, c = bench.take()
    assert not bench.machine.exhausted
    bench.give(Lost(a.ticket, "short of space", cause="resource"))
    bench.give(Lost(b.ticket, "the command is not there", cause="command"))
    bench.give(Lost(c.ticket, "short of inodes", cause="resource"))
    assert (bench.machine.broken, bench.machine.exhausted) == ("short of space", True)
    assert bench.of(RecordResult) == []
    assert [x.index for x in bench.take()] == [2, 1, 0]  # not charged: all may run again


def test_broken_command_before_a_shortage_is_what_is_reported():
    bench = Bench(once([call(0), call(1)]))
    a, b = bench.take()
    bench.give(Lost(a.ticket, "the command is not there", cause="command"))
    bench.give(Lost(b.ticket, "short of space", cause="resource"))
    assert (bench.machine.broken, bench.machine.exhausted) == ("the command is not there", False)


def test_loss_by_the_machine_never_counts_against_the_task():
    bench = Bench(once([call(0)]))
    for _ in range(2 * LOSSES_BEFORE_FAILED):
        [a] = bench.take()
        bench.give(Lost(a.ticket, "no interpreter", cause="machine"))
    assert bench.of(RecordResult) == []
    assert len(bench.of(Requeue)) == 2 * LOSSES_BEFORE_FAILED
    with pytest.raises(WorldError, match="no CPU slot is left for lab:task: no interpreter"):
        bench.machine.dispatch.take([-1])


def test_task_that_runs_alone_lets_nothing_start_beside_it():
    bench = Bench(once([call(i) for i in range(4)]))
    [a] = bench.take(1)
    for _ in range(LOSSES_BEFORE_ALONE - 1):
        bench.lose(a)
        [a] = bench.take(1)
    bench.lose(a)
    [a] = bench.take()
    assert a.index == 0
    assert bench.take() == []
    bench.end(a)
    assert [x.index for x in bench.take()] == [1, 2, 3]


def test_losses_not_in_a_row_count_from_the_start_again():
    bench = Bench(once([call(0), call(1)]), policy=Policy(retries=5))
    [a] = bench.take(1)
    for _ in range(LOSSES_BEFORE_ALONE - 1):
        bench.lose(a)
        [a] = bench.take(1)
    bench.fail(a, "temporary", retriable=True)
    for _ in range(LOSSES_BEFORE_ALONE - 1):
        [a] = bench.take(1)
        bench.lose(a)
    assert [x.index for x in bench.take()] == [0, 1]  # not alone: the losses were not consecutive


def test_given_back_counts_as_no_attempt_and_no_loss():
    bench = Bench(once([call(0)]))
    for _ in range(20):
        bench.give_back(*bench.take())
    [a] = bench.take()
    bench.start(a)
    [begin] = bench.of(Begin)
    assert (begin.task.attempt, begin.task.losses) == (1, 0)
    assert bench.of(Requeue) == []


@given(st.lists(st.sampled_from(["start", "finish", "fail", "lose", "back"]), max_size=12))
@settings(max_examples=60)
def test_late_and_repeated_events_change_nothing(kinds):
    bench = Bench(once([call(0), call(1)]))
    first, second = bench.take()
    bench.lose(first)
    bench.succeed(second, 1)
    [retry] = bench.take()
    before, running = len(bench.commands), bench.machine.counts()
    events = {
        "start": Started(first.ticket, Worker()),
        "finish": Finished(second.ticket, "5"),
        "fail": Finished(first.ticket, error=TaskError("exception", "run")),
        "lose": Lost(second.ticket, "late"),
        "back": GivenBack(first.ticket),
    }
    for kind in kinds:
        bench.give(events[kind])
        bench.give(type(events[kind])(10**6, *list(_rest(events[kind]))))
    assert len(bench.commands) == before
    assert bench.machine.counts() == running
    bench.succeed(retry, 3)
    assert bench.of(Close) == [Close("", 0, 2, stopped=False)]


def _rest(event):
    return {Started: (Worker(),), Lost: ("late",)}.get(type(event), ())


def test_recalled_for_a_task_nobody_waits_for_changes_nothing():
    bench = Bench(once([call(0)]))
    before = len(bench.commands)
    bench.give(Recalled("", 0, 7, "1", None))
    bench.give(Recalled("/other", 0, 0, "1", None))
    assert len(bench.commands) == before


# -- time-outs ----------------------------------------------------------------------------


def test_timeout_ends_the_attempt_at_its_deadline():
    bench = Bench(once([call(0)]), policy=Policy(timeout_s=10))
    [a] = bench.take()
    assert bench.machine.dispatch.next_deadline_s() is None  # it waits in a worker's queue
    bench.start(a, now_s=5.0)
    assert bench.machine.dispatch.next_deadline_s() == 15.0
    bench.follow(bench.machine.expire(14.9))
    assert bench.of(RecordResult) == []
    bench.follow(bench.machine.expire(15.0))
    [record] = bench.of(RecordResult)
    assert (record.error, record.run_s) == (TaskError("timeout", "run"), 10.0)
    assert [t for c in bench.of(Kill) for t in c.tickets] == [a.ticket]
    assert bench.machine.done


def test_timeout_is_worth_a_retry():
    bench = Bench(once([call(0)]), policy=Policy(retries=1, timeout_s=1))
    for attempt in (1, 2):
        [a] = bench.take()
        bench.start(a, now_s=float(attempt))
        bench.follow(bench.machine.expire(attempt + 1.0))
    assert [c.reason for c in bench.of(Requeue)] == ["timeout"]
    assert [c.error.type for c in bench.of(RecordResult)] == ["timeout"]


def test_timeout_of_the_task_goes_before_the_policy():
    bench = Bench(once([call(0, timeout_s=2), call(1)]), policy=Policy(timeout_s=50))
    for a in bench.take():
        bench.start(a, now_s=0.0)
    assert bench.machine.dispatch.next_deadline_s() == 2.0
    bench.follow(bench.machine.expire(49.0))
    assert [c.task.index for c in bench.of(RecordResult)] == [0]
    assert bench.machine.dispatch.next_deadline_s() == 50.0


def test_timeout_that_ends_the_round_kills_others_that_are_late_too():
    bench = Bench(once([call(0), call(1)]), policy=Policy(timeout_s=10, strict=True))
    first, second = bench.take(2)
    for a in (first, second):
        bench.start(a, now_s=0.0)
    bench.follow(bench.machine.expire(10.0))
    assert [c.task.index for c in bench.of(RecordResult)] == [0]
    assert [t for c in bench.of(Kill) for t in c.tickets] == [first.ticket, second.ticket]
    assert bench.machine.dispatch.idle


def test_timeout_that_ends_a_round_does_not_spare_late_tasks_of_other_lanes():
    def lane(size):
        yield [call(x) for x in range(size)]

    def body():
        yield make_lanes({"a": lane(2), "b": lane(1)})

    bench = Bench(body, policy=Policy(timeout_s=10, strict=True))
    for a in bench.take():
        bench.start(a, now_s=0.0)
    bench.follow(bench.machine.expire(10.0))
    assert [(c.task.lane, c.task.index) for c in bench.of(RecordResult)] == [("/a", 0), ("/b", 0)]


def test_timeout_begins_anew_with_each_stage():
    bench = Bench(once([call(0)]), policy=Policy(timeout_s=10))
    [a] = bench.take()
    bench.start(a, now_s=5.0)
    bench.give(Entered(a.ticket), now_s=12.0)
    assert bench.machine.dispatch.next_deadline_s() == 22.0
    bench.follow(bench.machine.expire(22.0))
    [record] = bench.of(RecordResult)
    assert (record.error, record.run_s) == (TaskError("timeout", "run"), 17.0)


def test_timeout_none_never_expires():
    bench = Bench(once([call(0)]))
    bench.start(*bench.take(), now_s=0.0)
    bench.follow(bench.machine.expire(1e9))
    assert bench.of(RecordResult) == []


def test_timeout_of_a_waiting_attempt_does_not_count():
    bench = Bench(once([call(0)]), policy=Policy(timeout_s=1))
    bench.take()
    bench.follow(bench.machine.expire(1e9))
    assert bench.of(RecordResult) == []


def test_attempt_that_is_to_start_again_has_no_deadline_and_no_worker_before_it_does():
    bench = Bench(once([call(1, timeout_s=5.0)]))
    [first] = bench.take()
    bench.start(first, 10.0)
    assert bench.machine.dispatch.next_deadline_s() == 15.0
    bench.give(Lost(first.ticket, "gone"), 12.0)
    [second] = bench.take()
    assert second.attempt == 2
    assert bench.machine.dispatch.next_deadline_s() is None
    [task] = bench.machine.dispatch.out.values()
    assert (task.started_s, task.worker) == (None, Worker())
    bench.start(second, 20.0)
    assert bench.machine.dispatch.next_deadline_s() == 25.0
    assert task.worker == Worker(pid=7)

"""Which slot a task gets: the static deal, the greedy choice, caps, retirement, refusals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from tests.support.machines import GENESIS, Bench, once
from weft.coordinator.machine import Machine
from weft.coordinator.placement import Caps, FairShare, Placement
from weft.coordinator.policy import COMMAND_GRACE_S, Policy
from weft.coordinator.rooms import Rooms
from weft.coordinator.steps import LiveTask, Queue, Requeue, TaskKind
from weft.errors import UsageError, WorldError
from weft.model.attempts import Assignment
from weft.model.slots import Node
from weft.model.tasks import COMMAND, Limits, SearchCall, TaskCall, make_lanes, make_lazy


def task(
    index: int = 0, *, gpu: int = 0, group: str | None = None, function: str = "f"
) -> LiveTask:
    kind = TaskKind("", 0, function, Limits(gpu=gpu, group=group), ())
    return LiveTask(kind, index, "k", "{}", ordinal=index)


def choose(placement: Placement, task: LiveTask, capacity: Sequence[int]) -> int | None:
    return placement.choose(task, Rooms(capacity), fair=FairShare(99, 99))


def calls(count: int, *, gpu: int = 0, group: str | None = None) -> list[TaskCall]:
    return [TaskCall("lab:task", {"x": i}, Limits(gpu=gpu, group=group)) for i in range(count)]


class SlotBench(Bench):
    """A bench whose machine has slots; `rooms` stands for the backend's answer."""

    def __init__(self, body: Callable[[], Any], placement: Placement) -> None:
        self.commands = []
        self.stored = {}
        self.fetches = []
        root = SearchCall("lab:search", 1, {}, body)
        self.machine = Machine(
            GENESIS, root, {}, Policy(), self._fetch, placement=placement
        )  # fmt: skip
        self.follow([])

    def place(self, *rooms: int) -> list[tuple[int, int]]:
        """Assign as many tasks as fit; return the index and slot of each."""
        assignments = self.machine.dispatch.take(list(rooms))
        self.last = [task for assignment in assignments for task in assignment.each()]
        return [(a.index, a.slot) for a in self.last]

    def queued(self) -> list[LiveTask]:
        """All tasks created so far."""
        return [task for queue in self.of(Queue) for task in queue.tasks]

    last: list[Assignment]


# -- the rule -----------------------------------------------------------------------------


def test_static_deal_is_the_table_by_hand() -> None:
    """Nodes of 2, 12 and 12 GPUs, round size unknown: full turns over the 26 slots."""
    placement = Placement([Node("a", gpus=2), Node("b", gpus=12), Node("c", gpus=12)], "static")
    rooms = [1] * 26
    dealt = [placement.slots[choose(placement, task(i, gpu=1), rooms)].name for i in range(36)]
    assert dealt[:9] == ["a/gpu0", "b/gpu0", "c/gpu0", "a/gpu1", "b/gpu1", "c/gpu1", "b/gpu2",
                         "c/gpu2", "b/gpu3"]  # fmt: skip
    assert set(Counter(dealt[:26]).values()) == {1}
    assert dealt[26:] == dealt[:10]


def test_static_deal_does_not_depend_on_what_runs() -> None:
    placement = Placement([Node("a", cpus=2), Node("b", cpus=1)], "static")
    before = [choose(placement, task(i), [9, 9, 9]) for i in range(6)]
    for i in (0, 1):
        placement.hold(task(i), before[i])
    assert [choose(placement, task(i), [9, 9, 9]) for i in range(6)] == before == [0, 2, 1, 0, 2, 1]


def test_static_task_waits_for_its_own_slot() -> None:
    placement = Placement([Node("a", cpus=2)], "static")
    assert choose(placement, task(0), [0, 5]) is None
    assert choose(placement, task(1), [0, 5]) == 1


def test_greedy_takes_the_slot_with_most_room_and_the_first_of_equals() -> None:
    placement = Placement([Node("a", cpus=3)])
    assert choose(placement, task(), [1, 3, 2]) == 1
    assert choose(placement, task(), [2, 2, 2]) == 0
    assert choose(placement, task(), [0, 0, 0]) is None


@pytest.mark.parametrize("mode", ["greedy", "static"])
def test_gpu_and_cpu_tasks_take_slots_of_their_kind(mode: str) -> None:
    placement = Placement([Node("a", gpus=1, cpus=1)], mode)
    assert choose(placement, task(0, gpu=1), [1, 1]) == 0
    assert choose(placement, task(0), [1, 1]) == 1


def test_unknown_mode_is_refused() -> None:
    with pytest.raises(UsageError, match="greedy, static, not 'random'"):
        Placement([Node("a", cpus=1)], "random")


def test_command_waits_for_a_slot_that_holds_nothing() -> None:
    for mode in ("greedy", "static"):
        placement = Placement([Node("a", cpus=2)], mode)
        placement.hold(task(0), 0)
        assert choose(placement, task(0, function=COMMAND), [9, 0]) is None
        assert choose(placement, task(1, function=COMMAND), [9, 9]) == 1
        assert choose(placement, task(0), [9, 0]) == 0


# -- caps ---------------------------------------------------------------------------------


def test_node_cap_counts_busy_slots_and_lets_a_busy_one_take_more() -> None:
    placement = Placement([Node("a", cpus=3, max_concurrent=1), Node("b", cpus=1)])
    first = task(0)
    placement.hold(first, 0)
    assert choose(placement, task(1), [1, 9, 9, 0]) == 0
    assert choose(placement, task(1), [0, 9, 9, 1]) == 3
    assert choose(placement, task(1), [0, 9, 9, 0]) is None
    placement.free(first)
    assert choose(placement, task(1), [0, 9, 9, 0]) == 1


def test_total_cap_counts_busy_slots_of_all_nodes() -> None:
    placement = Placement([Node("a", cpus=2), Node("b", cpus=2)], caps=Caps(total=2))
    placement.hold(task(0), 0)
    placement.hold(task(1), 2)
    assert choose(placement, task(2), [0, 1, 0, 1]) is None
    assert choose(placement, task(2), [1, 1, 0, 1]) == 0


def test_group_cap_makes_only_its_own_group_wait() -> None:
    placement = Placement([Node("a", cpus=4)], caps=Caps(group=1))
    red = task(0, group="red")
    placement.hold(red, 0)
    assert choose(placement, task(1, group="red"), [1] * 4) is None
    assert choose(placement, task(1, group="blue"), [1] * 4) == 0
    assert choose(placement, task(1), [1] * 4) == 0
    placement.free(red)
    assert choose(placement, task(1, group="red"), [1] * 4) == 0


def test_group_without_cap_never_waits() -> None:
    placement = Placement([Node("a", cpus=1)])
    placement.hold(task(0, group="red"), 0)
    assert choose(placement, task(1, group="red"), [1]) == 0


# -- retirement ---------------------------------------------------------------------------


def test_retired_slot_gets_nothing_and_only_its_list_is_dealt_again() -> None:
    """Tasks 0, 4 and 8 were dealt to a; those of b and c stay where they are."""
    nodes = [Node("a", cpus=1), Node("b", cpus=2), Node("c", cpus=1)]
    placement = Placement(nodes, "static")
    tasks = [task(i) for i in range(12)]
    assert [choose(placement, t, [9] * 4) for t in tasks] == [0, 1, 3, 2] * 3
    placement.retire(0)
    placement.retire(0)
    assert [choose(placement, t, [9] * 4) for t in tasks] == [1, 1, 3, 2, 3, 1, 3, 2, 2, 1, 3, 2]
    assert [choose(placement, t, [9] * 4) for t in tasks] == [1, 1, 3, 2, 3, 1, 3, 2, 2, 1, 3, 2]


def test_list_of_a_slot_retired_later_is_dealt_again_with_what_it_had_taken_over() -> None:
    placement = Placement([Node("a", cpus=1), Node("b", cpus=1), Node("c", cpus=1)], "static")
    tasks = [task(i) for i in range(6)]
    placement.retire(0)
    assert [choose(placement, t, [9] * 3) for t in tasks] == [1, 1, 2, 2, 1, 2]
    placement.retire(1)
    assert [choose(placement, t, [9] * 3) for t in tasks] == [2] * 6


def test_greedy_gives_a_retired_slot_nothing() -> None:
    greedy = Placement([Node("a", cpus=2)])
    greedy.retire(0)
    assert choose(greedy, task(), [9, 1]) == 1


@pytest.mark.parametrize("gpu", [0, 1])
def test_list_of_a_retired_slot_is_dealt_to_those_of_its_kind(gpu: int) -> None:
    placement = Placement([Node("a", **{"gpus" if gpu else "cpus": 2})], "static")
    assert choose(placement, task(0, gpu=gpu), [9, 9]) == 0
    placement.retire(0)
    assert choose(placement, task(2, gpu=gpu), [9, 9]) == 1


def test_slot_that_is_back_gets_its_own_list_but_not_what_others_took_over() -> None:
    placement = Placement([Node("a", cpus=1), Node("b", cpus=1)], "static")
    tasks = [task(i) for i in range(6)]
    placement.retire(0)
    assert [choose(placement, t, [9, 9]) for t in tasks[:3]] == [1, 1, 1]
    placement.restore(0)
    placement.restore(0)
    assert [choose(placement, t, [9, 9]) for t in tasks] == [1, 1, 1, 1, 0, 1]


@pytest.mark.parametrize("mode", ["greedy", "static"])
def test_task_fits_nowhere_when_every_slot_of_its_kind_is_gone(mode: str) -> None:
    placement = Placement([Node("a", gpus=1, cpus=1)], mode)
    placement.retire(0)
    assert not placement.fits(gpu=True)
    assert placement.fits(gpu=False)
    assert choose(placement, task(gpu=1), [-1, 5]) is None


@pytest.mark.parametrize("mode", ["greedy", "static"])
def test_cpu_task_on_nodes_without_cpus_has_no_slot(mode: str) -> None:
    placement = Placement([Node("a", gpus=2)], mode)
    assert choose(placement, task(), [1, 1]) is None
    assert not placement.fits(gpu=False)


# -- in the machine -----------------------------------------------------------------------


def test_machine_fills_slots_in_task_order_up_to_their_room() -> None:
    bench = SlotBench(once(calls(5)), Placement([Node("a", cpus=2)]))
    assert bench.place(2, 1) == [(0, 0), (1, 0), (2, 1)]
    assert bench.place(0, 0) == []
    assert bench.place(1, 1) == [(3, 0), (4, 1)]


def test_machine_deals_gpu_and_cpu_tasks_each_by_themselves() -> None:
    """Dealt by index, all GPU tasks, which have even indices, would go to the first node."""
    mixed = [call for pair in zip(calls(4, gpu=1), calls(4), strict=True) for call in pair]
    nodes = [Node("a", gpus=1, cpus=1), Node("b", gpus=1, cpus=1)]
    bench = SlotBench(once(mixed), Placement(nodes, "static"))
    assert sorted(bench.place(9, 9, 9, 9)) == [
        (0, 0), (1, 1), (2, 2), (3, 3), (4, 0), (5, 1), (6, 2), (7, 3)
    ]  # fmt: skip


def test_machine_knows_how_many_of_a_kind_a_round_has() -> None:
    """Three CPU tasks over nodes of 1 and 4 slots: shares of 0.6 and 2.4 become 1 and 2."""
    nodes = [Node("a", gpus=1, cpus=1), Node("b", cpus=4)]
    mixed = [*calls(3), *calls(1, gpu=1)]
    bench = SlotBench(once(mixed), Placement(nodes, "static"))
    assert {task.peers for task in bench.queued() if not task.limits.gpu} == {3}
    assert {task.peers for task in bench.queued() if task.limits.gpu} == {1}
    assert [task.ordinal for task in bench.queued()] == [0, 1, 2, 0]
    assert sorted(bench.place(9, 9, 9, 9, 9, 9)) == [(0, 1), (1, 2), (2, 3), (3, 0)]


def test_machine_numbers_tasks_of_a_kind_on_where_others_stand_between() -> None:
    mixed = [*calls(2), *calls(1, gpu=1), *calls(2)]
    bench = SlotBench(once(mixed), Placement([Node("a", gpus=1, cpus=2)], "static"))
    assert [task.ordinal for task in bench.queued()] == [0, 1, 0, 2, 3]


def test_lazy_round_is_dealt_in_full_turns() -> None:
    nodes = [Node("a", cpus=1), Node("b", cpus=4)]

    def body() -> Any:
        yield make_lazy(2, lambda i: calls(2)[i])

    bench = SlotBench(body, Placement(nodes, "static"))
    assert sorted(bench.place(9, 9, 9, 9, 9)) == [(0, 0), (1, 1)]


def test_machine_passes_tasks_over_that_must_wait_and_keeps_their_order() -> None:
    bench = SlotBench(once(calls(6)), Placement([Node("a", cpus=2)], "static"))
    assert bench.place(0, 2) == [(1, 1), (3, 1)]
    assert bench.place(9, 9) == [(0, 0), (2, 0), (4, 0), (5, 1)]


def test_machine_lets_a_later_lane_use_slots_the_first_cannot() -> None:
    def lane(round_: list[TaskCall]) -> Any:
        yield round_

    def body() -> Any:
        yield make_lanes({"gpu": lane(calls(3, gpu=1)), "cpu": lane(calls(2))})

    bench = SlotBench(body, Placement([Node("a", gpus=1, cpus=1)]))
    assert bench.place(1, 2) == [(0, 0), (0, 1), (1, 1)]
    assert {a.lane for a in bench.last} == {"/gpu", "/cpu"}
    assert bench.place(0, 2) == []
    for assignment in bench.last:
        bench.end(assignment)


def test_machine_holds_a_group_at_its_cap() -> None:
    placement = Placement([Node("a", cpus=4)], caps=Caps(group=2))
    bench = SlotBench(once(calls(4, group="red")), placement)
    assert bench.place(1, 1, 1, 1) == [(0, 0), (1, 1)]
    bench.end(bench.last[0])
    assert bench.place(1, 0, 1, 1) == [(2, 0)]


def test_gpu_task_without_a_gpu_node_is_refused_before_anything_is_queued() -> None:
    with pytest.raises(UsageError, match="lab:task needs a GPU and no node has one"):
        SlotBench(once(calls(1, gpu=1)), Placement([Node("a", cpus=2)]))


@pytest.mark.parametrize("mode", ["greedy", "static"])
@pytest.mark.parametrize(("gpu", "kind"), [(0, "CPU"), (1, "GPU")])
def test_last_slot_of_a_kind_retired_ends_the_run_in_one_line(
    mode: str, gpu: int, kind: str
) -> None:
    bench = SlotBench(once(calls(2, gpu=gpu)), Placement([Node("a", gpus=1, cpus=1)], mode))
    rooms = (9, -1) if gpu == 0 else (-1, 9)
    with pytest.raises(WorldError, match=f"no {kind} slot is left for lab:task"):
        bench.place(*rooms)


def test_every_slot_out_of_service_ends_the_run_in_one_line_unless_something_runs() -> None:
    bench = SlotBench(once(calls(3)), Placement([Node("a", cpus=2)]))
    assert bench.place(1, -1) == [(0, 0)]
    assert bench.place(-1, -1) == []
    with pytest.raises(WorldError, match="no CPU slot is left for lab:task"):
        SlotBench(once(calls(3)), Placement([Node("a", cpus=2)])).place(-1, -1)


def test_slot_that_is_back_takes_tasks_again() -> None:
    bench = SlotBench(once(calls(3)), Placement([Node("a", cpus=2)]))
    assert bench.place(-1, 1) == [(0, 1)]
    assert bench.place(1, 0) == [(1, 0)]


def test_nothing_is_said_while_something_that_fits_still_waits() -> None:
    bench = SlotBench(once(calls(1)), Placement([Node("a", cpus=2)], "static"))
    assert bench.place(0, 5) == []
    assert bench.place(1, 0) == [(0, 0)]


def test_what_was_dealt_to_a_retired_slot_goes_to_the_others() -> None:
    bench = SlotBench(once(calls(4)), Placement([Node("a", cpus=2)], "static"))
    assert bench.place(-1, 9) == [(0, 1), (1, 1), (2, 1), (3, 1)]


@pytest.mark.parametrize("mode", ["greedy", "static"])
def test_task_that_keeps_losing_workers_runs_alone_on_its_slot(mode: str) -> None:
    bench = SlotBench(once(calls(4)), Placement([Node("a", cpus=2)], mode))
    bench.place(1, 0)
    for _ in range(3):
        bench.lose(bench.last[0])
        bench.place(1, 0)
    assert bench.last[0].index == 0
    assert len(bench.of(Requeue)) == 3
    assert bench.place(9, 9) == []
    bench.end(next(a for a in [*bench.last, *bench_out(bench)] if a.index == 0))
    assert [index for index, _ in bench.place(9, 9)] == [1, 2, 3]


def bench_out(bench: SlotBench) -> list[Assignment]:
    """Attempts in flight, as the machine knows them."""
    return [
        Assignment(ticket, t.function, t.args, t.lane, t.round, t.index)
        for ticket, t in bench.machine.dispatch.out.items()
    ]


def test_task_that_must_run_alone_is_not_kept_waiting_by_other_lanes() -> None:
    def lane(round_: list[TaskCall]) -> Any:
        yield round_

    def body() -> Any:
        yield make_lanes({"bad": lane(calls(1)), "busy": lane(calls(50))})

    bench = SlotBench(body, Placement([Node("a", cpus=2)]))
    bench.place(1, 0)
    for _ in range(2):
        bench.lose(bench.last[0])
        bench.place(1, 0)
    bad = bench.last[0]
    bench.place(0, 1)
    other = bench.last[0]
    bench.lose(bad)
    assert bench.place(1, 0) == [], "something was started beside or before it"
    bench.end(other)
    assert bench.place(1, 1) == [(0, 1)]
    assert bench.last[0].lane == "/bad"


@pytest.mark.parametrize("mode", ["greedy", "static"])
def test_task_that_must_run_alone_goes_to_another_slot_if_there_is_one(mode: str) -> None:
    placement = Placement([Node("a", gpus=1, cpus=3)], mode)
    sick = task(0)
    sick.losses, sick.slot = 3, 1
    assert choose(placement, sick, [9, 9, 9, 9]) == 2
    sick.slot = 2
    assert choose(placement, sick, [9, 9, 9, 9]) == 1
    placement.retire(1)
    assert choose(placement, sick, [9, -1, 9, 0]) == 2
    assert choose(placement, sick, [9, -1, 0, 0]) is None
    assert choose(placement, sick, [9, -1, 0, 1]) == 3


@pytest.mark.parametrize("mode", ["greedy", "static"])
def test_gpu_task_that_must_run_alone_stays_on_gpus(mode: str) -> None:
    sick = task(0, gpu=1)
    sick.losses, sick.slot = 3, 0
    assert choose(Placement([Node("a", gpus=2, cpus=1)], mode), sick, [9, 9, 9]) == 1


# -- limits of commands -------------------------------------------------------------------


def test_command_has_its_limit_told_and_some_grace_beyond_it() -> None:
    policy = Policy(timeout_s=5.0)
    plain, command = task(), task(function=COMMAND)
    plain.started_s = plain.entered_s = command.started_s = command.entered_s = 100.0
    assert policy.limit_s(command) == 5.0
    assert policy.deadline_s(plain) == 105.0
    assert policy.deadline_s(command) == 105.0 + COMMAND_GRACE_S


@pytest.mark.parametrize("gpu", [0, 1])
def test_slot_that_is_back_takes_its_part_of_what_was_dealt_to_others(gpu: int) -> None:
    kind = "gpus" if gpu else "cpus"
    placement = Placement([Node(name, **{kind: 1}) for name in "abc"], "static")
    rooms = [9, 9, 9]
    placement.retire(0)
    placement.retire(1)
    placement.restore(0)
    dealt = [choose(placement, task(index, gpu=gpu), rooms) for index in (1, 4, 7)]
    assert dealt == [0, 2, 0], "what was dealt to the slot that is gone goes to both others in turn"
    assert choose(placement, task(0, gpu=gpu), rooms) == 0


def test_slot_without_room_is_not_out_of_service() -> None:
    placement = Placement([Node("a", cpus=3)])
    placement.set_in_service([-1, 0, 1])
    assert choose(placement, task(), [9, 9, 0]) == 1
    assert choose(placement, task(), [9, 0, 0]) is None
    placement.set_in_service([0, 0, 0])
    assert choose(placement, task(), [9, 0, 0]) == 0


def test_slot_that_was_freed_counts_once_against_the_cap() -> None:
    placement = Placement([Node("a", cpus=3, max_concurrent=1)], caps=Caps(total=1))
    first, second = task(0), task(1)
    placement.hold(first, 1)
    assert first.slot == 1
    placement.free(first)
    placement.hold(second, 2)
    assert choose(placement, task(2), [9, 9, 0]) is None
    placement.free(second)
    assert choose(placement, task(2), [9, 9, 0]) == 0


def test_nothing_is_said_while_something_runs_that_may_bring_the_slot_back() -> None:
    bench = SlotBench(once([*calls(1, gpu=1), *calls(1)]), Placement([Node("a", gpus=1, cpus=1)]))
    assert bench.place(-1, 1) == [(1, 1)]
    assert bench.place(-1, 5) == []
    bench.succeed(bench_out(bench)[0], 1)
    with pytest.raises(WorldError, match="GPU"):
        bench.place(-1, 5)


@pytest.mark.parametrize(
    ("function", "limits", "is_plain", "task_class"),
    [
        ("f", Limits(), True, (False, False)),
        ("f", Limits(gpu=1), False, (True, False)),
        ("f", Limits(group="g"), False, (False, False)),
        (COMMAND, Limits(), False, (False, True)),
        (COMMAND, Limits(gpu=1), False, (True, True)),
    ],
)
def test_kind_says_what_travels_in_blocks_and_where_it_fits(
    function: str, limits: Limits, is_plain: bool, task_class: tuple[bool, bool]
) -> None:
    kind = TaskKind("", 0, function, limits, ())
    assert (kind.is_plain, kind.task_class) == (is_plain, task_class)

"""Runtime, what it would be sequentially, and how busy each slot was."""

from __future__ import annotations

from weft.model.slots import Node
from weft.searches.jobs.view import ViewedJob, distribution, slot_times, times_of

NODES = (Node("b", gpus=2), Node("a", gpus=1))


def job(name: str, slot: str, start: float, seconds: float, status: str = "completed") -> ViewedJob:
    node = slot.partition("/")[0]
    return ViewedJob(
        name, "k", status, node, slot, 1000 + start, 1000 + start + seconds, seconds, 1
    )


JOBS = [
    job("1", "b/gpu0", 0, 4),
    job("2", "a/gpu0", 1, 5),
    job("3", "b/gpu1", 0, 6, "failed"),
    job("4", "b/gpu0", 5, 5),
]


def test_lines_add_up_the_nodes_in_their_order() -> None:
    times = times_of(JOBS, NODES, 0.0)
    assert times is not None
    assert times.lines() == [
        "runtime 10.0 s, sequential would be 15.0 + 5.0 = 20.0 s, speed-up 2.0 x",
        "one after the other within each node would be 15.0 s, speed-up 1.5 x",
    ]
    assert times.to_dict()["node_sums_s"] == {"b": 15.0, "a": 5.0}


def test_pause_of_a_resumed_run_is_left_out_and_said() -> None:
    times = times_of(JOBS, NODES, 2.5)
    assert times is not None
    assert times.lines()[0].startswith("runtime 7.5 s (resumed; 2.5 s of pause left out), ")


def test_one_node_has_no_sum_and_short_runs_more_digits() -> None:
    times = times_of([job("1", "a/gpu0", 0, 1.5), job("2", "a/gpu0", 1.5, 0.25)], NODES, 0.0)
    assert times is not None
    assert times.lines()[0] == "runtime 1.75 s, sequential would be 1.75 s, speed-up 1.0 x"


def test_nothing_finished_has_no_times() -> None:
    waiting = ViewedJob("1", "k", "queued", None, None, None, None, None, 0)
    assert times_of([waiting], NODES, 0.0) is None
    assert slot_times([waiting]) == []


def test_slots_come_by_node_and_number_with_their_busy_share() -> None:
    more = [*JOBS, job("5", "b/gpu10", 0, 1), job("6", "b/cpu0", 0, 1)]
    slots = slot_times(more)
    assert [slot.slot for slot in slots] == ["a/gpu0", "b/gpu0", "b/gpu1", "b/gpu10", "b/cpu0"]
    assert [round(slot.busy_share, 2) for slot in slots] == [1.0, 0.9, 1.0, 1.0, 1.0]


def test_distribution_counts_what_ran_where() -> None:
    plans = distribution([*JOBS, job("7", "b/cpu of pid 3", 0, 1)], NODES)
    assert [(p.node, p.jobs, dict(p.distribution)) for p in plans] == [
        ("b", 3, {0: 2, 1: 1}),
        ("a", 1, {0: 1}),
    ]

"""What the next session recalls from a journal, and what it may request instead."""

from __future__ import annotations

import pytest

from tests.coordinator.desks import (
    MONOTONIC,
    WALL,
    WORKER,
    Desk,
    done,
    opened,
    queued,
    run,
    task,
)
from weft.coordinator.journal import VISIBLE
from weft.coordinator.steps import (
    Advance,
    Answer,
    Begin,
    Close,
    OpenLanes,
    OpenRound,
    Recalled,
    RecordValues,
)
from weft.errors import ReplayDiverged, RunMismatch
from weft.model.results import TaskError
from weft.model.tasks import FORMER_COMMAND


def test_next_session_recalls_by_place_also_behind_tasks_without_a_row(desk: Desk) -> None:
    opened(desk, task(0))
    later = [task(VISIBLE + index, round_=1) for index in range(2)]
    desk.do(OpenRound("", 1, VISIBLE + 2), queued("", 1, tuple(later)))
    desk.do(done(run(desk, later[1])))
    desk.next_session()
    opened(desk, task(0))
    second_tasks = tuple(task(VISIBLE + index, round_=1) for index in range(2))
    recalled = desk.do(OpenRound("", 1, VISIBLE + 2), queued("", 1, second_tasks))
    assert recalled == [Recalled("", 1, VISIBLE + 1, "1", None)]


def test_next_session_recalls_what_is_final_and_queues_what_was_running(desk: Desk) -> None:
    tasks = opened(desk, *(task(index) for index in range(4)))
    error = TaskError("E", "no")
    desk.do(done(run(desk, tasks[0])), done(run(desk, tasks[1]), None, error))
    run(desk, tasks[2])
    desk.next_session()
    desk.clock.wall_s += 5
    same_tasks = tuple(task(index) for index in range(4))
    recalled = desk.do(OpenRound("", 0, 4), queued("", 0, same_tasks))
    assert recalled == [Recalled("", 0, 0, "1", None), Recalled("", 0, 1, None, error)]
    assert [queued_task.attempt for queued_task in same_tasks] == [1, 1, 1, 0]
    assert desk.rows("state, queued_at") == [
        ("completed", WALL), ("failed", WALL), ("queued", WALL), ("queued", WALL)
    ]  # fmt: skip
    assert desk.attempts()[1:] == [
        (3, 1, "requeued", "coordinator-died", "", None, WALL + 5, None, None, None, None)
    ]  # fmt: skip
    desk.do(done(run(desk, same_tasks[3])))
    assert desk.rows("queued_at, finished_at", "id = 4") == [(WALL, WALL + 5)]


def test_rows_of_an_earlier_session_are_read_by_their_place_in_the_round(desk: Desk) -> None:
    opened(desk, task(0))
    tasks = [task(index, round_=1) for index in range(4)]
    desk.do(OpenRound("", 1, 4), queued("", 1, tuple(tasks)))
    for queued_task in tasks[:3]:
        desk.do(done(run(desk, queued_task), str(queued_task.index)))
    desk.do(Advance("", 1, 3))
    desk.journal.flush()
    assert desk.journal.final_rows("", 1, 0, 4) == [], "of this session: nothing to look for"
    results = desk.journal.fetch("", 1, 1, 3)
    assert [(r.index, r.key, r.value) for r in results] == [
        (1, tasks[1].key, 1), (2, tasks[2].key, 2)
    ]  # fmt: skip
    desk.next_session()
    desk.do(OpenRound("", 0, 1), OpenRound("", 1, 4))
    rows = [(row_task.key, "m:f", "{}", 0) for row_task in tasks[1:3]]
    assert desk.journal.final_rows("", 1, 1, 3) == rows
    assert desk.journal.final_rows("", 1, 2, 4) == rows[1:], "up to the first that is not final"


def test_results_of_a_block_are_those_of_its_rows_from_memory_and_from_the_file(desk: Desk) -> None:
    opened(desk, task(0))
    tasks = [task(index, round_=1) for index in range(4)]
    desk.do(OpenRound("", 1, 4), queued("", 1, tuple(tasks)))
    desk.do(RecordValues(tasks, ["7", '"a"', "null", "[1]"], [1, 2, 3, 4], WORKER))
    desk.do(Advance("", 1, 4))
    from_memory = desk.journal.fetch("", 1, 1, 4)
    desk.journal.commit()
    desk.next_session()
    desk.do(OpenRound("", 0, 1), OpenRound("", 1, 4))
    for results in (from_memory, desk.journal.fetch("", 1, 1, 4)):
        assert [(r.index, r.key, r.function, r.args, r.value) for r in results] == [
            (place, tasks[place].key, "m:f", {}, value)
            for place, value in ((1, "a"), (2, None), (3, [1]))
        ]


def test_round_advances_and_only_forward(desk: Desk) -> None:
    opened(desk, *(task(index) for index in range(3)))
    desk.do(Advance("", 0, 2))
    assert desk.rounds() == [(1, 3, 2, 0, 0)]
    desk.do(Advance("", 0, 1))
    assert desk.rounds() == [(1, 3, 2, 0, 0)]


def test_stopped_round_drops_and_cancels_what_is_beyond(desk: Desk) -> None:
    tasks = opened(desk, *(task(index) for index in range(4)))
    for queued_task in tasks[:3]:
        run(desk, queued_task)
    desk.do(RecordValues(tasks[:2], ["1", "2"], [1, 1], WORKER), done(tasks[2]))
    desk.journal.flush()
    desk.do(Advance("", 0, 1), Close("", 0, 1, stopped=True))
    assert desk.rows("state") == [("completed",), ("dropped",), ("dropped",), ("cancelled",)]
    assert desk.rounds() == [(1, 4, 1, 1, 1)]


def test_round_that_ends_whole_drops_nothing(desk: Desk) -> None:
    tasks = opened(desk, task(0), task(1))
    for queued_task in tasks:
        desk.do(done(run(desk, queued_task)))
    calls: list[tuple[int, int]] = []
    desk.manifest.drop = lambda first, end: calls.append((first, end))  # type: ignore[method-assign]
    desk.do(Close("", 0, 2, stopped=False))
    assert calls == []
    assert desk.rounds() == [(1, 2, 2, 1, 0)]


def test_closed_round_is_closed_the_same_way_again(desk: Desk) -> None:
    tasks = opened(desk, task(0), task(1))
    for queued_task in tasks:
        desk.do(done(run(desk, queued_task)))
    desk.do(Close("", 0, 1, stopped=True))
    desk.next_session()
    desk.do(OpenRound("", 0, 2))
    desk.do(Close("", 0, 1, stopped=True))
    for other in (Close("", 0, 1, stopped=False), Close("", 0, 2, stopped=True)):
        with pytest.raises(ReplayDiverged, match="it ended after 1 results, now after"):
            desk.do(other)
    with pytest.raises(ReplayDiverged, match="now task 1 is asked for"):
        desk.do(Begin(tasks[1]))


def test_round_may_not_end_before_what_is_recorded(desk: Desk) -> None:
    opened(desk, task(0), task(1))
    desk.do(Advance("", 0, 2))
    with pytest.raises(ReplayDiverged, match="2 results are recorded, now it ends after 1"):
        desk.do(Close("", 0, 1, stopped=True))


def test_other_tasks_than_recorded_diverge(desk: Desk) -> None:
    opened(desk, task(0), task(1))
    desk.next_session()
    with pytest.raises(ReplayDiverged, match=r"task 1 was m:f\({}\), now m:g\({}\)"):
        opened(desk, task(0), task(1, "m:g", key="f" * 64))


def test_commands_of_the_first_version_are_refused(desk: Desk) -> None:
    opened(desk, task(0, FORMER_COMMAND))
    desk.next_session()
    with pytest.raises(RunMismatch, match=r"Weft 0\.1"):
        opened(desk, task(0, FORMER_COMMAND))


def test_lane_that_ended_cannot_ask_for_more_and_one_that_did_not_can(desk: Desk) -> None:
    opened(desk, task(0))
    desk.do(Answer("", 1, '{"lane":""}'))
    desk.next_session()
    opened(desk, task(0))
    with pytest.raises(ReplayDiverged, match="the lane ended here, now it asks for more"):
        desk.do(OpenRound("", 1, 1))
    with pytest.raises(ReplayDiverged, match="the lane ended here, now it asks for more"):
        desk.do(OpenLanes("", 1, ("/a",)))


def test_lane_beyond_what_is_recorded_looks_for_nothing(desk: Desk) -> None:
    opened(desk, task(0))
    looked_up: list[int] = []
    answer_of = desk.manifest.lane_answer
    desk.manifest.lane_answer = lambda lane: (looked_up.append(lane), answer_of(lane))[1]  # type: ignore[method-assign]
    desk.do(OpenRound("", 1, 1), OpenRound("", 2, 1))
    assert looked_up == [], "the first round has shown that nothing is recorded"


def test_answer_is_kept_and_another_one_diverges(desk: Desk) -> None:
    desk.do(Answer("", 0, "{}"))
    desk.next_session()
    desk.do(Answer("", 0, "{}"))
    with pytest.raises(ReplayDiverged, match=r"answer \{\} recorded, now"):
        desk.do(Answer("", 0, '{"a":1}'))
    assert desk.manifest.query("SELECT answer FROM lanes") == [("{}",)]


def test_answer_before_a_recorded_round_diverges(desk: Desk) -> None:
    opened(desk, task(0))
    desk.next_session()
    with pytest.raises(ReplayDiverged, match="a further round is recorded, the search ended"):
        desk.do(Answer("", 0, "{}"))


def test_lanes_are_opened_once_and_must_be_the_same(desk: Desk) -> None:
    desk.do(OpenLanes("", 0, ("/a", "/b")))
    desk.do(OpenRound("/b", 0, 1), queued("/b", 0, (task(0, lane="/b"),)))
    desk.next_session()
    desk.do(OpenLanes("", 0, ("/a", "/b")))
    assert desk.manifest.query("SELECT path FROM lanes ORDER BY id") == [("",), ("/a",), ("/b",)]
    for others in (("/b", "/a"), ("/a",)):
        with pytest.raises(ReplayDiverged, match="the lanes differ from those recorded"):
            desk.do(OpenLanes("", 0, others))
    with pytest.raises(ReplayDiverged):
        desk.do(OpenRound("", 0, 2))


def test_new_code_may_ask_for_another_round_where_nothing_was_decided(desk: Desk) -> None:
    opened(desk, task(0), task(1))
    desk.next_session()
    with pytest.raises(ReplayDiverged):
        desk.do(OpenRound("", 0, 3))
    desk.journal.recorded.code_is_new = True
    opened(desk, *(task(index, "m:g", key=f"{index:063x}f") for index in range(3)))
    assert desk.rows("state, function") == [("queued", "m:g")] * 3
    events = desk.manifest.query("SELECT at, monotonic, kind, task, detail FROM events")
    detail = "lane /, round 0: the new code differs"
    assert events == [(WALL, MONOTONIC, "round-forgotten", None, detail)]


def test_new_code_may_ask_for_other_tasks_of_the_same_round(desk: Desk) -> None:
    tasks = opened(desk, task(0), task(1))
    desk.do(done(run(desk, tasks[0])), done(run(desk, tasks[1])))
    desk.next_session()
    desk.journal.recorded.code_is_new = True
    other = task(1, "m:g", key="f" * 64)
    recalled = desk.do(OpenRound("", 0, 2), queued("", 0, (task(0), other)))
    assert recalled == [Recalled("", 0, 0, "1", None)]
    assert desk.rows("state, function") == [("completed", "m:f"), ("queued", "m:g")]


def test_new_code_that_asks_for_another_first_task_keeps_the_others(desk: Desk) -> None:
    tasks = opened(desk, task(0), task(1))
    desk.do(done(run(desk, tasks[0])), done(run(desk, tasks[1])))
    desk.next_session()
    desk.journal.recorded.code_is_new = True
    other = task(0, "m:g", key="f" * 64)
    recalled = desk.do(OpenRound("", 0, 2), queued("", 0, (other, task(1))))
    assert recalled == [Recalled("", 0, 1, "1", None)]
    assert desk.rows("state, function") == [("queued", "m:g"), ("completed", "m:f")]


def test_new_code_may_not_undo_what_was_decided(desk: Desk) -> None:
    opened(desk, task(0), task(1))
    desk.do(Advance("", 0, 1))
    desk.next_session()
    desk.journal.recorded.code_is_new = True
    with pytest.raises(ReplayDiverged):
        desk.do(OpenRound("", 0, 3))

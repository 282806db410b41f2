"""The journal's rows: what the manifest holds after each command, and what comes back of it."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from weft.coordinator.journal import VISIBLE, Journal
from weft.coordinator.steps import (
    Advance,
    Answer,
    Begin,
    Close,
    Declare,
    LiveTask,
    OpenLanes,
    OpenRound,
    Queue,
    Recalled,
    RecordResult,
    RecordValues,
    Requeue,
    TaskKind,
)
from weft.errors import ReplayDiverged, RunMismatch
from weft.model.attempts import Staged, Worker
from weft.model.plan import Plan
from weft.model.results import TaskError
from weft.model.tasks import COMMAND, FORMER_COMMAND, Limits
from weft.storage.disk import Disk
from weft.storage.manifest import ROOT_LANE, Manifest
from weft.storage.objects import ObjectStore

WALL, MONOTONIC = 1000.0, 50.0
WORKER = Worker(pid=7, started=3.5, node="n1", gpu=2)
TASK = "state, key, function, args, value, error, attempt, queued_at, started_at, finished_at"
PLACE = "run_s, worker_pid, worker_started, node, gpu, notes"
HELD = (7, 3.5, "n1", 2)


class Clock:
    """Clocks that stand still until a test moves them."""

    wall_s, monotonic_s = WALL, MONOTONIC

    def wall(self) -> float:
        return self.wall_s

    def monotonic(self) -> float:
        return self.monotonic_s


class Sources:
    """Remembers what code was used."""

    def __init__(self) -> None:
        self.used: list[tuple[str, str]] = []

    def use(self, name: str, path: str) -> None:
        self.used.append((name, path))


class Desk:
    """A journal on a manifest of its own, by parts."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.clock, self.sources = folder, Clock(), Sources()
        disk = Disk()
        self.manifest = Manifest.create(folder / "manifest.sqlite", disk, "run", "{}")
        self.objects = ObjectStore(folder / "objects", disk)
        self.journal = self.fresh_journal()

    def fresh_journal(self) -> Journal:
        """A journal of the next session, which knows only what was committed."""
        return Journal(self.manifest, self.objects, self.clock, self.sources)

    def next_session(self) -> None:
        self.journal.commit()
        self.journal = self.fresh_journal()

    def do(self, *commands: object) -> list[Recalled]:
        return [recalled for c in commands for recalled in self.journal.execute(c)]  # type: ignore[arg-type]

    def rows(self, columns: str = TASK, where: str = "1") -> list[tuple[object, ...]]:
        self.journal.flush()
        return self.manifest.query(f"SELECT {columns} FROM tasks WHERE {where} ORDER BY id")

    def attempts(self) -> list[tuple[object, ...]]:
        return self.manifest.query("SELECT * FROM attempts")

    def rounds(self) -> list[tuple[object, ...]]:
        self.journal.flush()
        return self.manifest.query("SELECT first, size, recorded, closed, stopped FROM rounds")


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.manifest.close()


def task(
    index: int, function: str = "m:f", round_: int = 0, lane: str = "", key: str = ""
) -> LiveTask:
    args = "{}" if function != COMMAND else '{"collect":"m:c","prepare":null}'
    kind = TaskKind(lane, round_, function, Limits(), ())
    return LiveTask(kind, index, key or f"{index:064x}", args)


def queued(lane: str, round_: int, tasks: tuple[LiveTask, ...]) -> Queue:
    """Tasks that were made, with their kinds in order, each once."""
    return Queue(lane, round_, tasks, tuple(dict.fromkeys(one.kind for one in tasks)))


def opened(desk: Desk, *tasks: LiveTask, size: int | None = None) -> tuple[LiveTask, ...]:
    """Open round 0 with these tasks."""
    desk.do(OpenRound("", 0, size or len(tasks)), queued("", 0, tasks))
    return tasks


def run(desk: Desk, one: LiveTask) -> LiveTask:
    """Begin an attempt of a task."""
    one.attempt, one.worker = one.attempt + 1, WORKER
    desk.do(Begin(one))
    return one


def done(one: LiveTask, value: str | None = "1", error: TaskError | None = None) -> RecordResult:
    return RecordResult(one, value, error, "detail", (), '["note"]', 2.0)


def test_queued_and_running_tasks_have_rows(desk: Desk) -> None:
    first, second = opened(desk, task(0), task(1))
    assert not desk.journal.has_unwritten_starts
    run(desk, second)
    assert desk.journal.has_unwritten_starts
    waiting = ("queued", first.key, "m:f", "{}", None, None, 0, WALL, None, None)
    running = ("running", second.key, "m:f", "{}", None, None, 1, WALL, WALL, None)
    assert desk.rows() == [waiting, running]
    assert not desk.journal.has_unwritten_starts
    assert desk.rows(PLACE) == [(None,) * 6, (None, *HELD, None)]


def test_running_row_is_written_once_and_follows_what_happens_next(desk: Desk) -> None:
    first, _ = opened(desk, task(0), task(1))
    run(desk, first)
    desk.journal.flush()
    desk.do(done(first))
    desk.clock.wall_s += 1
    assert desk.rows("state, started_at") == [("completed", WALL - 2.0), ("queued", None)]
    assert desk.rows("state")[0] == ("completed",), "an old start is not written again"


def test_recorded_value_has_a_row_with_its_times_and_place(desk: Desk) -> None:
    first, _ = opened(desk, task(0), task(1))
    desk.clock.wall_s += 10
    run(desk, first)
    desk.do(done(first))
    assert desk.journal.pending == 1
    row = ("completed", first.key, "m:f", "{}", "1", None, 1, WALL, WALL + 8, WALL + 10)
    assert desk.rows(where="id = 1") == [row]
    assert desk.rows(PLACE, "id = 1") == [(2.0, *HELD, '["note"]')]
    assert desk.attempts() == []
    assert [rows[0][0] for rows in desk.manifest.recorded(1, 2)] == [1], "its digest is right"
    desk.journal.commit()
    assert desk.journal.pending == 0


def test_recorded_failure_is_an_attempt_too(desk: Desk) -> None:
    first, second = opened(desk, task(0), task(1))
    desk.clock.wall_s += 10
    error = TaskError("ValueError", "no")
    desk.do(done(run(desk, first), None, error), done(run(desk, second)))
    assert desk.rows("state, value, error") == [
        ("failed", None, error.to_text()), ("completed", "1", None)
    ]  # fmt: skip
    assert desk.attempts() == [
        (1, 1, "failed", "ValueError", "detail", WALL + 8, WALL + 10, *HELD)
    ]  # fmt: skip


def test_block_of_values_has_the_rows_of_single_ones(desk: Desk) -> None:
    tasks = opened(desk, *(task(index) for index in range(3)))
    for one in tasks:
        run(desk, one)
    desk.clock.wall_s += 10
    desk.do(RecordValues(tasks[:2], ["5", "6"], [1_000_000, 3_000_000], WORKER))
    assert desk.journal.pending == 2
    assert desk.rows("state, value, queued_at, started_at, finished_at, attempt") == [
        ("completed", "5", WALL, WALL + 6, WALL + 7, 1),
        ("completed", "6", WALL, WALL + 7, WALL + 10, 1),
        ("running", None, WALL, WALL + 10, None, 1),
    ]
    assert desk.rows("key, function, args", "id < 3") == [(t.key, "m:f", "{}") for t in tasks[:2]]
    assert desk.rows("worker_pid, worker_started, node, gpu", "id < 3") == [HELD, HELD]
    desk.journal.flush()
    assert len(desk.rows()) == 3, "a block is written once"


def test_values_of_a_later_round_have_the_rows_behind_those_of_the_first(desk: Desk) -> None:
    opened(desk, task(0), task(1))
    tasks = tuple(task(index, round_=1) for index in range(5))
    desk.do(OpenRound("", 1, 5), queued("", 1, tasks))
    assert desk.rounds() == [(1, 2, 0, 0, 0), (3, 5, 0, 0, 0)]
    for one in tasks:
        run(desk, one)
    watched = Watched()
    desk.journal.outlook = watched  # type: ignore[assignment]
    desk.clock.wall_s += 10
    desk.do(RecordValues(tasks[1:3], ["1", "2"], [1_000_000, 1_000_000], WORKER))
    desk.do(RecordValues(tasks[4:], ["4"], [2_000_000], WORKER))
    desk.do(done(tasks[3], None, TaskError("E", "no")))
    assert desk.rows("id, value, started_at, finished_at, run_s", "state = 'completed'") == [
        (4, "1", WALL + 8, WALL + 9, 1.0),
        (5, "2", WALL + 9, WALL + 10, 1.0),
        (7, "4", WALL + 8, WALL + 10, 2.0),
    ]
    assert [row[0] for row in desk.attempts()] == [6]
    assert watched.offered == [("m:f", ["1", "2"]), ("m:f", ["4"])]


def test_commits_are_those_of_the_manifest(desk: Desk) -> None:
    before = desk.journal.commits
    desk.journal.commit()
    assert desk.journal.commits == before + 1 == desk.manifest.commits


def test_rows_of_functions_end_where_tasks_are_not_shown_any_more(desk: Desk) -> None:
    opened(desk, *(task(index) for index in range(VISIBLE - 1, VISIBLE + 2)), size=VISIBLE + 9)
    assert desk.rows("id - 1") == [(VISIBLE - 1,)]
    desk.do(queued("", 0, tuple(task(index) for index in range(VISIBLE + 5, VISIBLE + 9))))
    assert desk.rows("id - 1") == [(VISIBLE - 1,)]
    desk.do(queued("", 0, (task(VISIBLE + 3, COMMAND),)))
    assert desk.rows("id - 1") == [(VISIBLE - 1,), (VISIBLE + 3,)]


def test_requeued_task_waits_again_with_its_attempt(desk: Desk) -> None:
    first, second, third = opened(desk, task(0), task(1), task(2))
    for one in (first, second, third):
        run(desk, one)
    desk.journal.flush()
    desk.clock.monotonic_s += 9
    desk.clock.wall_s += 10
    desk.do(Requeue(first, "worker-died", "signal 9", MONOTONIC + 5))
    desk.do(Requeue(second, "node-lost", "", None))
    assert desk.rows("state, attempt") == [("queued", 1), ("queued", 1), ("running", 1)]
    wall = WALL + 10
    assert desk.attempts() == [
        (1, 1, "requeued", "worker-died", "signal 9", wall - 4, wall, *HELD),
        (2, 1, "requeued", "node-lost", "", None, wall, *HELD),
    ]


def test_later_tasks_of_a_round_have_rows_only_where_they_are_commands(desk: Desk) -> None:
    tasks = [task(i, COMMAND if i % 2 else "m:f") for i in range(VISIBLE - 2, VISIBLE + 2)]
    opened(desk, *tasks, size=VISIBLE + 4)
    assert desk.rows("id - 1") == [(VISIBLE - 2,), (VISIBLE - 1,), (VISIBLE + 1,)]
    later = [task(VISIBLE + 2), task(VISIBLE + 3, COMMAND)]
    desk.do(queued("", 0, tuple(later)))
    assert desk.rows("id - 1", f"id > {VISIBLE + 2}") == [(VISIBLE + 3,)]


def test_first_later_task_has_no_row(desk: Desk) -> None:
    opened(desk, task(VISIBLE), task(VISIBLE + 1, COMMAND), size=VISIBLE + 2)
    assert desk.rows("id - 1") == [(VISIBLE + 1,)]


def test_code_of_tasks_is_used_once_and_of_commands_every_hook(desk: Desk) -> None:
    hooks = task(3, COMMAND)
    hooks.args = '{"collect":"m:c","on_broken":"m:b","prepare":"m:p"}'
    kind = TaskKind("", 0, "m:f", Limits(), ())
    same = [LiveTask(kind, index, f"{index:064x}", "{}") for index in range(2)]
    opened(desk, *same, task(2, "m:g"), hooks, task(4, COMMAND))
    names = ["m:f", "m:g", "m:p", "m:c", "m:b"]
    assert [*dict.fromkeys(desk.sources.used)] == [(name, name) for name in names]
    assert desk.sources.used.count(("m:f", "m:f")) == 1
    desk.journal.use("f", "m:f")
    assert desk.sources.used[-1] == ("f", "m:f")
    assert desk.journal.values._paths == {"f": "m:f"}


def test_code_of_every_command_of_a_kind_is_used(desk: Desk) -> None:
    kind = TaskKind("", 0, COMMAND, Limits(), ())
    args = ['{"collect":"m:a","prepare":null}', '{"collect":"m:b","prepare":null}']
    opened(desk, *(LiveTask(kind, n, f"{n:064x}", text) for n, text in enumerate(args)))
    assert desk.sources.used == [("m:a", "m:a"), ("m:b", "m:b")]


def test_staged_object_is_adopted_with_its_result(desk: Desk) -> None:
    [first] = opened(desk, task(0))
    desk.objects.staging.mkdir(parents=True)
    (desk.objects.staging / "s1").write_bytes(b"content")
    digest = hashlib.sha256(b"content").hexdigest()
    desk.do(replace(done(run(desk, first)), staged=(Staged(digest, "s1"),)))
    assert desk.objects.read(digest) == b"content"
    assert not (desk.objects.staging / "s1").exists()


def test_rebuilt_round_learns_its_size_and_may_not_be_smaller_than_what_is_recorded(
    desk: Desk,
) -> None:
    row = desk.manifest.add_round(ROOT_LANE, 0, "tasks", None)
    row.recorded = 2
    desk.manifest.update_round(row)
    with pytest.raises(ReplayDiverged, match="2 results recorded, 1 tasks"):
        desk.do(OpenRound("", 0, 1))
    desk.do(OpenRound("", 0, 2))
    assert desk.rounds() == [(1, 2, 2, 0, 0)]


def test_event_without_detail_has_an_empty_one(desk: Desk) -> None:
    desk.journal.event("node-lost")
    assert desk.manifest.query("SELECT kind, task, detail FROM events") == [("node-lost", None, "")]


def test_next_session_recalls_by_place_also_behind_tasks_without_a_row(desk: Desk) -> None:
    opened(desk, task(0))
    later = [task(VISIBLE + index, round_=1) for index in range(2)]
    desk.do(OpenRound("", 1, VISIBLE + 2), queued("", 1, tuple(later)))
    desk.do(done(run(desk, later[1])))
    desk.next_session()
    opened(desk, task(0))
    again = tuple(task(VISIBLE + index, round_=1) for index in range(2))
    recalled = desk.do(OpenRound("", 1, VISIBLE + 2), queued("", 1, again))
    assert recalled == [Recalled("", 1, VISIBLE + 1, "1", None)]


def test_next_session_recalls_what_is_final_and_queues_what_was_running(desk: Desk) -> None:
    tasks = opened(desk, *(task(index) for index in range(4)))
    error = TaskError("E", "no")
    desk.do(done(run(desk, tasks[0])), done(run(desk, tasks[1]), None, error))
    run(desk, tasks[2])
    desk.next_session()
    desk.clock.wall_s += 5
    again = tuple(task(index) for index in range(4))
    recalled = desk.do(OpenRound("", 0, 4), queued("", 0, again))
    assert recalled == [Recalled("", 0, 0, "1", None), Recalled("", 0, 1, None, error)]
    assert [one.attempt for one in again] == [1, 1, 1, 0]
    assert desk.rows("state, queued_at") == [
        ("completed", WALL), ("failed", WALL), ("queued", WALL), ("queued", WALL)
    ]  # fmt: skip
    assert desk.attempts()[1:] == [
        (3, 1, "requeued", "coordinator-died", "", None, WALL + 5, None, None, None, None)
    ]  # fmt: skip
    desk.do(done(run(desk, again[3])))
    assert desk.rows("queued_at, finished_at", "id = 4") == [(WALL, WALL + 5)]


def test_rows_of_an_earlier_session_are_read_by_their_place_in_the_round(desk: Desk) -> None:
    opened(desk, task(0))
    tasks = [task(index, round_=1) for index in range(4)]
    desk.do(OpenRound("", 1, 4), queued("", 1, tuple(tasks)))
    for one in tasks[:3]:
        desk.do(done(run(desk, one), str(one.index)))
    desk.do(Advance("", 1, 3))
    desk.journal.flush()
    assert desk.journal.final_rows("", 1, 0, 4) == [], "of this session: nothing to look for"
    results = desk.journal.fetch("", 1, 1, 3)
    assert [(r.index, r.key, r.value) for r in results] == [
        (1, tasks[1].key, 1), (2, tasks[2].key, 2)
    ]  # fmt: skip
    desk.next_session()
    desk.do(OpenRound("", 0, 1), OpenRound("", 1, 4))
    rows = [(one.key, "m:f", "{}", 0) for one in tasks[1:3]]
    assert desk.journal.final_rows("", 1, 1, 3) == rows
    assert desk.journal.final_rows("", 1, 2, 4) == rows[1:], "up to the first that is not final"


def test_round_advances_and_only_forward(desk: Desk) -> None:
    opened(desk, *(task(index) for index in range(3)))
    desk.do(Advance("", 0, 2))
    assert desk.rounds() == [(1, 3, 2, 0, 0)]
    desk.do(Advance("", 0, 1))
    assert desk.rounds() == [(1, 3, 2, 0, 0)]


def test_stopped_round_drops_and_cancels_what_is_beyond(desk: Desk) -> None:
    tasks = opened(desk, *(task(index) for index in range(4)))
    for one in tasks[:3]:
        run(desk, one)
    desk.do(RecordValues(tasks[:2], ["1", "2"], [1, 1], WORKER), done(tasks[2]))
    desk.journal.flush()
    desk.do(Advance("", 0, 1), Close("", 0, 1, stopped=True))
    assert desk.rows("state") == [("completed",), ("dropped",), ("dropped",), ("cancelled",)]
    assert desk.rounds() == [(1, 4, 1, 1, 1)]


def test_round_that_ends_whole_drops_nothing(desk: Desk) -> None:
    tasks = opened(desk, task(0), task(1))
    for one in tasks:
        desk.do(done(run(desk, one)))
    calls: list[tuple[int, int]] = []
    desk.manifest.drop = lambda first, end: calls.append((first, end))  # type: ignore[method-assign]
    desk.do(Close("", 0, 2, stopped=False))
    assert calls == []
    assert desk.rounds() == [(1, 2, 2, 1, 0)]


def test_closed_round_is_closed_the_same_way_again(desk: Desk) -> None:
    tasks = opened(desk, task(0), task(1))
    for one in tasks:
        desk.do(done(run(desk, one)))
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
    asked: list[int] = []
    answer_of = desk.manifest.lane_answer
    desk.manifest.lane_answer = lambda lane: (asked.append(lane), answer_of(lane))[1]  # type: ignore[method-assign]
    desk.do(OpenRound("", 1, 1), OpenRound("", 2, 1))
    assert asked == [], "the first round has shown that nothing is recorded"


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
    desk.journal.code_is_new = True
    opened(desk, *(task(index, "m:g", key=f"{index:063x}f") for index in range(3)))
    assert desk.rows("state, function") == [("queued", "m:g")] * 3
    events = desk.manifest.query("SELECT at, monotonic, kind, task, detail FROM events")
    detail = "lane /, round 0: the new code differs"
    assert events == [(WALL, MONOTONIC, "round-forgotten", None, detail)]


def test_new_code_may_ask_for_other_tasks_of_the_same_round(desk: Desk) -> None:
    tasks = opened(desk, task(0), task(1))
    desk.do(done(run(desk, tasks[0])), done(run(desk, tasks[1])))
    desk.next_session()
    desk.journal.code_is_new = True
    other = task(1, "m:g", key="f" * 64)
    recalled = desk.do(OpenRound("", 0, 2), queued("", 0, (task(0), other)))
    assert recalled == [Recalled("", 0, 0, "1", None)]
    assert desk.rows("state, function") == [("completed", "m:f"), ("queued", "m:g")]


def test_new_code_that_asks_for_another_first_task_keeps_the_others(desk: Desk) -> None:
    tasks = opened(desk, task(0), task(1))
    desk.do(done(run(desk, tasks[0])), done(run(desk, tasks[1])))
    desk.next_session()
    desk.journal.code_is_new = True
    other = task(0, "m:g", key="f" * 64)
    recalled = desk.do(OpenRound("", 0, 2), queued("", 0, (other, task(1))))
    assert recalled == [Recalled("", 0, 1, "1", None)]
    assert desk.rows("state, function") == [("queued", "m:g"), ("completed", "m:f")]


def test_new_code_may_not_undo_what_was_decided(desk: Desk) -> None:
    opened(desk, task(0), task(1))
    desk.do(Advance("", 0, 1))
    desk.next_session()
    desk.journal.code_is_new = True
    with pytest.raises(ReplayDiverged):
        desk.do(OpenRound("", 0, 3))


class Watched:
    """Stands for somebody who watches: notes what is offered."""

    def __init__(self) -> None:
        self.offered: list[tuple[str, list[str]]] = []
        self.searched: list[list[tuple[str, str]]] = []

    def offer(self, function: str, values: object) -> None:
        self.offered.append((function, list(values)))  # type: ignore[call-overload]

    def find_best(self, recorded: object) -> None:
        self.searched.append(sorted(recorded()))  # type: ignore[operator]


def test_values_are_offered_to_who_watches_and_searched_where_some_were_dropped(desk: Desk) -> None:
    watched = Watched()
    desk.journal.outlook = watched  # type: ignore[assignment]
    tasks = opened(desk, *(task(index) for index in range(4)))
    desk.do(done(run(desk, tasks[0])), done(run(desk, tasks[1]), None, TaskError("E", "no")))
    desk.do(RecordValues(tasks[2:3], ["9"], [1], WORKER))
    assert watched.offered == [("m:f", ["1"]), ("m:f", ["9"])]
    plan = Plan()
    desk.do(Declare("", plan), Declare("/a", plan))
    assert watched.searched == [[("m:f", "1"), ("m:f", "9")]], "for the plan of the root only"
    assert desk.manifest.plans() == {"": plan.to_text(), "/a": plan.to_text()}
    desk.do(Advance("", 0, 1), Close("", 0, 1, stopped=True))
    assert watched.searched[1:] == [[("m:f", "1")]]


def test_forgotten_tasks_are_not_read_from_memory(desk: Desk) -> None:
    first, _ = opened(desk, task(0), task(1))
    desk.do(done(run(desk, first)))
    desk.journal.flush()
    assert len([*desk.manifest.recorded(1, 2)]) == 1
    desk.manifest.forget_tasks(1, 2)
    assert [*desk.manifest.recorded(1, 2)] == []

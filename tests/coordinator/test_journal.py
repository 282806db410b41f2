"""The journal's rows: the contents of the manifest after each command."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from tests.coordinator.desks import (
    HELD,
    MONOTONIC,
    PLACE,
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
    Close,
    Declare,
    LiveTask,
    OpenRound,
    RecordValues,
    Requeue,
    TaskKind,
)
from weft.errors import ReplayDiverged
from weft.model.attempts import Staged
from weft.model.plan import Plan
from weft.model.results import TaskError
from weft.model.tasks import COMMAND, Limits
from weft.storage.manifest import ROOT_LANE


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
    for queued_task in tasks:
        run(desk, queued_task)
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
    for queued_task in tasks:
        run(desk, queued_task)
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
    for queued_task in (first, second, third):
        run(desk, queued_task)
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


class Watched:
    """A fake watcher that records what it is offered."""

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

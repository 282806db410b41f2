"""The loop on real storage: when it commits, when it checks deadlines, how it stops."""

from __future__ import annotations

from typing import ClassVar

import pytest

import weft
from tests.support.sessions import InProcess, Sessions, double
from weft.coordinator import loop
from weft.coordinator.dispatch import Dispatch
from weft.coordinator.policy import Policy
from weft.errors import BugError, SearchInvalid, WorldError
from weft.model.attempts import Lost, NodeEvent, Started, Worker
from weft.storage.disk import Disk
from weft.storage.manifest import Manifest
from weft.storage.reserve import Reserve


@pytest.fixture
def sessions(tmp_path):
    return Sessions(tmp_path)


class CountingDisk(Disk):
    """Records the number of results processed at each commit."""

    def __init__(self):
        super().__init__()
        self.commits = 0

    def step(self, name):
        self.commits += name == "commit"


def lazy_body(size):
    def body():
        results = yield weft.lazy(size, double)
        return len(results)

    return body


def round_body(size):
    def body():
        yield [double(i) for i in range(size)]

    return body


class Timeless(InProcess):
    """A backend so fast that the clock stands still."""

    def poll(self, timeout_s):
        before = self.clock.now_s
        events = InProcess.poll(self, timeout_s)
        self.clock.now_s = before
        return events


def test_commit_results_in_no_time_at_a_thousand_and_at_the_end(sessions, monkeypatch):
    monkeypatch.setattr(loop, "COMMIT_RESULTS", 10)
    disk = CountingDisk()
    sessions.go(round_body(35), disk=disk, backend_type=Timeless)
    # create, queue, three times ten results, the answer, the seal
    assert disk.commits == 1 + 1 + 3 + 1 + 1


def test_commit_slow_results_every_fifty_milliseconds(sessions):
    disk = CountingDisk()
    sessions.go(round_body(35), disk=disk)  # 10 ms each
    assert 4 <= disk.commits - (1 + 1 + 1 + 1) <= 6


def test_commit_lazy_round_releases_what_it_made(sessions):
    sessions.go(lazy_body(40))
    assert sessions.finished


class HungAndBusy(InProcess):
    """Task 0 hangs forever; the others end one by one without a pause."""

    cancelled: ClassVar[list[int]] = []
    """The number of results received at each cancel."""

    def poll(self, timeout_s):
        hung = [a for a in self.held if a.index == 0]
        if hung and not self.ran:
            self.ran.append(("hung", 0, 0))
            return [Started(hung[0].ticket, Worker(pid=1))]
        if not [a for a in self.held if a.index]:
            self.clock.now_s += timeout_s
            return []
        self.pick = lambda held: next(i for i, a in enumerate(held) if a.index)
        return InProcess.poll(self, timeout_s)

    def cancel(self, tickets):
        self.cancelled.append(len(self.ran))
        InProcess.cancel(self, tickets)


def test_timeout_amid_a_stream_of_results_is_judged_at_its_deadline(sessions):
    """Results every 10 ms must not shield a hung task from its limit of one second."""
    HungAndBusy.cancelled.clear()
    sessions.policy = Policy(timeout_s=1.0)
    sessions.go(round_body(400), backend_type=HungAndBusy)
    [results_before] = HungAndBusy.cancelled
    assert 90 <= results_before <= 110
    assert b'"type":"timeout"' in sessions.ledger


class LateButIn(InProcess):
    """The result has arrived when the deadline is checked, but only the second poll returns it."""

    def poll(self, timeout_s):
        [a] = self.held
        if not self.ran:
            self.ran.append(("started", 0, 0))
            return [Started(a.ticket, Worker(pid=1))]
        if len(self.ran) == 1:
            self.ran.append(("late", 0, 0))
            self.clock.now_s += 50
            return []
        return InProcess.poll(self, timeout_s)


def test_timeout_result_that_is_in_counts_before_the_deadline(sessions):
    sessions.policy = Policy(timeout_s=1.0)
    sessions.go(round_body(1), backend_type=LateButIn)
    assert b'"type":"timeout"' not in sessions.ledger


class LostThenSlow(InProcess):
    """The first attempt starts and is lost; the next is slow to start."""

    waits: ClassVar[list[float]] = []

    def poll(self, timeout_s):
        [a] = self.held
        self.waits.append(timeout_s)
        self.clock.now_s += timeout_s
        if len(self.waits) == 1:
            return [Started(a.ticket, Worker(pid=1))]
        if len(self.waits) == 2:
            self.held.clear()
            return [Lost(a.ticket, "gone")]
        return [] if len(self.waits) < 40 else InProcess.poll(self, timeout_s)


def test_wait_after_a_start_was_lost_before_its_commit_does_not_spin(sessions):
    """The lost start is committed in due time, and then the loop may sleep."""
    LostThenSlow.waits.clear()
    sessions.go(round_body(1), backend_type=LostThenSlow)
    assert LostThenSlow.waits.count(0.0) <= 2
    assert LostThenSlow.waits[-1] == loop.POLL_S
    manifest = Manifest.open(sessions.folder.manifest, Disk(), read_only=True)
    columns = "outcome, reason, detail, started_at, finished_at, worker_pid"
    [attempt] = manifest.query(f"SELECT {columns} FROM attempts")
    manifest.close()
    assert attempt[:3] == ("requeued", "gone", "")
    assert 0 < attempt[4] - attempt[3] <= LostThenSlow.waits[1] + 1e-6, "as long as it ran"
    assert attempt[5] == 1


class Unequipped(InProcess):
    """A machine that lacks something a task needs; the loss takes its slot away."""

    slot = 1

    def capacity(self):
        return [self.slot]

    def poll(self, timeout_s):
        a, self.slot = self.held.pop(), -1
        return [Started(a.ticket, Worker(pid=1)), Lost(a.ticket, "no compiler", cause="machine")]


def test_losses_that_leave_no_slot_for_a_task_are_on_record(sessions):
    with pytest.raises(WorldError, match=r"no CPU slot is left .*: no compiler"):
        sessions.go(round_body(1), backend_type=Unequipped)
    manifest = Manifest.open(sessions.folder.manifest, Disk(), read_only=True)
    rows = manifest.query("SELECT outcome, reason FROM attempts")
    manifest.close()
    assert rows == [("requeued", "no compiler")]


class Closing(InProcess):
    """Records how many tasks it held when it was closed."""

    closed: ClassVar[list[int]] = []

    def close(self):
        self.closed.append(len(self.held))
        InProcess.close(self)


def test_stop_requeues_and_checkpoints(sessions):
    Closing.closed.clear()
    executed = sessions.go(round_body(10), stop_after=3, backend_type=Closing)
    assert len(executed) == 3
    assert Closing.closed == [3]  # running tasks end before anything is written
    manifest = Manifest.open(sessions.folder.manifest, Disk(), read_only=True)
    try:
        states = [state for (state,) in manifest.query("SELECT state FROM tasks ORDER BY id")]
        events = [kind for (kind,) in manifest.query("SELECT kind FROM events")]
    finally:
        manifest.close()
    assert states == ["completed"] * 3 + ["queued"] * 7
    assert events == ["interrupted"]
    assert sessions.folder.checkpoint.read_text().splitlines()[1] == "4"


class Starting(InProcess):
    """Reports that a task has begun, and never completes it."""

    def poll(self, timeout_s):
        self.clock.now_s += 0.01
        self.ran.append(("", 0, self.held[0].index))
        return [Started(self.held[0].ticket, Worker(pid=1))]


def test_stop_notes_the_attempts_that_it_ends(sessions):
    sessions.go(round_body(3), stop_after=1, backend_type=Starting)
    manifest = Manifest.open(sessions.folder.manifest, Disk(), read_only=True)
    try:
        attempts = manifest.query("SELECT task, outcome, reason, worker_pid FROM attempts")
    finally:
        manifest.close()
    assert attempts == [(1, "requeued", "interrupted", 1)]


def test_early_stop_drops_what_was_finished_beyond_it(sessions):
    def body():
        tasks = [double(i) for i in range(6)]
        yield weft.round(tasks, until=lambda r: r.index == 1)

    sessions.slots, sessions.pick = 4, lambda held: -1  # task 3 ends first, then its replacement
    sessions.go(body)
    manifest = Manifest.open(sessions.folder.manifest, Disk(), read_only=True)
    try:
        states = [state for (state,) in manifest.query("SELECT state FROM tasks ORDER BY id")]
    finally:
        manifest.close()
    assert states == ["completed"] * 2 + ["dropped"] * 4


def test_watcher_sees_progress_grow(sessions):
    class Watcher:
        def __init__(self):
            self.seen = []

        def update(self, counts):
            self.seen.append(counts.finished)

    watcher = Watcher()
    sessions.go(round_body(5), watcher=watcher)
    assert watcher.seen == [1, 2, 3, 4, 5]


def test_planted_lost_tasks_are_a_named_bug_not_a_hang(sessions, monkeypatch):
    monkeypatch.setattr(Dispatch, "_let_go", lambda self, ranges: ranges.clear())
    with pytest.raises(BugError, match="waits for something that nobody runs"):
        sessions.go(round_body(2))


class OneLong(InProcess):
    """Runs its only task for two seconds, recording meanwhile what an observer would see."""

    waits: ClassVar[list[float]] = []
    committed: ClassVar[list[str]] = []
    look: ClassVar = None

    def poll(self, timeout_s):
        if not self.waits:
            self.waits.append(timeout_s)
            return [Started(self.held[0].ticket, Worker(pid=7))]
        self.waits.append(timeout_s)
        self.clock.now_s += max(timeout_s, 1e-3)
        self.committed.append(OneLong.look())
        if self.clock.now_s < 1002.0:
            return []
        return InProcess.poll(self, timeout_s)[1:]


def test_start_alone_is_committed_after_a_while_without_spinning(sessions):
    """A long task must not look queued until some other result arrives."""

    def look():
        manifest = Manifest.open(sessions.folder.manifest, Disk(), read_only=True)
        [(state,)] = manifest.query("SELECT state FROM tasks")
        manifest.close()
        return state

    OneLong.waits, OneLong.committed, OneLong.look = [], [], staticmethod(look)
    sessions.go(round_body(1), backend_type=OneLong)
    assert OneLong.committed[0] == "queued"
    assert OneLong.committed[-1] == "running"
    assert len(OneLong.waits) < 20


class Telling(InProcess):
    """A backend that loses a node before anything else happens."""

    told = False

    def poll(self, timeout_s):
        if self.told:
            return InProcess.poll(self, timeout_s)
        self.told = True
        return [NodeEvent("node-lost", "rig-a")]


def test_what_becomes_of_a_node_is_an_event_of_the_run(sessions):
    sessions.go(round_body(2), backend_type=Telling)
    assert sessions.finished
    manifest = Manifest.open(sessions.folder.manifest, Disk(), read_only=True)
    rows = manifest.query("SELECT kind, detail FROM events")
    manifest.close()
    assert rows == [("node-lost", "rig-a")]


class Scarce(Reserve):
    """Free space that is short from the third check on."""

    looks, released = 0, 0

    def shortage(self):
        self.looks += 1
        return "short of space: 3 KiB free" if self.looks >= 3 else ""

    def release(self):
        self.released += 1
        super().release()


def test_shortage_before_a_commit_stops_the_run_which_goes_on_to_the_same_head(tmp_path):
    whole = Sessions(tmp_path / "whole")
    whole.go(round_body(40))
    sessions = Sessions(tmp_path / "short")
    sessions.folder.path.mkdir(parents=True)
    reserve = Scarce(sessions.folder.path)
    Closing.closed.clear()
    executed = sessions.go(round_body(40), reserve=reserve, backend_type=Closing)
    assert len(Closing.closed) >= reserve.released, "what runs ends before the reserve is given up"
    assert (sessions.machine.broken, sessions.machine.exhausted) == (
        "short of space: 3 KiB free",
        True,
    )
    assert reserve.released >= 1
    assert not sessions.finished
    executed_later = sessions.go(round_body(40), reserve=Reserve(sessions.folder.path))
    assert sorted(executed + executed_later) == sorted(
        set(executed + executed_later)
    )  # every received result is committed
    assert sessions.finished
    assert sessions.ledger == whole.ledger


def raising_body():
    """The search itself raises after receiving all results of a round."""
    yield [double(i) for i in range(3)]
    raise KeyError("no answer")


def raising_until_body():
    """The `until` rule raises on the second result."""
    yield weft.round([double(i) for i in range(3)], until=lambda r: 0 // (1 - r.index))


@pytest.mark.parametrize(("body", "done"), [(raising_body, 3), (raising_until_body, 2)])
def test_search_that_raises_costs_no_result(sessions, body, done):
    with pytest.raises(SearchInvalid):
        sessions.go(body, backend_type=Timeless)
    assert sessions.go(round_body(3)) == [("", 0, index) for index in range(done, 3)]
    assert sessions.finished

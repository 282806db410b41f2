"""Resume is replay: two sessions of one run, the second with a changed search."""

from __future__ import annotations

import json

import pytest

import weft
from tests.support.sessions import InProcess, Sessions, double, draw, keep, triple
from weft.coordinator.policy import Policy
from weft.errors import ReplayDiverged
from weft.model.attempts import Started, Worker
from weft.storage.disk import Disk
from weft.storage.manifest import Manifest
from weft.storage.objects import ObjectStore


@pytest.fixture
def sessions(tmp_path):
    return Sessions(tmp_path)


def one_round(tasks):
    def body():
        results = yield tasks
        return len(results)

    return body


def lane(tasks, answer=0):
    yield tasks
    return answer


def diverges(sessions, body, message, *, code_is_new=False):
    """The changed search is refused, nothing changes, and the old search still finishes."""
    before = files(sessions)
    with pytest.raises(ReplayDiverged, match=message) as caught:
        sessions.go(body, code_is_new=code_is_new)
    assert "restore the old code" in caught.value.hint
    assert files(sessions) == before


def files(sessions):
    folder = sessions.folder
    opened = sessions.open()
    try:
        tables = ("lanes", "rounds", "tasks", "attempts")
        rows = [opened.manifest.query(f"SELECT * FROM {table}") for table in tables]
    finally:
        opened.writer.ledger.close()
        opened.manifest.close()
    return rows, folder.ledger.read_bytes(), folder.checkpoint.read_bytes()


# -- refused ------------------------------------------------------------------------------


def test_replay_other_argument_diverges_with_both_calls(sessions):
    sessions.go(one_round([double(1), double(2), double(3)]), stop_after=2)
    diverges(
        sessions,
        one_round([double(1), double(5), double(3)]),
        r"lane /, round 0: task 1 was \S+:double\(\{\"x\":2\}\), now \S+:double\(\{\"x\":5\}\)",
    )


def test_replay_other_argument_of_a_queued_task_diverges(sessions):
    sessions.go(one_round([double(1), double(2), double(3)]), stop_after=1)
    diverges(sessions, one_round([double(1), double(2), double(9)]), r"round 0: task 2 was")


def test_replay_other_function_diverges(sessions):
    sessions.go(one_round([double(1), double(2)]), stop_after=1)
    diverges(sessions, one_round([triple(1), double(2)]), r"task 0 was \S+:double.* now \S+:triple")


@pytest.mark.parametrize("size", [0, 2, 4])
def test_replay_other_round_size_diverges(sessions, size):
    sessions.go(one_round([double(i) for i in range(3)]), stop_after=1)
    diverges(
        sessions,
        one_round([double(i) for i in range(size)]),
        f"lane /, round 0: 3 tasks recorded, {size} tasks asked",
    )


def test_replay_lanes_instead_of_tasks_diverges(sessions):
    sessions.go(one_round([double(1), double(2)]), stop_after=1)
    body = one_round(weft.lanes({"a": lane([double(1)]), "b": lane([])}))
    diverges(sessions, body, "lane /, round 0: the lanes differ from those recorded")


def test_replay_empty_lanes_instead_of_tasks_diverges(sessions):
    sessions.go(one_round([double(1), double(2)]), stop_after=1)
    diverges(
        sessions, one_round(weft.lanes({})), "lane /, round 0: the lanes differ from those recorded"
    )


def test_replay_tasks_instead_of_lanes_diverges(sessions):
    sessions.go(one_round(weft.lanes({"a": lane([double(1), double(2)])})), stop_after=1)
    diverges(sessions, one_round([double(1)]), "lane /, round 0: 1 lanes recorded, 1 tasks asked")


@pytest.mark.parametrize("names", ["b", "ba", "abc", "a", ""])
def test_replay_other_lane_names_diverge(sessions, names):
    def two(names):
        return one_round(weft.lanes({n: lane([double(i)]) for i, n in enumerate(names)}))

    sessions.go(two("ab"), stop_after=1)
    diverges(sessions, two(names), "lane /, round 0: the lanes differ from those recorded")


def test_replay_other_lane_answer_diverges(sessions):
    def two(answer):
        def body():
            lanes = {"a": lane([double(1)], answer), "b": lane([double(i) for i in range(9)])}
            return (yield weft.lanes(lanes))

        return body

    sessions.go(two(1), stop_after=4)
    diverges(sessions, two(2), r'lane /a, round 1: answer .*"value":1.* recorded, now .*"value":2')


def test_replay_other_root_answer_diverges(sessions):
    def body(answer):
        def search():
            yield [double(1)]
            return answer

        return search

    sessions.go(body("old"), sealed=False)  # killed between the answer and the seal
    diverges(sessions, body("new"), r"lane /, round 1: answer .*old.* recorded, now .*new")


def test_replay_search_ending_before_a_recorded_round_diverges(sessions):
    def body(rounds):
        def search():
            for i in range(rounds):
                yield [double(i), double(i + 1)]

        return search

    sessions.go(body(3), stop_after=5)
    diverges(sessions, body(2), "lane /, round 2: a further round is recorded, the search ended")
    diverges(
        sessions,
        body(2),
        "lane /, round 2: a further round is recorded, the search ended",
        code_is_new=True,  # one of its results was accepted and is in the ledger
    )


@pytest.mark.parametrize("kind", ["tasks", "lanes"])
def test_replay_lane_going_on_after_its_recorded_answer_diverges(sessions, kind):
    def two(more):
        def quick():
            yield [double(1)]
            if more:
                yield [double(2)] if kind == "tasks" else weft.lanes({"x": lane([])})
            return 5

        def body():
            return (yield weft.lanes({"a": quick(), "b": lane([double(i) for i in range(9)])}))

        return body

    sessions.go(two(more=False), stop_after=4)
    diverges(
        sessions, two(more=True), r"lane /a, round 1: the lane ended here, now it asks for more"
    )


def until_round(stop, size=8):
    def body():
        tasks = [double(i) for i in range(size)]
        results = yield weft.round(tasks, until=lambda r: r.index == stop)
        yield [double(100), double(101)]
        return len(results)

    return body


@pytest.mark.parametrize("stop", [1, 2, 5, 99])
def test_replay_early_stop_at_another_place_diverges(sessions, stop):
    sessions.go(until_round(3), stop_after=5)
    diverges(sessions, until_round(stop), r"lane /, round 0: it ended after 4 results, now ")


def test_replay_early_stop_before_what_an_open_round_recorded_diverges(sessions):
    sessions.go(until_round(7), stop_after=5)
    diverges(
        sessions, until_round(2), "lane /, round 0: 5 results are recorded, now it ends after 3"
    )


def test_replay_smaller_round_than_a_rebuilt_ledger_has_diverges(sessions):
    """A ledger alone does not contain the size of an unfinished round, but it has five results."""
    sessions.go(one_round([double(i) for i in range(8)]), stop_after=5)
    sessions.folder.manifest.unlink()
    with pytest.raises(ReplayDiverged, match="round 0: 5 results recorded, 3 tasks asked"):
        sessions.go(one_round([double(i) for i in range(3)]))
    assert len(sessions.go(one_round([double(i) for i in range(8)]))) == 3


def test_replay_lazy_round_other_task_diverges(sessions):
    def body(offset):
        def search():
            results = yield weft.lazy(20, lambda i: double(i + (offset if i == 9 else 0)))
            return sum(r.value for r in results)

        return search

    sessions.go(body(0), stop_after=15)
    diverges(sessions, body(1000), r"lane /, round 0: task 9 was \S+\(\{\"x\":9\}\), now ")


# -- accepted -----------------------------------------------------------------------------


def whole_search():
    results = yield [double(i) for i in (1, 13, 3)]
    state = sum(r.value for r in results if r.ok)
    results = yield weft.round([double(state + i) for i in range(6)], until=lambda r: r.index == 2)
    answers = yield weft.lanes({"a": lane([triple(1)], 1), "b": lane([draw(2)], 2)})
    scan = yield weft.lazy(12, double)
    return [state, len(results), answers, [r.value for r in scan]]


TASKS = 3 + 3 + 2 + 12


@pytest.mark.parametrize("stop_after", range(1, TASKS + 2, 2))
def test_replay_same_search_goes_on_and_runs_nothing_twice(tmp_path, stop_after):
    calm = Sessions(tmp_path / "calm", slots=1)
    calm.go(whole_search)
    sessions = Sessions(tmp_path / "two", slots=1)
    first = sessions.go(whole_search, stop_after=stop_after)
    second = sessions.go(whole_search)
    assert len(first) == stop_after if stop_after < TASKS else TASKS
    assert not set(first) & set(second)
    assert len(first + second) == TASKS
    assert sessions.ledger == calm.ledger


def test_seeds_same_for_other_retries_limits_and_order(tmp_path):
    """Limits are part of the genesis and thus of the keys, but no seed depends on them."""
    ledgers = []
    for i, (slots, pick) in enumerate(
        [(1, lambda h: 0), (4, lambda h: -1), (3, lambda h: len(h) // 2)]
    ):
        sessions = Sessions(tmp_path / str(i), slots=slots, pick=pick)
        sessions.go(whole_search)
        ledgers.append(sessions.ledger)
    assert len(set(ledgers)) == 1
    other = Sessions(tmp_path / "limits", policy=Policy(retries=5, timeout_s=9.0))
    other.go(whole_search)
    assert results_of(other.ledger) == results_of(ledgers[0])
    assert other.ledger != ledgers[0]


def results_of(ledger):
    bodies = [json.loads(line)["body"] for line in ledger.splitlines()]
    return [body for body in bodies if "index" in body]


class DiesWhileRunning(InProcess):
    """Task 0 has started and task 1 has ended; one commit later the coordinator is killed."""

    def poll(self, timeout_s):
        if not self.ran:
            self.ran.append(("", 0, 0))
            return [Started(a.ticket, Worker(pid=7)) for a in self.held]
        if len(self.ran) == 1:
            self.pick = lambda held: 1
            return InProcess.poll(self, timeout_s)
        if self.clock.now_s > 1001:
            raise KeyboardInterrupt
        self.clock.now_s += 0.06
        return []


def test_replay_attempt_running_when_the_coordinator_died_is_queued_again(sessions):
    with pytest.raises(KeyboardInterrupt):
        sessions.go(one_round([double(1), double(2)]), backend_type=DiesWhileRunning)
    assert task_states(sessions) == ["running", "completed"]
    assert sessions.go(one_round([double(1), double(2)])) == [("", 0, 0)]
    assert task_states(sessions) == ["completed", "completed"]
    manifest = Manifest.open(sessions.folder.manifest, Disk(), read_only=True)
    try:
        attempts = manifest.query("SELECT attempt, outcome, reason FROM attempts")
        [(attempt,)] = manifest.query("SELECT attempt FROM tasks WHERE id=1")
    finally:
        manifest.close()
    assert attempts == [(1, "requeued", "coordinator-died")]
    assert attempt == 2


def task_states(sessions):
    manifest = Manifest.open(sessions.folder.manifest, Disk(), read_only=True)
    try:
        return [state for (state,) in manifest.query("SELECT state FROM tasks ORDER BY id")]
    finally:
        manifest.close()


def test_objects_of_a_result_are_adopted_before_it_counts(sessions):
    def body():
        [stored] = yield [keep("some text")]
        return stored.value

    sessions.go(body)
    store = ObjectStore(sessions.folder.objects, Disk())
    [digest] = store.digests()
    assert store.read(digest) == b"some text"
    assert list(store.staging.iterdir()) == []
    assert digest.encode() in sessions.ledger

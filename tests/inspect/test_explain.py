"""Explain: the life of a task, found by key, prefix or place."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.inspect.runs import Gate, Stopper, contents, late, lives, queue
from weft.errors import FileInvalid, InputError
from weft.inspect.explain import explain
from weft.inspect.status import status
from weft.storage.folder import RunFolder


@pytest.fixture(scope="module")
def picked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run whose tasks were retried, failed and were dropped."""
    base = tmp_path_factory.mktemp("picked")
    call = lives(str(base))
    # Tasks behind the running one in a frame would be given back: three workers take one each.
    weft.run(call, out=base / "run", workers=3, retries=2, watcher=Gate(base))
    return base / "run"


def test_a_completed_task_names_its_record(finished: Path) -> None:
    before = contents(finished)
    life = explain(finished, ":0:4")
    assert (life.state, life.why, life.record) == ("completed", "recorded as record 5", 5)
    assert (life.function, life.args, life.value is not None) == ("loom:probe", '{"x":100}', True)
    assert life.notes == {"parity": 0}
    assert life.queued_at is not None
    assert life.finished_at is not None
    assert life.queued_at <= life.finished_at
    assert explain(finished, life.key) == life == explain(finished, life.key[:10])
    assert life.to_dict()["schema_version"] == 1
    assert contents(finished) == before


def test_a_task_in_a_lane_is_found_by_its_place(finished: Path) -> None:
    life = explain(finished, "/slow:2:1")
    assert (life.lane, life.round, life.index) == ("/slow", 2, 1)


def test_a_failed_task_shows_its_traceback(picked: Path) -> None:
    life = explain(picked, ":0:2")
    assert (life.state, life.record) == ("failed", 3)
    assert life.error == '{"exit_code":null,"stage":"run","type":"exception"}'
    assert [a.outcome for a in life.attempts] == ["failed"]
    assert "ValueError: no 3" in life.attempts[0].detail


def test_a_retried_task_shows_the_attempt_before(picked: Path) -> None:
    life = explain(picked, ":0:0")
    assert (life.state, life.attempt, life.value) == ("completed", 2, '"second time"')
    assert [a.outcome for a in life.attempts] == ["requeued"]
    assert "not yet" in life.attempts[0].detail


def test_a_task_that_lost_its_worker_shows_the_loss(picked: Path) -> None:
    life = explain(picked, ":0:1")
    assert (life.state, life.value) == ("completed", '"alive"')
    losses = [a for a in life.attempts if a.outcome == "requeued"]
    assert losses
    assert losses[0].worker_pid is not None
    assert losses[0].worker_pid != life.worker_pid


def test_a_dropped_and_a_cancelled_task_name_the_stop(picked: Path) -> None:
    dropped, cancelled = explain(picked, ":1:1"), explain(picked, ":1:2")
    assert (dropped.state, cancelled.state) == ("dropped", "cancelled")
    assert dropped.why == "dropped by early stop at index 0; its outcome does not count"
    assert cancelled.why == "cancelled by early stop at index 0"
    assert dropped.record is None


@dataclass
class WhenSeenRunning(Stopper):
    """Asks the run to stop once a task has run long enough to be in the manifest."""

    run: Path

    def update(self, counts: Any) -> None:
        if counts.finished >= self.after and status(self.run).counts["running"]:
            super().update(counts)


def test_a_result_that_waits_for_a_lane_says_so(tmp_path: Path) -> None:
    watcher = WhenSeenRunning(2, tmp_path / "run")
    with pytest.raises(weft.errors.Interrupted):
        weft.run(queue(str(tmp_path)), out=tmp_path / "run", workers=2, watcher=watcher)
    run = tmp_path / "run"
    assert [(r.lane, r.recorded) for r in status(run).rounds] == [("/first", 0)]
    life = explain(run, "/second:0:1")
    assert (life.state, life.record) == ("completed", None)
    assert life.why == "finished; waits for lane /first, which comes before it in the ledger"
    blocked = explain(run, "/first:0:0")
    assert blocked.why == "waits for a worker; requeued because interrupted"


def test_a_result_that_waits_for_its_round_says_so(tmp_path: Path) -> None:
    with pytest.raises(weft.errors.Interrupted):
        weft.run(late(str(tmp_path)), out=tmp_path / "run", workers=2, watcher=Stopper(1))
    assert explain(tmp_path / "run", ":0:1").why == "finished; waits for index 0 of its round"


@pytest.mark.parametrize(
    ("key", "reason"),
    [
        ("00000000", "no task has a key"),
        ("abc", "8 to 64"),
        (":9:0", "no round 9"),
        (":0:40", "has 40 tasks"),
        ("/none:0:0", "lane /none has no round 0"),
        (":x:0", "not the position of a task"),
        ("1:2", "not the position of a task"),
        (":0:" + "9" * 5000, "has 40 tasks"),
    ],
)
def test_a_task_that_is_not_there_is_refused(finished: Path, key: str, reason: str) -> None:
    with pytest.raises(InputError, match=reason):
        explain(finished, key)


def test_the_log_of_the_last_attempt_is_shown(run: Path) -> None:
    life = explain(run, ":0:4")
    logs = RunFolder(run).logs / life.key
    logs.mkdir()
    (logs / "9.log").write_text("first")
    (logs / "10.log").write_bytes(b"x" * 5000 + b"the end \xff")
    tail = explain(run, ":0:4").log_tail
    assert tail.endswith("the end \ufffd")
    assert len(tail) == 4096


def test_a_run_without_manifest_cannot_be_explained(run: Path) -> None:
    RunFolder(run).manifest.unlink()
    with pytest.raises(FileInvalid, match="missing"):
        explain(run, ":0:0")

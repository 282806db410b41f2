"""Status: a run's progress, whether someone works on it, and that reading disturbs nobody."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import weft
from tests.inspect.runs import Gate, contents, heads, interrupted_loom, lives
from tests.support.engine import loom
from weft.errors import RunLocked
from weft.inspect import access
from weft.inspect.status import Status, status
from weft.inspect.verify import verify
from weft.storage.folder import RunFolder


def test_a_finished_run_shows_its_answer(finished: Path) -> None:
    before = contents(finished)
    now = status(finished)
    assert (now.search, now.state, now.size) == ("loom:loom", "finished", 261)
    assert (now.finished, now.planned, now.eta_s) == (235, 235, None)
    assert (now.counts["completed"], now.counts["failed"]) == (232, 3)
    assert sum(now.counts.values()) == 235 + now.counts["dropped"] + now.counts["cancelled"]
    assert (now.lanes, now.lanes_answered, now.rounds) == (3, 3, ())
    assert now.answer is not None
    assert now.answer["status"] == "answered"
    assert json.loads(json.dumps(now.to_dict()))["schema_version"] == 1
    assert contents(finished) == before


def test_a_stopped_run_is_interrupted(tmp_path: Path) -> None:
    now = status(interrupted_loom(tmp_path / "run", after=70))
    assert (now.state, now.answer, now.eta_s) == ("interrupted", None, None)
    assert now.rounds
    assert now.finished < now.planned


@dataclass
class Onlooker:
    """A watcher that inspects the run from outside while it is in progress."""

    run: Path
    statuses: list[Status] = field(default_factory=list)
    notes: list[tuple[str, ...]] = field(default_factory=list)

    def update(self, counts: Any) -> None:
        if len(self.statuses) < 20:
            self.statuses.append(status(self.run, events=True))
            self.notes.append(verify(self.run, heads()).notes)


def test_a_run_under_way_can_be_looked_at(tmp_path: Path, finished: Path) -> None:
    onlooker = Onlooker(tmp_path / "run")
    ended = weft.run(loom(pause_ms=20), out=tmp_path / "run", workers=2, watcher=onlooker)
    assert ended.head == status(finished).head
    assert {now.state for now in onlooker.statuses} == {"running"}
    assert all("a coordinator is running" in notes[-1] for notes in onlooker.notes)
    # a round that stops early drops tasks completed after its stop
    finishes = [now.finished + now.counts["dropped"] for now in onlooker.statuses]
    assert finishes == sorted(finishes)
    assert any(now.eta_s for now in onlooker.statuses)


def test_a_run_that_ends_between_two_reads_is_never_called_interrupted(
    run: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sealed, moves = [False], []

    def ends(look: str) -> None:
        """The coordinator seals and unlocks right after the first check, whichever it is."""
        moves.append(look)
        sealed[0] = True

    def is_finished(_: RunFolder) -> bool:
        was = sealed[0]
        ends("seal")
        return was

    def is_locked(_: RunFolder) -> bool:
        was = not sealed[0]
        ends("lock")
        return was

    monkeypatch.setattr(RunFolder, "is_finished", is_finished)
    monkeypatch.setattr(access, "is_locked", is_locked)
    assert access.state_of(RunFolder(run)) == "finished"
    assert moves == ["lock", "seal"]


@pytest.mark.parametrize("hidden", [False, True])
def test_the_lock_is_seen_and_left_alone(
    run: Path, monkeypatch: pytest.MonkeyPatch, hidden: bool
) -> None:
    if hidden:  # the holder lives in another container
        monkeypatch.setattr(access, "_held_inodes", lambda: None)
    folder = RunFolder(run)
    assert not access.is_locked(folder)
    with folder.locked("here"):
        assert access.is_locked(folder)
        with pytest.raises(RunLocked), folder.locked("there"):
            pass
    assert not access.is_locked(folder)
    with folder.locked("here"):
        pass


def test_events_tell_every_step_in_order(tmp_path: Path) -> None:
    weft.run(
        lives(str(tmp_path)), out=tmp_path / "run", workers=3, retries=2, watcher=Gate(tmp_path)
    )
    events = status(tmp_path / "run", events=True).events
    assert [e.at for e in events] == sorted(e.at for e in events)
    flaky = [e.kind for e in events if (e.lane, e.round, e.index) == ("", 0, 0)]
    assert flaky == ["queued", "requeued", "started", "completed"]
    kinds = {e.kind for e in events}
    assert kinds >= {"queued", "started", "completed", "failed", "requeued"}


def test_a_run_without_manifest_shows_what_the_ledger_knows(run: Path) -> None:
    RunFolder(run).manifest.unlink()
    now = status(run)
    assert (now.state, now.counts["completed"], now.counts["failed"]) == ("finished", 232, 3)
    assert "manifest missing" in now.notes[0]

"""Outcome files: adopted only for their task and attempt, unmodified, and signed by the run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from weft.worker import outcomes

REPORT: Any = {"status": 0, "reason": "exited", "channel": {"result": "{}", "refused": ""}}
KEY = "ab" * 32


class Place:
    """A run with one finished command."""

    def __init__(self, folder: Path) -> None:
        self.base, self.outcomes = folder / "attempts" / "a-1", folder / "outcomes"
        for name in ("out", "worktree/inner", "tmp"):
            (self.base / name).mkdir(parents=True)
        self.outcomes.mkdir()
        (self.base / "worktree" / "old").write_text("old")
        os.utime(self.base / "worktree" / "old", (1, 1))
        (self.base / "worktree" / "link").symlink_to("old")
        (self.base / "out" / "result.json").write_text("{}")
        self.logs = [str(folder / "1.out"), str(folder / "1.log")]
        for log in self.logs:
            Path(log).write_text("printed")
        self.path = self.outcomes / f"{KEY}-1"
        self.started_ns = (self.base / "out" / "result.json").stat().st_ctime_ns
        self.write()

    def write(self, token: str = "token", key: str = KEY, attempt: int = 1) -> None:
        outcomes.write(
            {"path": str(self.path), "key": key, "attempt": attempt, "token": token,
             "base": str(self.base), "folders": ["out", "worktree"], "notes": {"seal": "x"}},
            self.logs, REPORT, self.started_ns,
        )  # fmt: skip

    def read(self) -> outcomes.StoredOutcome | None:
        return outcomes.read(self.path, KEY, 1, "token", self.base, self.logs)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return Place(tmp_path)


def test_an_outcome_is_read_back_as_it_was_noted(place: Place) -> None:
    stored = place.read()
    assert stored is not None
    assert (stored.attempt, stored.report, stored.notes) == (1, REPORT, {"seal": "x"})
    assert place.read() == stored


def forge(place: Place) -> None:
    digest = outcomes.digest_of([], place.logs, 0)
    body = json.dumps({"key": KEY, "attempt": 1, "report": REPORT, "notes": {}, "folders": [],
                       "started_ns": 0, "digest": digest})  # fmt: skip
    place.path.write_text(json.dumps({"body": body, "mac": "0" * 64}))


def damage(place: Place) -> None:
    data = bytearray(place.path.read_bytes())
    data[len(data) // 2] ^= 1
    place.path.write_bytes(bytes(data))


STALE = {
    "another task's": lambda place: place.write(key="cd" * 32),
    "another attempt's": lambda place: place.write(attempt=2),
    "signed by another run": lambda place: place.write(token="other"),
    "forged": forge,
    "damaged": damage,
    "cut": lambda place: os.truncate(place.path, 100),
    "empty": lambda place: os.truncate(place.path, 0),
    "gone": lambda place: place.path.unlink(),
    "a link": lambda place: (place.path.rename(place.path.with_name("x")),
                             place.path.symlink_to(place.path.with_name("x"))),
    "result changed": lambda place: (place.base / "out" / "result.json").write_text("[]"),
    "new file": lambda place: (place.base / "out" / "more").touch(),
    "old file changed": lambda place: (place.base / "worktree" / "old").write_text("new"),
    "old file gone": lambda place: (place.base / "worktree" / "old").unlink(),
    "link changed": lambda place: (
        (place.base / "worktree" / "link").unlink(),
        (place.base / "worktree" / "link").symlink_to("out"),
    ),
    "folder gone": lambda place: place.base.rename(place.base.with_name("b")),
    "log changed": lambda place: Path(place.logs[0]).write_text("other text"),
}  # fmt: skip


@pytest.mark.parametrize("name", STALE)
def test_an_outcome_that_is_not_the_attempts_own_is_not_adopted(place: Place, name: str) -> None:
    STALE[name](place)
    assert place.read() is None


def test_what_is_not_the_commands_does_not_count(place: Place) -> None:
    (place.base / "tmp" / "scratch").touch()
    (place.base / "index").touch()
    assert place.read() is not None


@pytest.mark.parametrize(
    ("status", "reason", "final"),
    [
        (0, "exited", True), (3, "exited", True), (75, "exited", False), (126, "exited", False),
        (137, "exited", False), (-9, "exited", False), (0, "timeout", False), (0, "closed", False),
    ],
)  # fmt: skip
def test_only_an_end_that_nothing_follows_is_noted(status: int, reason: str, final: bool) -> None:
    assert outcomes.is_final(status, reason) is final

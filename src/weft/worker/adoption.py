"""The worker's side of outcome files: a command that ended in an earlier attempt is not run again.

    task assigned ─► outcome of this or an earlier attempt? ─► yes: its report, its folders
                                                            ─► no: a new attempt

A command's files stay until the coordinator has certainly stored the result. The outcome of an
attempt that will be followed by another is removed before the attempt's end is reported.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from collections import deque
from pathlib import Path

from weft.model.values import JsonValue
from weft.worker import outcomes
from weft.worker.context import TaskContext
from weft.worker.logtail import tail
from weft.worker.outcomes import OutcomeRequest, StoredOutcome
from weft.worker.space import printed_shortage

OWN_FOLDERS = ("tmp", "repo.git", "new.git", "root")
"""Below an attempt's folder; commands leave nothing for us in these."""
HELD_S = 0.1
"""A worker receives about this much work at a time (see `LocalBackend`). Once it has finished that
much more, the coordinator has stored the results of earlier commands."""
LEAST_S = 0.005


class AttemptOutcomes:
    """The outcome files of one task."""

    def __init__(self, around: TaskContext) -> None:
        self._around = around
        self._folder = around.place.attempts.parent / outcomes.FOLDER

    def adopt(self) -> StoredOutcome | None:
        """Return the outcome of an attempt whose result was never reported; None without one."""
        assignment, token = self._around.assignment, self._around.place.facilities.outcome_token
        for attempt in range(assignment.attempt if token else 0, 0, -1):
            path = self.path(attempt)
            if not os.path.lexists(path):
                continue
            base, logs = self.attempt_folder(attempt), self.logs(attempt)
            stored = outcomes.read(path, assignment.key, attempt, token, base, logs)
            if stored is not None and not _lacked_room(stored, Path(logs[1])):
                self._take_logs(attempt)
                self._around.notes |= {**stored.notes, "adopted_attempt": attempt}
                return stored
            path.unlink(missing_ok=True)
        return None

    def request(self, folder: Path, cwd: str) -> OutcomeRequest | None:
        """Return what a supervisor needs to record the end of a command that starts in `cwd`."""
        assignment, token = self._around.assignment, self._around.place.facilities.outcome_token
        run = str(self._around.place.attempts.parent)
        if not token or not cwd.startswith(f"{run}/"):
            return None  # what it leaves elsewhere may be changed by others
        self._folder.mkdir(exist_ok=True)
        names = sorted(p.name for p in folder.iterdir() if p.is_dir())
        names = [name for name in names if name not in OWN_FOLDERS]
        if not cwd.startswith(f"{folder}/"):
            names.append(os.path.relpath(cwd, folder))
        return {
            "path": str(self.path(assignment.attempt)), "key": assignment.key,
            "attempt": assignment.attempt, "token": token, "base": str(folder), "folders": names,
            "notes": dict(self._around.notes),
        }  # fmt: skip

    def settle(self, attempt: int, *, is_final: bool) -> bool:
        """Remove an attempt's outcome unless it is final; return whether its folder is needed."""
        path = self.path(attempt)
        if is_final:
            return path.is_file()
        with contextlib.suppress(OSError):
            path.unlink()
        return False

    def path(self, attempt: int) -> Path:
        """Return the path of an attempt's outcome."""
        return self._folder / f"{self._around.assignment.key}-{attempt}"

    def attempt_folder(self, attempt: int) -> Path:
        """Return the folder in which an attempt works."""
        return self._around.place.attempts / f"{self._around.assignment.key[:16]}-{attempt}"

    def logs(self, attempt: int) -> list[str]:
        """Return the paths of an attempt's stdout and stderr."""
        folder = self._around.place.logs / self._around.assignment.key
        return [str(folder / f"{attempt}.out"), str(folder / f"{attempt}.log")]

    def _take_logs(self, attempt: int) -> None:
        """Link the logs of an adopted attempt as those of this one."""
        own = self._around.assignment.attempt
        for old, new in zip(self.logs(attempt), self.logs(own), strict=True):
            if old != new:
                Path(new).unlink(missing_ok=True)
                os.link(old, new)


def _lacked_room(stored: StoredOutcome, log: Path) -> bool:
    """Whether a command failed for lack of space: that was a loss, and there may be space now."""
    return stored.report["status"] != 0 and bool(printed_shortage(tail(log)))


class FinishedFolders:
    """Folders of finished commands, kept until their results are certainly stored."""

    def __init__(self) -> None:
        self._folders: deque[tuple[Path, float]] = deque()

    def keep(self, folder: Path, wall_s: JsonValue) -> None:
        """Keep a folder for a while; `wall_s` is how long its command ran."""
        seconds = wall_s if isinstance(wall_s, float) else 0.0
        self._folders.append((folder, max(LEAST_S, seconds)))

    def clear_settled(self) -> None:
        """Remove the folders whose results have certainly been stored."""
        shortest_s = min((wall_s for _, wall_s in self._folders), default=HELD_S)
        while len(self._folders) > 1 + HELD_S // shortest_s:
            shutil.rmtree(self._folders.popleft()[0], ignore_errors=True)

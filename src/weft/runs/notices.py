"""Notices about a run on stderr: its first failure at once, and a warning if most tasks failed.

    machine ── first failure ──► FailureWatcher ─► one line with the command that explains it
    ledger ── counts, first failure ──► warning of a finished run

Nothing here is recorded, and the exit code depends on the ledger alone.
"""

from __future__ import annotations

import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from weft.coordinator.journal import Journal
from weft.coordinator.loop import Watcher
from weft.coordinator.machine import Counts, Machine
from weft.coordinator.steps import RecordResult
from weft.model.results import TaskError, Temporary
from weft.runs.execution import Execution
from weft.runs.outcome import Run, first_failed

KEY_CHARS = 12
"""Enough of a key to identify the task."""
MAX_REASON_CHARS = 300
CLEAR_LINE = "\r\x1b[2K"
"""Removes a line of progress that may be there."""


class FailureWatcher:
    """Shows the first failure of a session once, and passes the counts on.

    It waits for the next commit, 50 ms at most, so that `weft explain` can find the failure.
    """

    def __init__(
        self, machine: Machine, journal: Journal, out: Path, watcher: Watcher | None
    ) -> None:
        self._machine, self._journal, self._out = machine, journal, out
        self._watcher = watcher
        self._shown = False
        self._commits: int | None = None
        """The number of commits before the one that contains the failure."""

    def update(self, counts: Counts) -> None:
        """Show the failure once it is committed, and pass the newest counts on."""
        if self._machine.first_failure is not None:
            if self._commits is None:
                self._commits = self._journal.commits
            if self._journal.commits > self._commits or self._journal.pending == 0:
                self.close()
        if self._watcher is not None:
            self._watcher.update(counts)

    def close(self) -> None:
        """Show the failure if it has not been shown yet."""
        failure = self._machine.first_failure
        if failure is not None and not self._shown:
            self._shown = True
            show(failure_line(failure, self._out))


@contextmanager
def failures_shown(
    machine: Machine, journal: Journal, execution: Execution, watcher: Watcher | None
) -> Iterator[Watcher | None]:
    """Yield a watcher that also shows the first failure, or `watcher` if notices are off."""
    if not execution.notices:
        yield watcher
        return
    failures = FailureWatcher(machine, journal, execution.out, watcher)
    try:
        yield failures
    finally:
        failures.close()


def show(text: str) -> None:
    """Print a line on stderr, over any line of progress."""
    line = "".join(c if c.isprintable() else ascii(c)[1:-1] for c in f"weft: {text}")
    with suppress(AttributeError, OSError, ValueError):  # stderr is missing or closed
        start = CLEAR_LINE if sys.stderr.isatty() else ""
        print(f"{start}{line}", file=sys.stderr, flush=True)


def failure_line(failure: RecordResult, out: Path) -> str:
    """Return a line that states which task failed, why, and the command that shows the rest."""
    task, error = failure.task, failure.error
    assert error is not None
    reason = reason_of(error, failure.detail)[:MAX_REASON_CHARS]
    return f"{task.function} #{task.index} failed: {reason}; {_explain(out, task.key)}"


def warn_of_failures(run: Run) -> None:
    """Warn if most tasks of a finished run failed, which its exit code reflects too."""
    if run.mostly_failed:
        show(warning_line(run))


def warning_line(run: Run) -> str:
    """Return a line that states that most tasks failed, and the command that shows why."""
    total = run.completed + run.failed
    return (
        f"{run.failed} of {total} tasks failed, so the exit code is 4; "
        f"{_explain(run.out, first_failed(run.out))}"
        " (@weft.search(…, failures_expected=True) if that is normal)"
    )


def reason_of(error: TaskError, detail: str) -> str:
    r"""Return a traceback's exception line, or the kind of failure with the detail's last line.

    >>> trace = 'Traceback …:\n  File "a.py", line 1, in f\n    g()\nOSError: no\n  indeed'
    >>> reason_of(TaskError("exception", "run"), trace)
    'OSError: no'
    >>> reason_of(TaskError("exit", "run", 3), "reading\nno such table\n")
    'exit code 3: no such table'
    """
    lines = [line for line in detail.splitlines() if line.strip()]
    frames = [i for i, line in enumerate(lines) if line.startswith('  File "')]
    if frames:
        after = [line for line in lines[frames[-1] + 1 :] if not line.startswith(" ")]
        last = after[0] if after else ""
    else:
        last = lines[-1] if lines else ""
    if error.type in ("exception", "temporary") and last:
        return last.replace(f"{Temporary.__module__}.", "weft.")
    code = "" if error.exit_code is None else f" code {error.exit_code}"
    return f"{error.type}{code}: {last}" if last else f"{error.type}{code}"


def _explain(out: Path, key: str) -> str:
    return f"weft explain {shlex.quote(str(out))} {key[:KEY_CHARS]}"

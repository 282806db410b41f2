"""A run in any state, as Python code sees it: what `weft.load(path)` and `weft.run` return.

    run.toml, genesis, answer ─► LoadedRun ─┬─ results() to_frame()      resultrows, export
                                            ├─ verify() report(path)     inspect
                                            └─ resume() retry_failed()   runs, then loaded again

Loading reads a few records and changes nothing. Damage in what it reads raises as `verify` does,
but only `verify` checks everything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import wraps
from pathlib import Path
from typing import Any, ParamSpec

from weft.coordinator.loop import Watcher
from weft.errors import Interrupted
from weft.inspect.access import run_named, state_of
from weft.lazy_imports import lazy_imports
from weft.model.records import NO_TYPES, rebuild_args
from weft.model.values import JsonValue, from_wire
from weft.runs import run as running
from weft.runs.display import showing
from weft.runs.execution import ExecutionChanges
from weft.runs.interruption import interruptible
from weft.runs.opening import recorded_genesis
from weft.runs.outcome import Run, read_outcome
from weft.runs.results import StoredValues
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.ledgerfile import read_checkpoint
from weft.storage.objects import ObjectStore

with lazy_imports():
    from weft.inspect import products
    from weft.inspect import results as run_results
    from weft.inspect import status as statuses
    from weft.inspect import verify as verifying
    from weft.inspect.report import page
    from weft.runs import resume as resuming
    from weft.runs import retry as retrying

P = ParamSpec("P")


@dataclass(frozen=True, repr=False)
class LoadedRun(Run):
    """A run in any state. Until it is finished, `answer` is None and the counts are partial."""

    state: str = "finished"
    """`finished`, `running` (perhaps elsewhere) or `interrupted`, as of the time of loading."""
    args: Mapping[str, Any] = field(default_factory=dict)
    """The arguments of the search."""
    seed: int = 0
    """The run's seed, from which all task seeds are derived."""

    @property
    def status(self) -> str:
        """`answered` or `unknown`; for an unfinished run, its state."""
        return super().status if self.state == "finished" else self.state

    @property
    def exit_code(self) -> int:
        """The exit code of `weft run` and `weft resume`; 130 for an unfinished run."""
        return super().exit_code if self.state == "finished" else Interrupted.exit_code

    def results(
        self, lane: str | None = None, round: int | None = None  # noqa: A002 - as the ledger says
    ) -> run_results.RunResults:  # fmt: skip
        """Return the results, read on demand; `lane` and `round` filter them."""
        return run_results.read_results(self.out, lane, round)

    def verify(
        self, *, against: str | Path | None = None, public_key: str | Path | None = None
    ) -> verifying.Verdict:
        """Check that ledger, manifest and objects agree, as `weft verify` does; raises `Damaged`.

        `against` is an earlier checkpoint, `public_key` an Ed25519 key that must have signed it.
        """
        heads = running.real_place().heads
        return verifying.verify(
            self.out, heads, against=_path(against), public_key=_path(public_key)
        )

    def report(self, path: str | Path | None = None) -> Path:
        """Write the HTML report to `path` or the run folder's report.html; return its path."""
        return page.write_report(self.out, running.real_place().heads, _path(path))

    def resume(
        self,
        *,
        workers: int | None = None,
        accept: Sequence[str] = (),
        path: str | Path | None = None,
        progress: bool = True,
        watcher: Watcher | None = None,
    ) -> LoadedRun:
        """Continue an interrupted run with its recorded options; a finished one returns at once.

        `accept` takes the values of `--accept`; `path` is where to import the search from.
        """
        changes = ExecutionChanges(workers=workers, accept=tuple(accept))
        with interruptible(self.out), showing(progress and watcher is None) as display:
            result = resuming.resume(
                self.out, changes, path=_path(path), watcher=watcher or display
            )
        products.finish_run(result.out, result.search)
        return load(result.out)

    def retry_failed(
        self,
        *,
        out: str | Path,
        workers: int | None = None,
        path: str | Path | None = None,
        progress: bool = True,
        watcher: Watcher | None = None,
    ) -> LoadedRun:
        """Rerun the failed tasks in a new run in `out`, which reuses all other results.

        This run is not changed. See `weft resume --retry-failed`.
        """
        changes = ExecutionChanges(workers=workers)
        with interruptible(Path(out)), showing(progress and watcher is None) as display:
            result = retrying.retry_failed(
                self.out, Path(out), changes, path=_path(path), watcher=watcher or display
            )
        products.finish_run(result.out, result.search)
        return load(result.out)

    def to_dict(self) -> dict[str, Any]:
        """Return the JSON form that `--json` prints, with the state."""
        return {**super().to_dict(), "state": self.state}


def load(path: str | Path) -> LoadedRun:
    """Load the run in the folder `path`: finished, interrupted, still running, or just a ledger.

    Raises `RunFolderInvalid` if it is not a run, and `Damaged` if data it reads is damaged.
    """
    out = Path(path)
    folder = RunFolder(out)
    with run_named(out):
        folder.require_run()
        genesis = _genesis(folder)
        state = state_of(folder)
        if state != "finished":
            return _unfinished(folder, state, genesis)
        return _loaded(read_outcome(folder, None), state, genesis)


def returning_loaded(function: Callable[P, Run]) -> Callable[P, LoadedRun]:
    """Wrap a function that finishes a run, so that it returns a `LoadedRun`."""

    @wraps(function)
    def wrapper(*args: P.args, **kwargs: P.kwargs) -> LoadedRun:
        result = function(*args, **kwargs)
        return _loaded(result, "finished", _genesis(RunFolder(result.out)))

    return wrapper


run = returning_loaded(running.run)
"""`weft.run`."""


def _loaded(done: Run, state: str, genesis: Mapping[str, JsonValue]) -> LoadedRun:
    known = {part.name: getattr(done, part.name) for part in fields(Run)}
    args, seed = _asked(RunFolder(done.out), genesis)
    return LoadedRun(**known, state=state, args=args, seed=seed)


def _unfinished(folder: RunFolder, state: str, genesis: Mapping[str, JsonValue]) -> LoadedRun:
    run_file = folder.read_run_file()
    if not genesis:  # it was killed before anything was recorded
        nothing = Run(run_file.run_id, run_file.search, folder.path, None, "", 0, 0, 0, False)
        return _loaded(nothing, state, genesis)
    progress = statuses.status(folder.path)
    so_far = Run(
        run_id=run_file.run_id,
        search=run_file.search,
        out=folder.path,
        answer=None,
        head=progress.head,
        size=progress.size,
        completed=progress.counts["completed"],
        failed=progress.counts["failed"],
        timing_dependent=False,
    )
    return _loaded(so_far, state, genesis)


def _genesis(folder: RunFolder) -> Mapping[str, JsonValue]:
    """Return the body of record 0; empty when the run was killed before it was recorded."""
    genesis = recorded_genesis(folder, read_checkpoint(folder.checkpoint))
    body: dict[str, JsonValue] = json.loads(genesis or "{}")
    return body


def _asked(folder: RunFolder, genesis: Mapping[str, JsonValue]) -> tuple[Mapping[str, Any], int]:
    """Return the arguments of the search and the run's seed."""
    if not genesis:
        return {}, 0
    config, seed = genesis["config"], from_wire(genesis["seed"])
    assert isinstance(config, dict)
    assert isinstance(seed, int)
    read = StoredValues(ObjectStore(folder.objects, Disk())).read
    return rebuild_args(from_wire(config["args"]), NO_TYPES, read), seed


def _path(path: str | Path | None) -> Path | None:
    return None if path is None else Path(path)

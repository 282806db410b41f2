"""Runs a finished run's tasks again in a temporary folder and compares the two ledgers."""

from __future__ import annotations

import shutil
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

from weft.backends.recorded import Recall
from weft.coordinator.loop import Watcher
from weft.errors import (
    Interrupted,
    RunFolderInvalid,
    RunMismatch,
    SearchInvalid,
    ValueInvalid,
)
from weft.inspect.diff import Difference, diff
from weft.model.attempts import Finished, Staged
from weft.model.results import TaskError
from weft.model.tasks import COMMAND
from weft.model.values import JsonValue, objects_in
from weft.runs.decision import Decision
from weft.runs.execution import Execution
from weft.runs.outcome import Run, read_outcome
from weft.runs.remember import recalled
from weft.runs.resume import recorded_decision
from weft.runs.run import execute, unnoted_place
from weft.runs.sources import source_hash
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.manifest import Manifest
from weft.storage.objects import ObjectStore

SCHEMA_VERSION = 1


@dataclass(frozen=True, slots=True)
class ReplayReport:
    """Whether running everything again gave the same ledger."""

    run: Path
    recorded_head: str
    replayed_head: str
    size: int
    tasks: int
    difference: Difference | None
    code_changed: tuple[str, ...]
    """Packages whose source has changed since the run was recorded."""

    @property
    def equal(self) -> bool:
        """Whether the ledgers are the same, byte for byte."""
        return self.difference is None

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON form, as `--json` prints it."""
        difference = None if self.difference is None else self.difference.to_dict()
        also = {"equal": self.equal, "code_changed": list(self.code_changed)}
        raw = {**asdict(self), "run": str(self.run), **also, "difference": difference}
        return {"schema_version": SCHEMA_VERSION, **raw}


def replay(
    run: Path,
    *,
    path: Path | None = None,
    workers: int | None = None,
    backend: str = "local",
    commands: bool = False,
    accept: tuple[str, ...] = (),
    watcher: Watcher | None = None,
) -> ReplayReport:
    """Run every task of a finished run again and compare the ledger byte for byte.

    Results of commands, which need not be deterministic, are taken from the record unless
    `commands` is set. The recorded run is only read. Its genesis and inputs are reused; the new
    heads are not stored in the heads list. `accept` may contain `code`, which permits executing the
    notebook code of a run from elsewhere.
    """
    folder = RunFolder(run)
    run_file = folder.read_run_file()
    decision = _decision(folder, path, accept)
    before = read_outcome(folder, None)
    with tempfile.TemporaryDirectory(prefix="weft-replay-") as place:
        out = Path(place) / "run"
        original = recalled(folder, run_file)
        execution = Execution(
            out, workers, backend, accept, nodes=original.nodes, base=original.base
        )
        recall = None if commands else CommandRecord(run, out).recall
        rerun = _execute(folder, decision, execution, watcher, recall)
        difference = diff(run, out)
    sources = sorted(run_file.sources.items())
    changed = tuple(package for package, digest in sources if source_hash(package) != digest)
    tasks = rerun.completed + rerun.failed
    return ReplayReport(run, before.head, rerun.head, before.size, tasks, difference, changed)


def _decision(folder: RunFolder, path: Path | None, accept: tuple[str, ...]) -> Decision:
    """Return the recorded decision of a finished run."""
    if not folder.is_finished():
        raise RunFolderInvalid(f"{folder.path} is not finished", hint=f"weft resume {folder.path}")
    try:
        return recorded_decision(folder, path, accept)[0]
    except RunMismatch as error:
        raise RunMismatch(
            f"a replay could not be equal: {error.message}",
            hint="replay with the search and library versions that were recorded",
        ) from None


class CommandRecord:
    """Recorded outcomes of a finished run's commands, with the objects they created."""

    def __init__(self, run: Path, out: Path) -> None:
        folder = RunFolder(run)
        self._store = ObjectStore(folder.objects, Disk())
        self._staging = ObjectStore(RunFolder(out).objects, Disk()).staging
        self._ends: dict[str, tuple[str | None, str | None]] = {}
        if folder.manifest.is_file():
            manifest = Manifest.open(folder.manifest, Disk(), read_only=True)
            sql = "SELECT key, value, error FROM tasks WHERE function = ?"
            self._ends = {key: (v, e) for key, v, e in manifest.query(sql, COMMAND) if v or e}
            manifest.close()

    def recall(self, key: str) -> Finished | None:
        """Return a command's recorded outcome, if any, with its objects staged for the replay."""
        if key not in self._ends:
            return None
        value, error = self._ends[key]
        staged = tuple(self._stage(digest) for digest in objects_in(value or ""))
        return Finished(0, value, TaskError.from_text(error) if error else None, staged=staged)

    def _stage(self, digest: str) -> Staged:
        self._staging.mkdir(parents=True, exist_ok=True)
        self._store.check(digest)
        with self._store.open(digest) as source, (self._staging / digest).open("wb") as target:
            shutil.copyfileobj(source, target)
        return Staged(digest, digest)


def _execute(
    folder: RunFolder,
    decision: Decision,
    execution: Execution,
    watcher: Watcher | None,
    recall: Recall | None,
) -> Run:
    objects = ObjectStore(folder.objects, Disk())
    inputs = {name: objects.read(digest) for name, digest in decision.inputs.items()}
    try:
        return execute(decision, execution, inputs, watcher, unnoted_place(), recall)
    except (SearchInvalid, ValueInvalid) as error:
        error.hint = f"{folder.path} is untouched: restore the search it was recorded with"
        raise
    except Interrupted:
        raise Interrupted("the replay was interrupted", hint=f"weft replay {folder.path}") from None

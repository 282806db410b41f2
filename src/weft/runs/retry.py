"""Runs the failed tasks of a finished run again, as a new run that reuses all other results.

    RUN/ledger.jsonl ─ check, list what failed ─► Retry ─► genesis of NEW
    RUN/ledger.jsonl, objects ─── copied ───────► NEW/objects ─► execute

RUN is only read, and NEW no longer needs it once it has begun. A task is answered from the copy
if the same task was completed at the same place there; all others run.
"""

from __future__ import annotations

import os
import shlex
import shutil
from dataclasses import dataclass, field, replace
from pathlib import Path

from weft.coordinator.loop import Watcher
from weft.errors import InputError, LedgerDamaged, RunFolderInvalid, RunMismatch, StorageFailed
from weft.ledger.chain import Chain
from weft.ledger.records import parse
from weft.model.values import objects_in
from weft.runs.decision import Decision
from weft.runs.execution import ExecutionChanges
from weft.runs.history import check_signed
from weft.runs.outcome import Run
from weft.runs.prior import MAX_KEYS, Retry
from weft.runs.remember import recalled
from weft.runs.resume import recorded_decision
from weft.runs.run import execute
from weft.runs.sources import changed_packages
from weft.runs.warmup import announcer
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.ledgerfile import read_checkpoint, whole_lines
from weft.storage.objects import ObjectStore, hash_file
from weft.storage.plainfile import NESTED, TOP, open_plain

_FAILED = b',"error":{'
_OBJECT = b'"$o"'


def retry_failed(
    run: Path,
    out: Path,
    changes: ExecutionChanges | None = None,
    *,
    path: Path | None = None,
    watcher: Watcher | None = None,
) -> Run:
    """Run what failed in `run` again, in the new folder `out`; continue there if it has begun.

    Changed source is accepted, since a fix is the purpose of a retry; the genesis records it.
    Another version of the search or of a library is refused as always. Raises `InputError` if
    nothing failed, and `RunFolderInvalid` for a run that is not finished.
    """
    folder, target = RunFolder(run), RunFolder(out)
    run_file = folder.read_run_file()
    _check_folders(folder, target)
    facts = _read_facts(folder)
    if not facts.failed:
        raise InputError(f"{run}: none of its tasks failed; there is nothing to retry")
    decision = _decision(folder, path, changes.accept if changes else ())
    changed = tuple(sorted(changed_packages(run_file.sources)))
    retry = Retry(facts.head, facts.size, facts.digest, facts.failed, tuple(facts.keys), changed)
    execution = replace(
        recalled(folder, run_file, changes),
        out=out,
        tags=run_file.tags,
        labels=run_file.labels,
    )
    if not target.is_run():
        target.check_free()
        _copy(folder, target, [*decision.inputs.values(), *facts.objects], retry)
    announcer(watcher)(f"weft: retry {retry.describe()}")
    return execute(replace(decision, retry=retry), execution, {}, watcher)


def _check_folders(folder: RunFolder, target: RunFolder) -> None:
    """Refuse to retry an unfinished run, or to retry into the run's own folder."""
    if target.path.resolve() == folder.path.resolve():
        raise RunFolderInvalid(
            f"{target.path} is the run itself", hint="give another folder with --out"
        )
    if not folder.is_finished():
        raise RunFolderInvalid(
            f"{folder.path} is not finished, so more may fail",
            hint=f"finish it first: weft resume {shlex.quote(str(folder.path))}"
            " (with --accept code after a fix)",
        )


def _decision(folder: RunFolder, path: Path | None, accept: tuple[str, ...]) -> Decision:
    """Return the run's decision, as recorded."""
    try:
        return recorded_decision(folder, path, accept)[0]
    except RunMismatch as error:
        hint = "retry with the search version and libraries recorded, or start a new run"
        raise RunMismatch(f"results cannot be reused: {error.message}", hint=hint) from None


@dataclass(slots=True)
class _Facts:
    """What a retry needs from a finished ledger."""

    head: str = ""
    size: int = 0
    digest: str = ""
    failed: int = 0
    keys: list[str] = field(default_factory=list)
    objects: dict[str, None] = field(default_factory=dict)
    """The digests that records name, in order."""


def _read_facts(folder: RunFolder) -> _Facts:
    """Read the ledger once; raises LedgerDamaged if it does not match its checkpoint."""
    check_signed(folder)
    checkpoint = read_checkpoint(folder.checkpoint)
    assert checkpoint is not None  # it is finished
    facts = _Facts(head=checkpoint.root.hex(), size=checkpoint.size)
    chain = Chain()
    for line in whole_lines(folder.ledger):
        chain.accept_all([line])
        _note(line, facts)
    if (chain.size, chain.root()) != (checkpoint.size, checkpoint.root):
        hint = f"weft verify {shlex.quote(str(folder.path))}"
        raise LedgerDamaged(f"{folder.ledger}: it does not match its checkpoint", hint=hint)
    with open_plain(folder.ledger) as file:
        facts.digest = hash_file(file)
    return facts


def _note(line: bytes, facts: _Facts) -> None:
    """Add the objects that a record names and, if its task failed, its key."""
    if _OBJECT in line:
        facts.objects.update(dict.fromkeys(objects_in(line.decode())))
    if _FAILED not in line:
        return
    record = parse(line)
    if record.kind == "result" and "error" in record.body:
        facts.failed += 1
        if len(facts.keys) < MAX_KEYS:
            facts.keys.append(record.key)


def _copy(folder: RunFolder, target: RunFolder, objects: list[str], retry: Retry) -> None:
    """Copy the objects and, as another one, the ledger; each is checked against its name."""
    disk = Disk()
    source, copies = ObjectStore(folder.objects, disk), ObjectStore(target.objects, disk)
    try:
        disk.make_folder(copies.staging)
        for digest in objects:
            source.check(digest)
            _copy_file(source.path(digest), NESTED, copies, digest)
        _copy_file(folder.ledger, TOP, copies, retry.ledger)
    except OSError as error:
        reason = f"{target.path}: {error.strerror or error}"
        raise StorageFailed(reason, hint="free some space, then give the command again") from error


def _copy_file(path: Path, components: int, copies: ObjectStore, digest: str) -> None:
    if copies.has(digest):
        return
    staged = copies.staging / f"{digest}.{os.getpid()}"
    with open_plain(path, components) as source, staged.open("wb") as copy:
        shutil.copyfileobj(source, copy)
    copies.adopt(staged, digest)
    copies.path(digest).chmod(0o444)

"""Checks by signature and outside heads that a run folder is not altered, a copy, or older.

This happens before anything is written. A signature is final: a ledger that does not extend the
signed head is damaged. A user can overrule outside heads with `--accept copy` or
`--accept rollback`, which leaves an event.
"""

from __future__ import annotations

import shlex
import sqlite3
from collections.abc import Sequence
from pathlib import Path

from weft.errors import LedgerDamaged, ManifestDamaged, RunCopied, RunRolledBack
from weft.ledger.checkpoint import Checkpoint
from weft.runs.witnesses import Witness, check_witnesses, witnesses
from weft.storage.disk import Disk
from weft.storage.folder import RunFile, RunFolder
from weft.storage.heads import Head, RunLocation
from weft.storage.ledgerfile import count_lines, read_signed, roots_at
from weft.storage.manifest import Manifest
from weft.storage.projection import Projection
from weft.storage.reconcile import good_records, reconcile


def check_signed(folder: RunFolder) -> None:
    """Require that the ledger extends the head signed in `checkpoint.sig`, whoever signed it.

    Raises LedgerDamaged, which cannot be overruled.
    """
    signed = read_signed(folder.signature)
    if signed is not None:
        _check_roots(folder, witnesses([], signed=signed))


def _check_roots(folder: RunFolder, gathered: Sequence[Witness]) -> None:
    roots = roots_at(folder.ledger, {witness.size for witness in gathered})
    try:
        check_witnesses(gathered, count_lines(folder.ledger), roots, finished=False)
    except LedgerDamaged as error:
        hint = f"weft verify {shlex.quote(str(folder.path))}"
        reason = f"{folder.ledger.name}: {error.message}"
        raise LedgerDamaged(reason, seq=error.seq, hint=hint) from None


def check_history(
    folder: RunFolder,
    run_file: RunFile,
    accept: tuple[str, ...],
    heads: Sequence[Head],
    host: str,
    checkpoint: Checkpoint | None,
) -> list[tuple[str, str]]:
    """Refuse a folder that contradicts an outside head; return what was accepted, as events.

    `heads` are the entries of the heads list that bind the run.
    """
    check_signed(folder)
    if not heads:
        return []
    events: list[tuple[str, str]] = []
    if _is_copy(folder, heads[-1], run_file.run_id, host):
        if "copy" not in accept:
            raise RunCopied(
                f"{folder.path} is a copy: the original is still in {heads[-1].home.path}",
                hint="continue there, or continue this copy as a separate run with --accept copy",
            )
        return [("copy-accepted", "")]
    behind = _is_rolled_back(folder, heads[-1], checkpoint)
    if not behind:
        behind = _is_altered(folder, heads, checkpoint, "rollback" in accept)
    if behind:
        if "rollback" not in accept:
            raise RunRolledBack(
                f"{folder.path} is older than it was: {behind}",
                hint="restore the newer folder, or continue from here with --accept rollback",
            )
        events.append(("rollback-accepted", behind))
    home = folder.home(host)
    if home.path != heads[-1].home.path:
        events.append(("moved", f"from {heads[-1].home.path}"))
    return events


def _is_copy(folder: RunFolder, last: Head, run_id: str, host: str) -> bool:
    """Whether the run still exists where it was last seen, in another folder than this one."""
    return last.home.is_elsewhere(folder.home(host)) and lives_at(last.home, run_id)


def lives_at(home: RunLocation, run_id: str) -> bool:
    """Whether the run is at this location now."""
    folder = RunFolder(Path(home.path))
    return folder.is_run() and folder.read_run_file().run_id == run_id


def _is_altered(
    folder: RunFolder, heads: Sequence[Head], checkpoint: Checkpoint | None, accepted: bool
) -> str:
    """Return which records contradict outside heads, if that is accepted; else raise."""
    try:
        _check_roots(folder, witnesses(heads))
    except LedgerDamaged as error:
        for _ in good_records(folder.ledger, checkpoint):
            pass  # a broken chain identifies the exact record
        if accepted:
            return error.message
        raise
    return ""


def _is_rolled_back(folder: RunFolder, last: Head, checkpoint: Checkpoint | None) -> str:
    """Return how the folder is older than the last outside head; empty if it is not."""
    size = count_lines(folder.ledger)
    if size < last.size:
        return f"its ledger has {size} records, {last.size} were seen"
    if not folder.manifest.is_file():
        return ""
    manifest = Manifest.open(folder.manifest, Disk(), read_only=True)
    try:
        if manifest.commits >= last.commits:
            return ""
        if reconcile(folder.ledger, Projection(manifest), checkpoint).behind:
            return ""  # only the manifest is older: it is rebuilt from the ledger
        return f"its manifest has {manifest.commits} commits, {last.commits} were seen"
    except sqlite3.DatabaseError as error:
        raise ManifestDamaged(f"manifest.sqlite: {error}") from error
    finally:
        manifest.close()

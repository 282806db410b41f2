"""Checks everything a run has on disk, after each session and at the end.

Nothing lost: what was once committed stays, with the same value. Nothing done twice: what was
committed as finished never executes again. Order: no file is ahead of one written before it.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from weft.model.attempts import Assignment
from weft.model.values import objects_in
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.heads import HeadsList
from weft.storage.ledgerfile import count_lines, read_checkpoint, read_lines
from weft.storage.manifest import Manifest
from weft.storage.objects import ObjectStore
from weft.storage.projection import Projection
from weft.storage.reconcile import reconcile

STATES = {"queued", "running", "completed", "failed", "cancelled", "dropped"}
ENDED = {"completed", "failed", "dropped"}
Place = tuple[str, int, int]


class Checker:
    """Remembers what was durable, and compares it with what is on disk."""

    def __init__(self, folder: RunFolder, heads: Path) -> None:
        self._folder = folder
        self._heads = HeadsList(heads, Disk())
        self._durable: dict[Place, tuple[str | None, str | None]] = {}

    def executed(self, assignment: Assignment) -> None:
        """Check that a task about to run has not been durably completed before."""
        place = (assignment.lane, assignment.round, assignment.index)
        assert place not in self._durable, f"{place} was completed and runs again"

    def after_session(self) -> None:
        """Check the folder as a crash or a stop left it."""
        if not self._folder.is_run() or not self._folder.manifest.is_file():
            assert not self._durable, "the manifest is gone"
            return
        manifest = Manifest.open(self._folder.manifest, Disk(), read_only=True)
        try:
            self._check_rows(manifest)
            self._check_order(manifest)
        finally:
            manifest.close()

    def final(self) -> str:
        """Check a finished run and return the SHA-256 of its ledger."""
        manifest = Manifest.open(self._folder.manifest, Disk(), read_only=True)
        try:
            states = {row[0] for row in manifest.query("SELECT DISTINCT state FROM tasks")}
            assert states <= ENDED | {"cancelled"}, f"tasks left over: {sorted(states)}"
            checkpoint = read_checkpoint(self._folder.checkpoint)
            reconciled = reconcile(self._folder.ledger, Projection(manifest), checkpoint)
            assert checkpoint is not None, "no checkpoint"
            assert reconciled.chain.size == checkpoint.size, "the checkpoint is not the last head"
            assert reconciled.good_bytes == self._folder.ledger.stat().st_size, "the ledger is torn"
            assert reconciled.projection.ended, "the ledger does not end with the answer"
        finally:
            manifest.close()
        return hashlib.sha256(self._folder.ledger.read_bytes()).hexdigest()

    def _check_rows(self, manifest: Manifest) -> None:
        store = ObjectStore(self._folder.objects, Disk())
        rows = manifest.query("SELECT lane, round, idx, state, args, value, error FROM task_view")
        now = {}
        for lane, round_, index, state, args, value, error in rows:
            assert state in STATES, f"state {state}"
            if state in ENDED:
                assert (value is None) != (error is None), f"{lane}:{round_}:{index} has no result"
                now[lane, round_, index] = (value, error)
                for digest in objects_in(args) + objects_in(value or ""):
                    store.check(digest)
        for place, outcome in self._durable.items():
            assert now.get(place) == outcome, f"{place} was {outcome}, is {now.get(place)}"
        self._durable = now

    def _check_order(self, manifest: Manifest) -> None:
        """Check that objects ≥ manifest ≥ ledger ≥ checkpoint ≥ heads list."""
        folder = self._folder
        checkpoint = read_checkpoint(folder.checkpoint)
        reconciled = reconcile(folder.ledger, Projection(manifest), checkpoint)
        assert not reconciled.behind, "the ledger leads the manifest"
        lines = count_lines(folder.ledger)
        assert lines == sum(whole for _, whole in read_lines(folder.ledger))
        assert (checkpoint.size if checkpoint else 0) <= lines, "the checkpoint leads the ledger"
        for head in self._heads.binding(manifest.run_id):
            assert checkpoint is not None, "the heads list leads the checkpoint"
            assert head.size <= checkpoint.size, "the heads list leads the checkpoint"
            assert head.commits <= manifest.commits, "the heads list leads the manifest"

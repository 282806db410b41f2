"""Verifies that the ledger agrees with itself, the manifest, the objects and outside heads.

    ledger.jsonl ─ check_ledger ─► facts ─┬─ roots at noted sizes ── heads, --against, signature
                                          ├─ projection, line by line ── manifest.sqlite
                                          └─ objects named ── objects/

Ledger and manifest are checked together as long as they agree. Otherwise the ledger is first
checked alone, which decides which of the two is wrong; the projection then identifies the exact
record. Nothing is changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from weft.errors import (
    Damaged,
    LedgerDamaged,
    ManifestDamaged,
    ObjectDamaged,
    RunRolledBack,
    WeftError,
)
from weft.inspect.access import MANIFEST_HINT, is_locked, open_manifest, run_named
from weft.inspect.agreement import check_together
from weft.inspect.ledgercheck import LedgerFacts, check_ledger_file
from weft.inspect.reuse import reuse_notes
from weft.ledger.checkpoint import Checkpoint
from weft.model.values import JsonValue
from weft.runs.storedcode import check_stored
from weft.runs.witnesses import Signature, check_witnesses, read_against, read_signature, witnesses
from weft.storage.disk import Disk
from weft.storage.folder import RunFile, RunFolder
from weft.storage.heads import Head, HeadsList
from weft.storage.ledgerfile import read_checkpoint
from weft.storage.manifest import ROOT_LANE, Manifest
from weft.storage.objects import ObjectStore
from weft.storage.projection import Projection
from weft.storage.reconcile import Reconciled, reconcile

SCHEMA_VERSION = 1
_EVENTS = ("rollback-accepted", "code-accepted", "copy-accepted", "manifest-rebuilt",
           "manifest-lost", "tail-cut", "moved")  # fmt: skip
"""Events that matter to anyone who relies on the run."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """The result of `verify`, which raises instead if anything is damaged."""

    status: str
    """`finished` or `interrupted`."""
    size: int
    root: str
    past_checkpoint: int
    """Whole records beyond the checkpoint of an interrupted run."""
    objects: int
    outside: str
    signature: str
    completed: int
    failed: int
    timing_dependent: bool
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, JsonValue]:
        """JSON form."""
        return {"schema_version": SCHEMA_VERSION, **asdict(self), "notes": list(self.notes)}


def verify(
    run: Path, heads: HeadsList, *, against: Path | None = None, public_key: Path | None = None
) -> Verdict:
    """Check everything in a run folder and return the verdict.

    Raises LedgerDamaged, ManifestDamaged or ObjectDamaged naming the record, and RunRolledBack
    for an unfinished run that is older than its outside heads. An unfinished run with the tail
    that a crash leaves is `interrupted`, never damaged. With a public key, raises SignatureMissing
    unless that key has signed the whole of a finished ledger.
    """
    folder = RunFolder(run)
    with run_named(run):
        run_file = folder.read_run_file()
        outside = heads.binding(run_file.run_id)
        checkpoint = read_against(against, run_file.search, public_key) if against else None
        signature = read_signature(folder, run_file.search, public_key)
        verification = _Verification(folder, run_file, outside, checkpoint, signature)
        try:
            if not verification.check_together():
                verification.check_ledger()
                verification.check_manifest()
        except RunRolledBack:
            verification.check_signed()  # report a missing signature before advice to accept this
            raise
        verification.check_objects()
        verification.check_reused()
        check_stored(folder, run_file)
        return verification.verdict()


class _Verification:
    """One verification: what is known so far, and a method for each check."""

    def __init__(
        self,
        folder: RunFolder,
        run_file: RunFile,
        outside: Sequence[Head],
        against: Checkpoint | None,
        signature: Signature,
    ) -> None:
        self._folder = folder
        self._run_file = run_file
        self._outside = outside
        self._noted = witnesses(outside, against)
        """Witnesses outside the folder; `checkpoint.sig` is inside it."""
        self._witnesses = witnesses(outside, against, signature.signed)
        self._signature = signature
        self._checkpoint: Checkpoint | None = None
        self._facts = LedgerFacts()
        self._notes: list[str] = []
        self.finished = False

    # -- both at once -------------------------------------------------------------------------

    def check_together(self) -> bool:
        """Check ledger and manifest in one pass; False, with nothing decided, unless all agree."""
        if not self._folder.manifest.is_file():
            return False
        try:
            self._checkpoint = read_checkpoint(self._folder.checkpoint)
            with open_manifest(self._folder) as manifest:
                reconciled = self._agreement(manifest)
                if reconciled is None:
                    return False
                self._check_identity(manifest, reconciled)
            self._check_witnesses()
        except (Damaged, RunRolledBack):
            return False
        self._conclude(reconciled)
        return True

    def _agreement(self, manifest: Manifest) -> Reconciled | None:
        manifest.check_file()
        self._note_events(manifest)
        projection = Projection(manifest)
        sizes = {witness.size for witness in self._witnesses}
        both = check_together(self._folder.ledger, projection, self._checkpoint, sizes)
        if both is None:
            return None
        self._check_unread(manifest, projection)
        self._facts, reconciled = both
        self.finished = self._is_finished()
        return reconciled

    # -- the ledger, alone and against outside heads -----------------------------------------

    def check_ledger(self) -> None:
        try:
            self._walk(sealed=False)
        except LedgerDamaged as error:
            raise self._named(error) from None

    def _walk(self, *, sealed: bool) -> None:
        self._checkpoint = read_checkpoint(self._folder.checkpoint)
        sizes = {witness.size for witness in self._witnesses}
        self._facts = check_ledger_file(
            self._folder.ledger, self._checkpoint, sealed=sealed, sizes=sizes
        )
        self.finished = self._is_finished()
        self._check_witnesses()

    def _is_finished(self) -> bool:
        """Whether the ledger is whole, by its content: file modes prove nothing."""
        safe = self._checkpoint.size if self._checkpoint else 0
        return self._facts.ended and self._facts.size == safe

    def _check_witnesses(self) -> None:
        facts = self._facts
        check_witnesses(self._witnesses, facts.size, facts.roots, finished=self.finished)

    def _named(self, error: LedgerDamaged) -> LedgerDamaged:
        """Identify the exact record by the manifest: the chain may detect damage only later."""
        name = self._folder.ledger.name
        plain = LedgerDamaged(f"{name}: {error.message}", seq=error.seq, hint=error.hint)
        if self._checkpoint is None or not self._folder.manifest.is_file():
            return plain
        try:
            self._reconcile()
        except LedgerDamaged as exact:
            if exact.seq is None or exact.seq == error.seq:
                return plain
            message = f"{name}: record {exact.seq} differs from what was recorded ({error.message})"
            return LedgerDamaged(message, seq=exact.seq)
        except WeftError:
            return plain
        return plain

    # -- the manifest ------------------------------------------------------------------------

    def check_manifest(self) -> None:
        if not self._folder.manifest.is_file():
            self._note_missing()
            return
        try:
            reconciled = self._reconcile()
        except LedgerDamaged as error:
            raise self._blame(error) from None
        self._conclude(reconciled)

    def _conclude(self, reconciled: Reconciled) -> None:
        if not self.finished and self._was_sealed(reconciled):
            try:
                self._walk(sealed=True)  # whole by now, if the run finished since the first walk
            except LedgerDamaged as error:
                raise self._named(error) from None
        self._judge(reconciled)

    def _was_sealed(self, reconciled: Reconciled) -> bool:
        """Whether the manifest has the head of the whole ledger.

        That head is stored only after the ledger and its checkpoint are complete.
        """
        with open_manifest(self._folder) as manifest:
            if manifest.lane_answer(ROOT_LANE) is None:
                return False
            projection = Projection(manifest)
            size = sum(1 for _ in projection.ready())
            [(head_size,)] = manifest.query("SELECT max(size) FROM heads")
            return projection.ended and not reconciled.behind and head_size == size

    def _reconcile(self) -> Reconciled:
        with open_manifest(self._folder) as manifest:
            manifest.check_file()
            self._note_events(manifest)
            reconciled = self._compare(manifest)
            self._check_identity(manifest, reconciled)
            return reconciled

    def _check_identity(self, manifest: Manifest, reconciled: Reconciled) -> None:
        if self.finished and manifest.run_id != self._run_file.run_id:
            raise ManifestDamaged("manifest.sqlite and run.toml belong to different runs")
        if not reconciled.behind and not self.finished:
            self._check_commits(manifest.commits)

    def _compare(self, manifest: Manifest) -> Reconciled:
        """Compare ledger and manifest; every row is checked, and an altered one reported first."""
        projection = Projection(manifest)
        try:
            reconciled = reconcile(self._folder.ledger, projection, self._checkpoint)
        except LedgerDamaged:
            manifest.check()
            raise
        self._check_unread(manifest, projection)
        return reconciled

    def _check_unread(self, manifest: Manifest, projection: Projection) -> None:
        for first, end in projection.unread():
            manifest.check_rows(first, end)

    def _blame(self, error: LedgerDamaged) -> Damaged:
        """Decide which side is damaged: an outside head that covers a record proves the ledger."""
        proven = self._witnesses if self._signature.key_name else self._noted
        witnessed = max((witness.size for witness in proven), default=0)
        if error.seq is None or error.seq >= witnessed:
            return error
        return ManifestDamaged(
            f"manifest.sqlite: it differs from record {error.seq}, which is the one that a head"
            " stored outside the run covers",
            hint=MANIFEST_HINT,
        )

    def _judge(self, reconciled: Reconciled) -> None:
        size = reconciled.chain.size - len(reconciled.pending)
        if reconciled.behind and self.finished:
            raise ManifestDamaged(
                f"manifest.sqlite is older than the ledger: it ends before record {size}",
                hint=MANIFEST_HINT,
            )
        if is_locked(self._folder):
            self._notes.append("a coordinator is running: what it is writing now is not checked")
        elif reconciled.behind:
            self._notes.append(
                f"manifest older than the ledger: it ends before record {size};"
                " resume rebuilds it as far as the ledger reaches"
            )
        elif reconciled.torn_bytes:
            self._notes.append(f"resume cuts {reconciled.torn_bytes} bytes of an unfinished write")

    def _note_missing(self) -> None:
        what = "ledger and objects were checked alone"
        then = "" if self.finished else "; resume rebuilds it as far as the ledger reaches"
        self._notes.append(f"manifest missing: {what}{then}")

    def _note_events(self, manifest: Manifest) -> None:
        rows = manifest.query("SELECT kind, detail FROM events ORDER BY id")
        texts = [
            f"{kind}: {detail}" if detail else kind for kind, detail in rows if kind in _EVENTS
        ]
        self._notes = [f"event {text}" for text in dict.fromkeys(texts)]

    def _check_commits(self, commits: int) -> None:
        last = self._outside[-1].commits if self._outside else 0
        if commits < last:
            raise RunRolledBack(
                f"{self._folder.path} is older than it was: its manifest has {commits} commits,"
                f" {last} were seen",
                hint="restore the newer folder, or continue from here with --accept rollback",
            )

    # -- the objects -------------------------------------------------------------------------

    def check_objects(self) -> None:
        store = ObjectStore(self._folder.objects, Disk())
        for digest, seq in self._facts.objects.items():
            try:
                store.check(digest)
            except ObjectDamaged as error:
                raise ObjectDamaged(f"{error.message}, named by record {seq}") from None

    def check_reused(self) -> None:
        self._notes += reuse_notes(self._folder)

    # -- the signature -----------------------------------------------------------------------

    def check_signed(self) -> str:
        return self._signature.verdict(self._facts.size, finished=self.finished)

    def verdict(self) -> Verdict:
        facts, count = self._facts, len(self._noted)
        safe = self._checkpoint.size if self._checkpoint else 0
        heads = "1 head" if count == 1 else f"{count} heads"
        return Verdict(
            status="finished" if self.finished else "interrupted",
            size=facts.size,
            root=facts.root.hex(),
            past_checkpoint=facts.size - safe,
            objects=len(facts.objects),
            outside=f"agrees with {heads} stored outside the run" if count else "no outside head",
            signature=self.check_signed(),
            completed=facts.completed,
            failed=facts.failed,
            timing_dependent=facts.timing_dependent,
            notes=tuple(self._notes),
        )

"""Writes the ledger: projects what was committed, appends it, checkpoints, signs, notes heads.

Each file is durable before the next is written (ledger, checkpoint, signature, heads list), so
after a crash each may be older than the one before it, never newer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from weft.ledger.chain import Chain
from weft.ledger.checkpoint import Checkpoint
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.heads import Head, HeadsList
from weft.storage.ledgerfile import LedgerFile
from weft.storage.manifest import Manifest
from weft.storage.projection import Projection

CHECKPOINT_EVERY_S = 1.0


@dataclass(slots=True)
class LedgerWriter:
    """The ledger's one writer. Call `extend` after each commit and `close` at the end."""

    folder: RunFolder
    manifest: Manifest
    ledger: LedgerFile
    chain: Chain
    projection: Projection
    origin: str
    heads: HeadsList
    host: str
    disk: Disk
    sign: Callable[[str], str] | None = None
    last_checkpoint_s: float | None = None

    @property
    def head(self) -> tuple[int, str]:
        """Size and root of the ledger as written."""
        return self.chain.size, self.chain.root().hex()

    def extend(self, now_s: float, wall_s: float) -> None:
        """Append what was committed since; checkpoint at most once a second."""
        entries = [entry for batch in self.projection.batches() for entry in batch.entries]
        self.ledger.append(self.chain.next_lines(entries))
        last_s = self.last_checkpoint_s
        if last_s is None or now_s - last_s >= CHECKPOINT_EVERY_S:
            self.checkpoint(wall_s)
            self.last_checkpoint_s = now_s

    def checkpoint(self, wall_s: float, *, restart: bool = False) -> None:
        """Sync the ledger, then write its head to the checkpoint, sign it, and note it outside."""
        self.ledger.sync()
        size, root = self.head
        text = Checkpoint(self.origin, size, self.chain.root()).to_text()
        self.disk.replace(self.folder.checkpoint, text.encode())
        if self.sign is not None:
            self.disk.replace(self.folder.signature, self.sign(text).encode())
        self.manifest.note_head(size, root, wall_s)
        home = self.folder.home(self.host)
        head = Head(size, root, self.manifest.commits, home, restart)
        self.heads.note(self.manifest.run_id, head)

    def finish(self, wall_s: float) -> None:
        """Write the last checkpoint and make the ledger read-only.

        The modes keep accidents away; that the run is finished is said by the files' content.
        """
        self.checkpoint(wall_s)
        self.folder.checkpoint.chmod(0o444)
        self.ledger.freeze()

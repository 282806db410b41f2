"""Writes the ledger: projects what was committed, appends it, checkpoints, signs, notes heads.

Each file is durable before the next is written (ledger, checkpoint, signature, heads list), so
after a crash each may be older than the one before it, never newer.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

from weft.ledger.chain import Chain, ChainState
from weft.ledger.checkpoint import Checkpoint
from weft.ledger.resultcolumns import Entry, ResultColumns
from weft.storage.disk import Disk
from weft.storage.folder import RunFolder
from weft.storage.heads import Head, HeadsList
from weft.storage.ledgerfile import LedgerFile
from weft.storage.manifest import Manifest
from weft.storage.projection import Batch, Projection

CHECKPOINT_EVERY_S = 1.0
Part: TypeAlias = Sequence[Entry]
"""Consecutive records whose lines are rendered together."""


class LineHelper(Protocol):
    """Renders and hashes lines elsewhere, one batch at a time, while the coordinator continues."""

    def begin(self, state: ChainState, parts: Sequence[Part]) -> bool:
        """Accept the records that follow a chain; False if the writer must render them itself."""

    def finish(self) -> tuple[bytes, ChainState] | None:
        """Wait for the lines; return them, each with its newline, and the chain's state after them.

        Returns None if they were lost with the helper.
        """


@dataclass(slots=True)
class LedgerWriter:
    """The ledger's one writer. Call `extend` after each commit and `finish` at the end."""

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
    helper: LineHelper | None = None
    """Renders the lines of large batches, which are appended at the next call."""
    _in_hand: Sequence[Part] = ()
    """The records that the helper is rendering; the ledger file ends before them."""

    @property
    def head(self) -> tuple[int, str]:
        """Size and root of the ledger as written."""
        return self.chain.size, self.chain.root().hex()

    def extend(self, now_s: float, wall_s: float) -> None:
        """Append newly committed records, or pass them to the helper; checkpoint once a second."""
        self._settle()
        parts = _parts(self.projection.batches())
        last_s = self.last_checkpoint_s
        is_due = last_s is None or now_s - last_s >= CHECKPOINT_EVERY_S
        if not is_due and self.helper and self.helper.begin(self.chain.state, parts):
            self._in_hand = parts
            return
        self._append(parts)
        if is_due:
            self.checkpoint(wall_s)
            self.last_checkpoint_s = now_s

    def _settle(self) -> None:
        """Append the lines that the helper has rendered; if they were lost, render them here."""
        if not self._in_hand:
            return
        assert self.helper is not None
        lines = self.helper.finish()
        if lines is None:
            self._append(self._in_hand)
        else:
            self.ledger.append_text(lines[0])
            self.chain.move_to(lines[1])
        self._in_hand = ()

    def _append(self, parts: Sequence[Part]) -> None:
        self.ledger.append([line for part in parts for line in self.chain.next_lines(part)])

    def checkpoint(self, wall_s: float, *, restart: bool = False) -> None:
        """Sync the ledger, then write its head to the checkpoint, sign it, and note it outside."""
        self._settle()
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

        The file modes prevent accidents; the content of the files shows that the run is finished.
        """
        self.checkpoint(wall_s)
        self.folder.checkpoint.chmod(0o444)
        self.ledger.freeze()


def _parts(batches: Iterable[Batch]) -> list[Part]:
    """Join the records of all batches, except results in columns, which stay separate."""
    parts, plain = list[Part](), list[Entry]()
    for batch in batches:
        if not isinstance(batch.entries, ResultColumns):
            plain += batch.entries
            continue
        if plain:
            parts.append(plain)
            plain = []
        parts.append(batch.entries)
    return [*parts, plain] if plain else parts

"""The checkpoint: one tree head as the text of a C2SP tlog-checkpoint, without signatures.

Owns the three lines `origin`, `size`, `root`; `weft.signing` wraps them in a signed note and
knows who signed it. `note_text` only unwraps them.
https://c2sp.org/tlog-checkpoint
"""

from __future__ import annotations

import base64
import binascii
from dataclasses import dataclass

from weft.errors import LedgerDamaged
from weft.ledger.merkle import HASH_BYTES

_ORIGIN_PREFIX = "weft/"


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The head of a ledger: `root` is the Merkle root over its first `size` lines."""

    origin: str
    size: int
    root: bytes

    def to_text(self) -> str:
        """Write the note body; `parse_checkpoint` reads exactly this."""
        return f"{self.origin}\n{self.size}\n{base64.b64encode(self.root).decode()}\n"


def origin_of(search: str) -> str:
    """Return the origin line for the ledgers of a search."""
    return _ORIGIN_PREFIX + search


def parse_checkpoint(text: str) -> Checkpoint:
    """Read a note body back, accepting only what `to_text` writes; raises LedgerDamaged."""
    try:
        origin, size, root, rest = text.split("\n")
        checkpoint = Checkpoint(origin, int(size), base64.b64decode(root, validate=True))
    except (ValueError, binascii.Error):
        raise LedgerDamaged("the checkpoint is not three lines: origin, size, root") from None
    if not origin.startswith(_ORIGIN_PREFIX) or not origin.isprintable():
        raise LedgerDamaged(f"the checkpoint's origin {origin!r:.80} is not {_ORIGIN_PREFIX}…")
    if checkpoint.size < 0 or len(checkpoint.root) != HASH_BYTES:
        raise LedgerDamaged("the checkpoint's size or root is impossible")
    if rest or checkpoint.to_text() != text:
        raise LedgerDamaged("the checkpoint is not written canonically")
    return checkpoint


def note_text(note: str) -> str:
    """Return the text inside a signed note, without asking who signed it; raises LedgerDamaged.

    https://c2sp.org/signed-note: the text, an empty line, one or more signature lines.
    """
    body, separator, signatures = note.rpartition("\n\n")
    if not separator or not signatures.endswith("\n"):
        raise LedgerDamaged("the signed note is not a text, an empty line and signatures")
    return body + "\n"

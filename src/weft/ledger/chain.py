"""Lines in order: `Chain` writes the next one, `check_lines` reads them back and checks them.

Owns seq, prev_hash and the tree over the lines (leaf = the line without its newline). Knows which
kind may stand where, but not whether a record is the one the search asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence

from weft.errors import LedgerDamaged
from weft.ledger.checkpoint import Checkpoint, origin_of
from weft.ledger.merkle import Frontier, leaf_hash
from weft.ledger.records import (
    ZERO_HASH,
    Record,
    are_rendered,
    line_hash,
    parse,
    render,
    render_checked,
)
from weft.model.keys import sha256_hex
from weft.model.values import canonical


class Chain:
    """The end of a ledger: where the next line goes, and the tree over all lines before it."""

    __slots__ = ("_tree", "prev_hash")

    def __init__(self) -> None:
        self.prev_hash = ZERO_HASH
        self._tree = Frontier()

    @property
    def size(self) -> int:
        """The number of lines so far, which is the seq of the next one."""
        return self._tree.size

    def next_line(self, kind: str, key: str, body_text: str) -> bytes:
        """Render the next line around a canonical body, and advance over it."""
        line = render(self._tree.size, self.prev_hash, kind, key, body_text)
        self.accept(line)
        return line

    def next_lines(self, records: Sequence[tuple[str, str, str]]) -> list[bytes]:
        """Render the next lines, each from its kind, key and canonical body, and advance over them.

        The same lines as `next_line` gives one by one, in one pass over their bytes.
        """
        assert are_rendered(records), "a record cannot hold one of these kinds or keys"
        prev_hash, sha256 = self.prev_hash, hashlib.sha256
        lines, leaves = list[bytes](), list[bytes]()
        for seq, (kind, key, body) in enumerate(records, start=self._tree.size):
            line = render_checked(seq, prev_hash, kind, key, body)
            prev_hash = sha256(line).hexdigest()
            lines.append(line)
            leaves.append(sha256(b"\x00" + line).digest())
        self.prev_hash = prev_hash
        self._tree.extend(leaves)
        return lines

    def accept(self, line: bytes) -> None:
        """Advance over a line that is known to be the right next one; nothing is parsed."""
        self.prev_hash = line_hash(line)
        self._tree.append(leaf_hash(line))

    def root(self) -> bytes:
        """Return the Merkle root over the lines so far."""
        return self._tree.root()

    def copy(self) -> Chain:
        """Return a chain that goes on by itself from here."""
        twin = Chain()
        twin.prev_hash = self.prev_hash
        twin._tree = self._tree.copy()
        return twin


def check_lines(
    lines: Iterable[bytes], checkpoint: Checkpoint | None = None
) -> tuple[Chain, Iterator[Record]]:
    """Read lines (without newlines) lazily, giving each record once it has been checked.

    The chain advances as the records are taken: after n of them it stands behind line n.
    Checked are each line's form, seq, prev_hash and kind; the genesis key; and, if given, that
    the ledger reaches the checkpoint and has its origin and root there, before the last record
    under it is given. LedgerDamaged names the first wrong record, or none for a wrong root.
    """
    chain = Chain()
    return chain, _checked(lines, chain, checkpoint)


def _checked(
    lines: Iterable[bytes], chain: Chain, checkpoint: Checkpoint | None
) -> Iterator[Record]:
    ended = False
    if checkpoint and checkpoint.size == 0:
        _check_head(chain, checkpoint)
    for seq, line in enumerate(lines):
        try:
            record = parse(line)
            _check_place(record, seq, chain.prev_hash, ended)
            if seq == 0:
                _check_genesis(record, checkpoint)
        except LedgerDamaged as error:
            raise LedgerDamaged(f"record {seq}: {error.message}", seq=seq) from None
        chain.accept(line)
        if checkpoint and seq + 1 == checkpoint.size:
            _check_head(chain, checkpoint)
        ended = record.kind == "answer" and record.body.get("lane") == ""
        yield record
    if checkpoint and chain.size < checkpoint.size:
        _check_head(chain, checkpoint)


def _check_place(record: Record, seq: int, prev_hash: str, ended: bool) -> None:
    """Check a record against its place in the chain."""
    if record.seq != seq:
        raise LedgerDamaged(f"its seq is {record.seq}")
    if record.prev_hash != prev_hash:
        raise LedgerDamaged("its prev_hash is not the hash of the line before it")
    if ended:
        raise LedgerDamaged("it stands after the root's answer, which ends a ledger")
    if (record.kind == "genesis") != (seq == 0):
        raise LedgerDamaged(f"kind {record.kind} cannot stand here; only record 0 is the genesis")


def _check_genesis(record: Record, checkpoint: Checkpoint | None) -> None:
    """Check that record 0 is named by its own content, and belongs to the checkpoint."""
    if record.key != sha256_hex(canonical(record.body)):
        raise LedgerDamaged("the genesis key is not the hash of its body")
    origin = origin_of(str(record.body.get("search")))
    if checkpoint and checkpoint.origin != origin:
        raise LedgerDamaged(f"its origin is {origin}, the checkpoint's is {checkpoint.origin}")


def _check_head(chain: Chain, checkpoint: Checkpoint) -> None:
    """Check the root where the checkpoint was taken, or where the ledger ended before it."""
    size, root = checkpoint.size, chain.root()
    if chain.size < size:
        raise LedgerDamaged(
            f"record {chain.size}: missing; the checkpoint counts {size}", seq=chain.size
        )
    if root != checkpoint.root:
        raise LedgerDamaged(
            f"the root over the first {size} records is {root.hex()}, "
            f"the checkpoint says {checkpoint.root.hex()}"
        )

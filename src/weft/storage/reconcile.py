"""The one path of recovery, resume and verify: the ledger must be a prefix of the projection.

    manifest ── Projection ──► lines it should have ─┐
                                                     ├─ compared line by line
    ledger.jsonl ────────────► lines it has ─────────┘

A torn tail above the checkpoint is to be cut; a difference below it is damage, and so is anything
after the root's answer; lines beyond what the manifest knows (it is gone or older) are handed to
`rebuild`. This module only looks; the caller decides whether to change anything.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from weft.errors import LedgerDamaged
from weft.ledger.chain import Chain, check_lines
from weft.ledger.checkpoint import Checkpoint
from weft.ledger.records import Record
from weft.storage.ledgerfile import read_lines
from weft.storage.plainfile import is_plain_file
from weft.storage.projection import Projection


@dataclass(slots=True)
class Reconciled:
    """How far ledger and manifest agree, and what is left over on either side."""

    chain: Chain
    projection: Projection
    good_bytes: int
    torn_bytes: int
    pending: list[bytes]
    """The projected line that the file lacks, if one was already taken from the projection."""
    behind: bool
    """The ledger has good records beyond what the manifest knows."""


def reconcile(ledger: Path, projection: Projection, checkpoint: Checkpoint | None) -> Reconciled:
    """Compare the ledger file with the projection; raise `LedgerDamaged` below the checkpoint."""
    chain, safe = Chain(), checkpoint.size if checkpoint else 0
    good_bytes, size_bytes = 0, ledger.stat().st_size if is_plain_file(ledger) else 0
    lines, entries = read_lines(ledger), projection.ready()
    pending: list[bytes] = []
    behind = False
    for line, whole in lines:
        entry = next(entries, None)
        if entry is None:
            if projection.ended:
                raise _after_answer(ledger, chain.size)
            behind = whole
            break
        before = chain.copy() if chain.size >= safe else None
        expected = chain.next_line(entry.kind, entry.key, entry.body)
        if line != expected or not whole:
            if before is None:
                raise LedgerDamaged(
                    f"{ledger.name}: record {chain.size - 1} is not what the manifest says was"
                    " recorded",
                    seq=chain.size - 1,
                )
            pending = [expected]
            break
        good_bytes += len(line) + 1
        _check_checkpoint(chain, checkpoint)
    _check_reached(ledger, chain, checkpoint, pending, behind)
    torn = 0 if behind else size_bytes - good_bytes
    return Reconciled(chain, projection, good_bytes, torn, pending, behind)


def _check_checkpoint(chain: Chain, checkpoint: Checkpoint | None) -> None:
    if checkpoint and chain.size == checkpoint.size and chain.root() != checkpoint.root:
        raise LedgerDamaged(
            f"checkpoint: its root is not that of the first {chain.size} records",
            seq=chain.size - 1,
        )


def _check_reached(
    ledger: Path, chain: Chain, checkpoint: Checkpoint | None, pending: list[bytes], behind: bool
) -> None:
    size = chain.size - len(pending)
    if checkpoint and size < checkpoint.size and not behind:
        raise LedgerDamaged(
            f"{ledger.name}: record {size} is missing; the checkpoint counts {checkpoint.size}",
            seq=size,
        )


def _after_answer(ledger: Path, seq: int) -> LedgerDamaged:
    """The error for what no crash can leave: a record after the root's answer."""
    reason = "stands after the root's answer, which ends a ledger"
    return LedgerDamaged(f"{ledger.name}: record {seq} {reason}", seq=seq)


def good_records(ledger: Path, checkpoint: Checkpoint | None) -> Iterator[Record]:
    """Records of the ledger taken alone, up to a torn tail above the checkpoint.

    For rebuilding a manifest that is gone or older. Damage below the checkpoint is raised, and
    so is a line after the root's answer.
    """
    safe = checkpoint.size if checkpoint else 0
    whole_lines = (line for line, whole in read_lines(ledger) if whole)
    _, records = check_lines(whole_lines, checkpoint)
    seq, ended = 0, False
    try:
        for record in records:
            ended = record.kind == "answer" and record.body.get("lane") == ""
            yield record
            seq += 1
    except LedgerDamaged:
        if seq < safe or ended:
            raise

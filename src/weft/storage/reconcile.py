"""The one path of recovery, resume and verify: the ledger must be a prefix of the projection.

    manifest ── Projection ──► lines it should have ─┐
                                                     ├─ compared, many at a time
    ledger.jsonl ────────────► lines it has ─────────┘

A torn tail after the checkpoint is to be cut; a difference before it is damage, and so is anything
after the root's answer; lines beyond what the manifest knows (it is missing or older) are for
`rebuild`. This module only reads; the caller decides whether to change anything.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Protocol

from weft.errors import LedgerDamaged
from weft.ledger.chain import Chain, check_lines
from weft.ledger.checkpoint import Checkpoint
from weft.ledger.records import Record
from weft.storage.ledgerfile import read_lines
from weft.storage.plainfile import is_plain_file, open_plain
from weft.storage.projection import Batch, Projection


@dataclass(slots=True)
class Reconciled:
    """How far ledger and manifest agree, and what is left over on either side."""

    chain: Chain
    projection: Projection
    good_bytes: int
    torn_bytes: int
    pending: list[bytes]
    """Projected lines that the file lacks; the projection does not yield them again."""
    behind: bool
    """Whether the ledger has good records beyond what the manifest knows."""


class Observer(Protocol):
    """Receives the records on which ledger and projection agree, for further checks."""

    def next_stop(self, size: int) -> int | None:
        """Return the next size beyond `size` at which it needs to see the chain."""

    def accept(self, batch: Batch, lines: Sequence[bytes], chain: Chain) -> None:
        """Receive the next records, their lines, and the chain after them."""


def reconcile(
    ledger: Path,
    projection: Projection,
    checkpoint: Checkpoint | None,
    observer: Observer | None = None,
) -> Reconciled:
    """Compare the ledger file with the projection; raises `LedgerDamaged` before the checkpoint."""
    comparison = _Comparison(ledger, projection, checkpoint)
    comparison.take_equal(observer)
    return comparison.take_rest()


class _Comparison:
    """One comparison: `take_equal` in batches while they agree, then `take_rest` line by line."""

    def __init__(self, ledger: Path, projection: Projection, checkpoint: Checkpoint | None) -> None:
        self._ledger = ledger
        self._projection = projection
        self._checkpoint = checkpoint
        self._safe = checkpoint.size if checkpoint else 0
        self._chain = Chain()
        self._good_bytes = 0
        self._batches = projection.batches()
        self._entries: deque[tuple[str, str, str]] = deque()
        """Entries taken from the projection that differ or have not been compared yet."""

    def take_equal(self, observer: Observer | None) -> None:
        """Advance batch by batch as long as the file has exactly the bytes projected."""
        if not is_plain_file(self._ledger):
            return
        with open_plain(self._ledger) as file:
            for batch in self._batches:
                done, count = 0, len(batch.entries)
                while done < count:
                    part = batch.part(done, self._part_end(done, count, observer))
                    if not self._take_part(part, file, observer):
                        self._entries.extend(batch.entries[done:])
                        return
                    done += len(part.entries)

    def _part_end(self, done: int, count: int, observer: Observer | None) -> int:
        """Return where the next part of a batch ends: at the latest where a root is needed."""
        size = self._chain.size
        stops = [self._safe, observer.next_stop(size) if observer else None]
        return min([count, *(done + stop - size for stop in stops if stop and stop > size)])

    def _take_part(self, part: Batch, file: BinaryIO, observer: Observer | None) -> bool:
        chain = self._chain.copy()
        lines = chain.next_lines(part.entries)
        data = b"\n".join(lines) + b"\n"
        if file.read(len(data)) != data:
            return False
        self._chain = chain
        self._good_bytes += len(data)
        _check_checkpoint(chain, self._checkpoint)
        if observer is not None:
            observer.accept(part, lines, chain)
        return True

    def take_rest(self) -> Reconciled:
        """Compare line by line up to the first difference or the end of either side."""
        chain, pending, behind = self._chain, list[bytes](), False
        size_bytes = self._ledger.stat().st_size if is_plain_file(self._ledger) else 0
        for line, whole in read_lines(self._ledger, self._good_bytes):
            entry = self._next_entry()
            if entry is None:
                if self._projection.ended:
                    raise _after_answer(self._ledger, chain.size)
                behind = whole
                break
            seq, expected = chain.size, chain.next_line(*entry)
            if line != expected or not whole:
                if seq < self._safe:
                    raise _differs(self._ledger, seq)
                pending = [expected]
                break
            self._good_bytes += len(line) + 1
            _check_checkpoint(chain, self._checkpoint)
        pending += chain.next_lines([*self._entries])
        _check_reached(self._ledger, chain, self._checkpoint, pending, behind)
        torn = 0 if behind else size_bytes - self._good_bytes
        return Reconciled(chain, self._projection, self._good_bytes, torn, pending, behind)

    def _next_entry(self) -> tuple[str, str, str] | None:
        if not self._entries and (batch := next(self._batches, None)):
            self._entries.extend(batch.entries)
        return self._entries.popleft() if self._entries else None


def _differs(ledger: Path, seq: int) -> LedgerDamaged:
    reason = f"record {seq} differs from the manifest"
    return LedgerDamaged(f"{ledger.name}: {reason}", seq=seq)


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
            f"{ledger.name}: record {size} is missing; the checkpoint has {checkpoint.size}",
            seq=size,
        )


def _after_answer(ledger: Path, seq: int) -> LedgerDamaged:
    """Return the error for a record after the root's answer, which no crash can leave."""
    reason = "comes after the root's answer, which ends a ledger"
    return LedgerDamaged(f"{ledger.name}: record {seq} {reason}", seq=seq)


def good_records(ledger: Path, checkpoint: Checkpoint | None) -> Iterator[Record]:
    """Yield the records of the ledger on its own, up to a torn tail after the checkpoint.

    For rebuilding a missing or older manifest. Raises `LedgerDamaged` for damage before the
    checkpoint and for a line after the root's answer.
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

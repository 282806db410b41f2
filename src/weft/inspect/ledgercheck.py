"""Checks the ledger alone: every line, key and total, in one pass.

`check_ledger` takes an iterable of lines, from a file or from memory. It uses the checkpoint beside
the ledger, but not the manifest, the objects or heads stored outside; these are then compared with
its result, `LedgerFacts`.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from weft.errors import LedgerDamaged
from weft.inspect.grammar import Grammar
from weft.ledger.chain import LineChecker
from weft.ledger.checkpoint import Checkpoint
from weft.ledger.records import Record
from weft.ledger.resultlines import RoundPlace, accept_results
from weft.model.values import objects_in
from weft.runs.prior import retry_of
from weft.storage.plainfile import is_plain_file, open_plain

BATCH_BYTES = 1 << 18
"""Lines are checked in batches of this size, so memory does not grow with the ledger."""
_RESULT = b'"kind":"result"'
_DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(slots=True)
class LedgerFacts:
    """What the intact part of a ledger records."""

    size: int = 0
    root: bytes = b""
    torn_bytes: int = 0
    """Bytes of an unfinished write after the last whole record; none after the answer."""
    search: str = ""
    ended: bool = False
    completed: int = 0
    failed: int = 0
    timing_dependent: bool = False
    objects: dict[str, int] = field(default_factory=dict)
    """Each digest named, with the number of the first record that names it."""
    roots: dict[int, bytes] = field(default_factory=dict)
    """The root at each requested size that was reached."""


def check_ledger(
    lines: Iterable[bytes],
    checkpoint: Checkpoint | None,
    *,
    sealed: bool,
    sizes: Collection[int] = (),
) -> LedgerFacts:
    """Check that lines (each with its newline) agree with each other and with the checkpoint.

    A sealed ledger must be whole: it ends with the root's answer, at the checkpoint. Any other
    may have a torn tail beyond the checkpoint, but nothing after the answer. Raises LedgerDamaged
    naming the first wrong record; an altered line may be detected only by the `prev_hash` of the
    next one.
    """
    return _Walk(lines, checkpoint, sealed, frozenset(sizes)).run()


def check_ledger_file(
    path: Path, checkpoint: Checkpoint | None, *, sealed: bool, sizes: Collection[int] = ()
) -> LedgerFacts:
    """Check a file like `check_ledger`; a missing file has no records."""
    if not is_plain_file(path):
        return check_ledger((), checkpoint, sealed=sealed, sizes=sizes)
    with open_plain(path) as file:
        return check_ledger(file, checkpoint, sealed=sealed, sizes=sizes)


class _Walk:
    """One pass over the lines."""

    def __init__(
        self,
        lines: Iterable[bytes],
        checkpoint: Checkpoint | None,
        sealed: bool,
        sizes: frozenset[int],
    ) -> None:
        self._source = iter(lines)
        self._checker = LineChecker(checkpoint)
        self._sealed = sealed
        self._sizes = sizes
        self._safe = checkpoint.size if checkpoint else 0
        self._stops = sorted({*sizes, self._safe}, reverse=True)
        """Sizes at which a root is needed, in descending order; removed once passed."""
        self._facts = LedgerFacts()
        self._grammar = Grammar()

    def run(self) -> LedgerFacts:
        self._checker.check_head()
        self._note_root()
        torn_bytes = 0
        for batch in _batches(self._source):
            consumed = self._take_batch(batch)
            if consumed < len(batch):
                torn_bytes = sum(map(len, batch[consumed:])) + sum(map(len, self._source))
                break
        else:
            self._checker.check_reached()
        facts = self._facts
        facts.root, facts.torn_bytes = self._checker.chain.root(), torn_bytes
        if self._grammar.ended and facts.torn_bytes:
            raise self._after_answer()
        if self._sealed:
            self._check_sealed()
        return self._complete()

    def _take_batch(self, batch: Sequence[bytes]) -> int:
        """Check whole lines up to a tail that a crash may leave; return how many were good."""
        whole = len(batch) if batch[-1].endswith(b"\n") else len(batch) - 1
        lines = [line[:-1] for line in batch[:whole]]
        consumed = plain = 0
        while consumed < len(lines):
            if plain or not (place := self._place_of(lines[consumed])):
                plain = max(0, plain - 1)
                if not self._take_line(lines[consumed]):
                    return consumed
                consumed += 1
            else:
                slice_ = lines[consumed : consumed + self._until_stop()]
                count, plain = self._take_results(slice_, place)
                consumed += count
            self._note_root()
        if whole < len(batch):
            self._checker.check_reached()
        return consumed

    def _until_stop(self) -> int:
        """Return how many lines may be checked before the next root is needed."""
        size = self._facts.size
        while self._stops and self._stops[-1] <= size:
            self._stops.pop()
        return self._stops[-1] - size if self._stops else sys.maxsize

    def _note_root(self) -> None:
        if self._facts.size in self._sizes:
            self._facts.roots[self._facts.size] = self._checker.chain.root()

    def _place_of(self, line: bytes) -> RoundPlace | None:
        """Return the expected position of a line that looks like a result; None for any other."""
        return self._grammar.place() if _RESULT in line else None

    def _take_results(self, lines: Sequence[bytes], place: RoundPlace) -> tuple[int, int]:
        """Check leading lines that are completed results of the open round, all at once.

        Returns how many were accepted, and how many after them must be checked one by one.
        """
        count, plain = accept_results(lines, self._checker.chain, place)
        self._grammar.skip(count)
        self._count(lines[:count])
        if count:
            self._checker.check_head()
        return count, plain

    def _take_line(self, line: bytes) -> bool:
        """Check one line of any kind; False if it is bad where a crash may leave a torn tail."""
        try:
            record = self._checker.take(line)
        except LedgerDamaged:
            if self._sealed or self._grammar.ended or self._facts.size < self._safe:
                raise
            return False
        self._take(record)
        self._count([line])
        return True

    def _take(self, record: Record) -> None:
        """Check a whole and correctly chained record; if it is wrong, Weft never wrote it."""
        seq = self._facts.size
        try:
            self._grammar.take(record)
            if seq == 0:
                self._take_genesis(record)
        except LedgerDamaged as error:
            raise LedgerDamaged(f"record {seq}: {error.message}", seq=seq) from None

    def _count(self, lines: Sequence[bytes]) -> None:
        """Count lines and collect the objects that they name."""
        for seq, line in enumerate(lines, self._facts.size):
            if b'"$o"' in line:
                for digest in objects_in(line.decode()):
                    self._facts.objects.setdefault(digest, seq)
        self._facts.size += len(lines)

    def _take_genesis(self, record: Record) -> None:
        self._facts.search = str(record.body["search"])
        for digest in genesis_objects(record):
            self._facts.objects.setdefault(digest, 0)

    def _after_answer(self) -> LedgerDamaged:
        """Return the error for data after the root's answer, which no crash can leave."""
        size = self._facts.size
        reason = "it comes after the root's answer, which ends a ledger"
        return LedgerDamaged(f"record {size}: {reason}", seq=size)

    def _check_sealed(self) -> None:
        """Check that a finished ledger ends with its answer, at its checkpoint."""
        size = self._facts.size
        if self._facts.torn_bytes:
            raise LedgerDamaged(f"record {size}: its line has no end", seq=size)
        if not self._grammar.ended:
            reason = "missing; a finished ledger ends with the root's answer"
            raise LedgerDamaged(f"record {size}: {reason}", seq=size)
        if size > self._safe:
            reason = f"it lies beyond the checkpoint, which counts {self._safe}"
            raise LedgerDamaged(f"record {self._safe}: {reason}", seq=self._safe)

    def _complete(self) -> LedgerFacts:
        facts, grammar = self._facts, self._grammar
        facts.ended = grammar.ended
        facts.completed, facts.failed = grammar.completed, grammar.failed
        facts.timing_dependent = grammar.timing_dependent
        return facts


def genesis_objects(record: Record) -> Iterable[str]:
    """Return the digests that a genesis names: its inputs and, for a retry, the retried ledger.

    Raises LedgerDamaged if one is not a SHA-256 digest.
    """
    inputs, retry = record.body["inputs"], retry_of(record.body)
    if type(inputs) is not dict or not all(map(_is_digest, inputs.values())):
        raise LedgerDamaged("its inputs are not names of SHA-256 digests")
    if retry is None:
        return inputs.values()
    if not _is_digest(retry.ledger):
        raise LedgerDamaged("the ledger that it retries is not named by a SHA-256 digest")
    return (*inputs.values(), retry.ledger)


def _batches(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Group lines into batches of about BATCH_BYTES, each of at least one line."""
    batch, size_bytes = list[bytes](), 0
    for line in lines:
        batch.append(line)
        size_bytes += len(line)
        if size_bytes >= BATCH_BYTES:
            yield batch
            batch, size_bytes = [], 0
    if batch:
        yield batch


def _is_digest(value: object) -> bool:
    return type(value) is str and _DIGEST.fullmatch(value) is not None

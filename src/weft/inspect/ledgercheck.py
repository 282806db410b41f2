"""The ledger alone: every line, key and total of it checked in one pass.

`check_ledger` takes lines as a file gives them, so bytes in memory do as well as a file. It
knows the checkpoint beside the ledger, but neither manifest, objects nor heads noted outside;
its result (`LedgerFacts`) is what those are then compared with.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from weft.errors import LedgerDamaged
from weft.inspect.grammar import Grammar
from weft.ledger.chain import check_lines
from weft.ledger.checkpoint import Checkpoint
from weft.ledger.records import Record
from weft.model.values import objects_in
from weft.storage.plainfile import is_plain_file, open_plain

_DIGEST = re.compile("[0-9a-f]{64}")


@dataclass(slots=True)
class LedgerFacts:
    """What a ledger records, as far as it is whole."""

    size: int = 0
    root: bytes = b""
    torn_bytes: int = 0
    """Bytes of an unfinished write behind the last whole record; none behind the answer."""
    search: str = ""
    ended: bool = False
    completed: int = 0
    failed: int = 0
    timing_dependent: bool = False
    objects: dict[str, int] = field(default_factory=dict)
    """Each digest named, with the record that named it first."""
    roots: dict[int, bytes] = field(default_factory=dict)
    """The root at each size that was asked for and reached."""


def check_ledger(
    lines: Iterable[bytes],
    checkpoint: Checkpoint | None,
    *,
    sealed: bool,
    sizes: Collection[int] = (),
) -> LedgerFacts:
    """Check lines (each with its newline) against themselves and the checkpoint.

    A sealed ledger must be whole: it ends with the root's answer, at the checkpoint. Any other
    may have a torn tail above the checkpoint, but nothing after the answer. Raises LedgerDamaged
    naming the first record that is wrong; a line that was altered may only show in the
    `prev_hash` of the next one.
    """
    return _Walk(lines, checkpoint, sealed, frozenset(sizes)).run()


def check_ledger_file(
    path: Path, checkpoint: Checkpoint | None, *, sealed: bool, sizes: Collection[int] = ()
) -> LedgerFacts:
    """Do the same for a file; one that is missing has no records."""
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
        self._checkpoint = checkpoint
        self._sealed = sealed
        self._sizes = sizes
        self._safe = checkpoint.size if checkpoint else 0
        self._facts = LedgerFacts()
        self._grammar = Grammar()
        self._line = b""
        """The line that is being checked, or a torn one."""

    def run(self) -> LedgerFacts:
        chain, records = check_lines(self._whole_lines(), self._checkpoint)
        if 0 in self._sizes:
            self._facts.roots[0] = chain.root()
        while (record := self._next(records)) is not None:
            self._take(record)
            size = self._facts.size
            if size in self._sizes:
                self._facts.roots[size] = chain.root()
        self._facts.root = chain.root()
        self._facts.torn_bytes = len(self._line) + sum(len(line) for line in self._source)
        if self._grammar.ended and self._facts.torn_bytes:
            raise self._after_answer()
        if self._sealed:
            self._check_sealed()
        return self._complete()

    def _whole_lines(self) -> Iterator[bytes]:
        for line in self._source:
            self._line = line
            if not line.endswith(b"\n"):
                return
            yield line[:-1]
        self._line = b""

    def _next(self, records: Iterator[Record]) -> Record | None:
        """Return the next good record; None at the end or at a tail that a crash may leave."""
        try:
            return next(records, None)
        except LedgerDamaged:
            if self._sealed or self._grammar.ended or self._facts.size < self._safe:
                raise
            return None

    def _take(self, record: Record) -> None:
        """Check a record that is whole and chained: wrong here, it was never ours."""
        facts, seq = self._facts, self._facts.size
        try:
            self._grammar.take(record)
            if seq == 0:
                self._take_genesis(record)
        except LedgerDamaged as error:
            raise LedgerDamaged(f"record {seq}: {error.message}", seq=seq) from None
        if b'"$o"' in self._line:
            for digest in objects_in(self._line.decode()):
                facts.objects.setdefault(digest, seq)
        facts.size = seq + 1

    def _take_genesis(self, record: Record) -> None:
        self._facts.search = str(record.body["search"])
        inputs = record.body["inputs"]
        if type(inputs) is not dict or not all(map(_is_digest, inputs.values())):
            raise LedgerDamaged("its inputs are not names of SHA-256 digests")
        for digest in inputs.values():
            self._facts.objects.setdefault(digest, 0)

    def _after_answer(self) -> LedgerDamaged:
        """Describe what no crash can leave: nothing is ever written after the root's answer."""
        size = self._facts.size
        reason = "it stands after the root's answer, which ends a ledger"
        return LedgerDamaged(f"record {size}: {reason}", seq=size)

    def _check_sealed(self) -> None:
        """Check that a finished ledger ends where its checkpoint and its answer are."""
        size = self._facts.size
        if self._facts.torn_bytes:
            raise LedgerDamaged(f"record {size}: its line has no end", seq=size)
        if not self._grammar.ended:
            reason = "missing; a finished ledger ends with the root's answer"
            raise LedgerDamaged(f"record {size}: {reason}", seq=size)
        if size > self._safe:
            reason = f"it stands beyond the checkpoint, which counts {self._safe}"
            raise LedgerDamaged(f"record {self._safe}: {reason}", seq=self._safe)

    def _complete(self) -> LedgerFacts:
        facts, grammar = self._facts, self._grammar
        facts.ended = grammar.ended
        facts.completed, facts.failed = grammar.completed, grammar.failed
        facts.timing_dependent = grammar.timing_dependent
        return facts


def _is_digest(value: object) -> bool:
    return type(value) is str and _DIGEST.fullmatch(value) is not None

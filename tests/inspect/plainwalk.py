"""The plain twin of `weft.inspect.ledgercheck`: one line after another, nothing in bulk."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

from weft.errors import LedgerDamaged
from weft.inspect.grammar import Grammar
from weft.inspect.ledgercheck import LedgerFacts, genesis_objects
from weft.ledger.chain import check_lines
from weft.ledger.checkpoint import Checkpoint
from weft.ledger.records import Record
from weft.model.values import objects_in


def check_plainly(
    lines: Sequence[bytes],
    checkpoint: Checkpoint | None,
    *,
    sealed: bool,
    sizes: Collection[int] = (),
) -> LedgerFacts:
    """Do the same as `check_ledger`, record by record."""
    return _PlainWalk(lines, checkpoint, sealed, sizes).run()


class _PlainWalk:
    def __init__(
        self,
        lines: Iterable[bytes],
        checkpoint: Checkpoint | None,
        sealed: bool,
        sizes: Collection[int],
    ) -> None:
        self._source = iter(lines)
        self._checkpoint = checkpoint
        self._sealed = sealed
        self._sizes = sizes
        self._safe = checkpoint.size if checkpoint else 0
        self._facts = LedgerFacts()
        self._grammar = Grammar()
        self._line = b""

    def run(self) -> LedgerFacts:
        facts = self._facts
        chain, records = check_lines(self._whole_lines(), self._checkpoint)
        if 0 in self._sizes:
            facts.roots[0] = chain.root()
        while (record := self._next(records)) is not None:
            self._take(record)
            if facts.size in self._sizes:
                facts.roots[facts.size] = chain.root()
        facts.root = chain.root()
        facts.torn_bytes = len(self._line) + sum(len(line) for line in self._source)
        facts.ended = self._grammar.ended
        if facts.ended and facts.torn_bytes:
            reason = "it comes after the root's answer, which ends a ledger"
            raise LedgerDamaged(f"record {facts.size}: {reason}", seq=facts.size)
        if self._sealed:
            self._check_sealed()
        facts.completed, facts.failed = self._grammar.completed, self._grammar.failed
        facts.timing_dependent = self._grammar.timing_dependent
        return facts

    def _whole_lines(self) -> Iterator[bytes]:
        for line in self._source:
            self._line = line
            if not line.endswith(b"\n"):
                return
            yield line[:-1]
        self._line = b""

    def _next(self, records: Iterator[Record]) -> Record | None:
        try:
            return next(records, None)
        except LedgerDamaged:
            if self._sealed or self._grammar.ended or self._facts.size < self._safe:
                raise
            return None

    def _take(self, record: Record) -> None:
        facts, seq = self._facts, self._facts.size
        try:
            self._grammar.take(record)
            if seq == 0:
                facts.search = str(record.body["search"])
                facts.objects.update(dict.fromkeys(genesis_objects(record), 0))
        except LedgerDamaged as error:
            raise LedgerDamaged(f"record {seq}: {error.message}", seq=seq) from None
        for digest in objects_in(self._line.decode()):
            facts.objects.setdefault(digest, seq)
        facts.size = seq + 1

    def _check_sealed(self) -> None:
        size = self._facts.size
        if self._facts.torn_bytes:
            raise LedgerDamaged(f"record {size}: its line has no end", seq=size)
        if not self._grammar.ended:
            reason = "missing; a finished ledger ends with the root's answer"
            raise LedgerDamaged(f"record {size}: {reason}", seq=size)
        if size > self._safe:
            reason = f"it lies beyond the checkpoint, which counts {self._safe}"
            raise LedgerDamaged(f"record {self._safe}: {reason}", seq=self._safe)

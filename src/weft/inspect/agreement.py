"""Checks ledger and manifest together, in one pass, as long as they agree.

    manifest ── Projection ──► lines ── compared with ledger.jsonl (`reconcile`)
                     └──────► rows ── keys, canonical form, order of records (here)

Lines that file and projection have in common are hashed only once, and their texts are not parsed
again. The result is that of `check_ledger_file` and `reconcile`. On the first discrepancy there is
no result, and the caller checks each side alone to identify the problem.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Sequence
from pathlib import Path

from weft.errors import LedgerDamaged
from weft.inspect.grammar import Grammar
from weft.inspect.ledgercheck import LedgerFacts, genesis_objects
from weft.ledger.chain import Chain, LineChecker
from weft.ledger.checkpoint import Checkpoint
from weft.ledger.resultlines import RoundPlace, are_results
from weft.model.values import objects_in
from weft.storage.projection import Batch, Projection
from weft.storage.reconcile import Reconciled, reconcile


def check_together(
    ledger: Path,
    projection: Projection,
    checkpoint: Checkpoint | None,
    sizes: Collection[int] = (),
) -> tuple[LedgerFacts, Reconciled] | None:
    """Check a ledger and its manifest against each other; None unless they agree completely."""
    observer = _Observer(checkpoint, sizes)
    try:
        reconciled = reconcile(ledger, projection, checkpoint, observer)
        facts = observer.facts()
    except LedgerDamaged:
        return None
    whole = not (reconciled.behind or reconciled.torn_bytes)
    same = facts.size == reconciled.chain.size - len(reconciled.pending)
    return (facts, reconciled) if whole and same else None


class _Observer:
    """The checks of `check_ledger` beyond the chain, on lines that `reconcile` found in both."""

    def __init__(self, checkpoint: Checkpoint | None, sizes: Collection[int]) -> None:
        self._checker = LineChecker(checkpoint)
        self._sizes = sorted(sizes)
        self._grammar = Grammar()
        self._facts = LedgerFacts()
        self._note_root()

    def next_stop(self, size: int) -> int | None:
        place = bisect_right(self._sizes, size)
        return self._sizes[place] if place < len(self._sizes) else None

    def accept(self, batch: Batch, lines: Sequence[bytes], chain: Chain) -> None:
        if not self._accept_results(batch, chain):
            for line in lines:
                self._take(line)
        self._note_objects(lines)
        self._facts.size += len(lines)
        self._note_root()

    def _accept_results(self, batch: Batch, chain: Chain) -> bool:
        """Accept a batch of completed results of the open round; False for any other batch."""
        place = self._grammar.place()
        if place is None or not batch.rows or batch.place != _tuple_of(place):
            return False
        texts = [
            (key, function, args, value)
            for _, _, key, function, args, value, error in batch.rows
            if error is None and value is not None
        ]
        if len(texts) < len(batch.rows) or not are_results(texts, place, chain.prev_hash):
            return False
        self._grammar.skip(len(texts))
        self._checker.chain = chain.copy()
        return True

    def _take(self, line: bytes) -> None:
        """Check one line of any kind; raises LedgerDamaged."""
        record = self._checker.take(line)
        self._grammar.take(record)
        if record.seq == 0:
            self._facts.search = str(record.body["search"])
            self._facts.objects.update(dict.fromkeys(genesis_objects(record), 0))

    def _note_objects(self, lines: Sequence[bytes]) -> None:
        if b'"$o"' not in b"".join(lines):
            return
        for seq, line in enumerate(lines, self._facts.size):
            if b'"$o"' in line:
                for digest in objects_in(line.decode()):
                    self._facts.objects.setdefault(digest, seq)

    def _note_root(self) -> None:
        if self._facts.size in self._sizes:
            self._facts.roots[self._facts.size] = self._checker.chain.root()

    def facts(self) -> LedgerFacts:
        """Return the facts; raises LedgerDamaged if the ledger ends before the checkpoint."""
        self._checker.check_reached()
        facts, grammar = self._facts, self._grammar
        facts.root, facts.ended = self._checker.chain.root(), grammar.ended
        facts.completed, facts.failed = grammar.completed, grammar.failed
        facts.timing_dependent = grammar.timing_dependent
        return facts


def _tuple_of(place: RoundPlace) -> tuple[str, int, int]:
    return place.lane, place.round, place.recorded

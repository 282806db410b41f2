"""Lines in order: `Chain` writes the next ones, `LineChecker` reads them back and checks them.

Owns seq, prev_hash and the tree over the lines (leaf = the line without its newline). Knows which
kind may occur where, but not whether a record is the one the search asked for. `resultlines`
checks many lines of one round at once and advances the same chain.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from weft.errors import LedgerDamaged
from weft.ledger.checkpoint import Checkpoint, origin_of
from weft.ledger.merkle import Frontier, leaf_hash
from weft.ledger.records import ZERO_HASH, Record, are_keys, line_hash, parse, render
from weft.ledger.resultcolumns import Entry, ResultColumns
from weft.model.keys import sha256_hex
from weft.model.values import canonical


@dataclass(frozen=True, slots=True)
class ChainState:
    """The whole state of a chain: its size, the hash of its last line, the peaks of its tree."""

    size: int
    prev_hash: str
    peaks: tuple[bytes, ...]


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

    def accept(self, line: bytes) -> None:
        """Advance over a line that is known to be the right next one; nothing is parsed."""
        self.prev_hash = line_hash(line)
        self._tree.append(leaf_hash(line))

    def next_lines(self, entries: Sequence[Entry]) -> list[bytes]:
        """Render the next lines around (kind, key, canonical body), like repeated `next_line`."""
        if isinstance(entries, ResultColumns) and are_keys(entries.keys):
            return self._next_results(entries)
        if not are_keys([key for _, key, _ in entries]):
            return [self.next_line(*entry) for entry in entries]  # it refuses the invalid one
        lines, sha256 = list[bytes](), hashlib.sha256
        prev_hash = self.prev_hash
        for seq, (kind, key, body) in enumerate(entries, self._tree.size):
            line = (
                f'{{"body":{body},"key":"{key}","kind":"{kind}","prev_hash":"{prev_hash}"'
                f',"seq":{seq},"v":1}}'
            ).encode()
            prev_hash = sha256(line).hexdigest()
            lines.append(line)
        self.accept_hashed(prev_hash, [sha256(b"\x00" + line).digest() for line in lines])
        return lines

    def _next_results(self, results: ResultColumns) -> list[bytes]:
        """Render the next lines of results without building their bodies first."""
        lines, sha256 = list[bytes](), hashlib.sha256
        prev_hash, between, before_value = self.prev_hash, results.between, results.before_value
        seq, index = self._tree.size, results.first
        for key, args, value in zip(results.keys, results.args, results.values, strict=True):
            line = (
                f'{{"body":{{"args":{args}{between}{index}{before_value}{value}}},"key":"{key}"'
                f',"kind":"result","prev_hash":"{prev_hash}","seq":{seq},"v":1}}'
            ).encode()
            prev_hash = sha256(line).hexdigest()
            lines.append(line)
            seq += 1
            index += 1
        self.accept_hashed(prev_hash, [sha256(b"\x00" + line).digest() for line in lines])
        return lines

    def accept_all(self, lines: Sequence[bytes]) -> None:
        """Advance over lines that are known to be the right next ones."""
        if lines:
            sha256 = hashlib.sha256
            self.prev_hash = line_hash(lines[-1])
            self._tree.extend([sha256(b"\x00" + line).digest() for line in lines])

    def accept_hashed(self, last_hash: str, leaves: Sequence[bytes]) -> None:
        """Advance over lines whose hashes are known: that of the last line, and every leaf."""
        self.prev_hash = last_hash
        self._tree.extend(leaves)

    def root(self) -> bytes:
        """Return the Merkle root over the lines so far."""
        return self._tree.root()

    @property
    def state(self) -> ChainState:
        """The current state, from which a chain elsewhere can continue."""
        return ChainState(self._tree.size, self.prev_hash, self._tree.peaks)

    def move_to(self, state: ChainState) -> None:
        """Take the state of another chain that continued from here."""
        self.prev_hash = state.prev_hash
        self._tree = Frontier.of(state.size, state.peaks)

    def copy(self) -> Chain:
        """Return an independent chain that continues from here."""
        twin = Chain()
        twin.move_to(self.state)
        return twin


def check_lines(
    lines: Iterable[bytes], checkpoint: Checkpoint | None = None
) -> tuple[Chain, Iterator[Record]]:
    """Return a chain, and the records of lines (without newlines), checked lazily one by one.

    The chain advances as the records are consumed: after n of them it has advanced over n lines.
    Raises LedgerDamaged naming the first wrong record, or no record if the root is wrong.
    """
    checker = LineChecker(checkpoint)
    return checker.chain, _checked(lines, checker)


def _checked(lines: Iterable[bytes], checker: LineChecker) -> Iterator[Record]:
    checker.check_head()
    for line in lines:
        yield checker.take(line)
    checker.check_reached()


class LineChecker:
    """Checks lines one by one: the form, seq, prev_hash and kind of each, and the genesis key.

    With a checkpoint it also checks the origin, that the ledger reaches the checkpoint, and the
    root there, before it returns the last record that the checkpoint covers.
    """

    __slots__ = ("chain", "checkpoint", "ended")

    def __init__(self, checkpoint: Checkpoint | None) -> None:
        self.chain = Chain()
        self.checkpoint = checkpoint
        self.ended = False
        """Whether the last line was the root's answer, after which nothing may follow."""

    def take(self, line: bytes) -> Record:
        """Check the next line and advance over it; raises LedgerDamaged with its seq."""
        chain, seq = self.chain, self.chain.size
        try:
            record = parse(line)
            _check_place(record, seq, chain.prev_hash, self.ended)
            if seq == 0:
                _check_genesis(record, self.checkpoint)
        except LedgerDamaged as error:
            raise LedgerDamaged(f"record {seq}: {error.message}", seq=seq) from None
        chain.accept(line)
        self.check_head()
        self.ended = record.kind == "answer" and record.body.get("lane") == ""
        return record

    def check_head(self) -> None:
        """Check the root, if the chain has the size of the checkpoint."""
        if self.checkpoint and self.chain.size == self.checkpoint.size:
            _check_head(self.chain, self.checkpoint)

    def check_reached(self) -> None:
        """Check that the lines did not end before the checkpoint."""
        if self.checkpoint and self.chain.size < self.checkpoint.size:
            _check_head(self.chain, self.checkpoint)


def _check_place(record: Record, seq: int, prev_hash: str, ended: bool) -> None:
    """Check a record against its place in the chain."""
    if record.seq != seq:
        raise LedgerDamaged(f"its seq is {record.seq}")
    if record.prev_hash != prev_hash:
        raise LedgerDamaged("its prev_hash is not the hash of the line before it")
    if ended:
        raise LedgerDamaged("it comes after the root's answer, which ends a ledger")
    if (record.kind == "genesis") != (seq == 0):
        raise LedgerDamaged(f"kind {record.kind} is not allowed here; only record 0 is the genesis")


def _check_genesis(record: Record, checkpoint: Checkpoint | None) -> None:
    """Check that the key of record 0 is the hash of its body, and that the checkpoint fits it."""
    if record.key != sha256_hex(canonical(record.body)):
        raise LedgerDamaged("the genesis key is not the hash of its body")
    origin = origin_of(str(record.body.get("search")))
    if checkpoint and checkpoint.origin != origin:
        raise LedgerDamaged(f"its origin is {origin}, the checkpoint's is {checkpoint.origin}")


def _check_head(chain: Chain, checkpoint: Checkpoint) -> None:
    """Check that the chain reaches the checkpoint, and its root there."""
    size, root = checkpoint.size, chain.root()
    if chain.size < size:
        raise LedgerDamaged(
            f"record {chain.size}: missing; the checkpoint has {size} records", seq=chain.size
        )
    if root != checkpoint.root:
        raise LedgerDamaged(
            f"the root over the first {size} records is {root.hex()}, "
            f"the checkpoint says {checkpoint.root.hex()}"
        )

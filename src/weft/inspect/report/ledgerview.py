"""The part of a ledger that a report shows: both ends, records other than results, shown tasks.

Makes one pass over the lines. A result whose number matches its position is recognised by the
offset of its key; of any other line the fixed tail is parsed, so a damaged line affects only its
own row. Checks nothing; `verify` does.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from weft.inspect.report.text import clip
from weft.storage.ledgerfile import whole_lines

ENDS = 60
MAX_OTHERS = 300
"""Maximum number of records of rounds, lanes and answers shown besides the ends."""
BODY_BYTES = 450
_TAIL_BYTES = 320
_RESULT = re.compile(
    rb',"key":"([0-9a-f]{64})","kind":"result","prev_hash":"[0-9a-f]{64}","seq":\d{1,15},"v":1\}$'
)
_RESULT_BYTES = len(',"key":"","kind":"result","prev_hash":"","seq":,"v":1}') + 2 * 64
"""Length of the tail of a result, without the digits of its number."""
_TAIL = re.compile(
    rb',"key":"([0-9a-f]{64})","kind":"([a-z]{1,20})","prev_hash":"([0-9a-f]{64})","seq":(\d{1,15}),"v":\d+\}$'
)


@dataclass(frozen=True, slots=True)
class RecordFacts:
    """One record as shown; for the result of a shown task, the task has the body."""

    seq: int
    kind: str
    key: str
    prev_hash: str
    body: str
    """Empty for the result of a shown task."""


@dataclass(frozen=True, slots=True)
class LedgerView:
    """The records shown, out of `size`."""

    records: tuple[RecordFacts, ...] = ()
    size: int = 0
    kinds: tuple[tuple[str, int], ...] = ()
    numbers: Mapping[str, int] = field(default_factory=dict)
    """Record number of each shown task that has one, by key."""


@dataclass(slots=True)
class _Pass:
    keys: Collection[str]
    highlighted: int | None
    shown: dict[int, RecordFacts] = field(default_factory=dict)
    kinds: Counter[str] = field(default_factory=Counter)
    numbers: dict[str, int] = field(default_factory=dict)
    others: int = 0

    def take(self, seq: int, line: bytes) -> None:
        tail = _TAIL.search(line, max(0, len(line) - _TAIL_BYTES))
        kind = tail[2].decode() if tail else "unreadable"
        key = tail[1].decode() if tail else ""
        self.kinds[kind] += 1
        if seq == self.highlighted:
            self.shown[seq] = read_record(seq, line)
        elif kind == "result" and key in self.keys:
            self.numbers[key] = seq
            prev_hash = tail[3].decode() if tail else ""
            self.shown[seq] = RecordFacts(seq, kind, key, prev_hash, "")
        elif kind != "result" and self.others < MAX_OTHERS:
            self.others += 1
            self.shown[seq] = read_record(seq, line)
        elif seq < ENDS:
            self.shown[seq] = read_record(seq, line)


def read_record(seq: int, line: bytes) -> RecordFacts:
    """Convert one line for display, even if it is not a record."""
    tail = _TAIL.search(line, max(0, len(line) - _TAIL_BYTES))
    if tail is None:
        return RecordFacts(seq, "unreadable", "", "", clip(line.decode(errors="replace"), 300))
    start = len(b'{"body":') if line.startswith(b'{"body":') else 0
    body = clip(line[start : tail.start()].decode(errors="replace"), BODY_BYTES)
    return RecordFacts(seq, tail[2].decode(), tail[1].decode(), tail[3].decode(), body)


def read_ledger(path: Path, keys: Collection[str], highlighted: int | None = None) -> LedgerView:
    """Read the ledger's ends, rounds and answers, the results of `keys`, and `highlighted`."""
    walk = _Pass(keys, highlighted)
    last: deque[tuple[int, bytes]] = deque(maxlen=ENDS)
    shown_keys = frozenset(key.encode() for key in keys)
    size = hidden = 0
    for size, line in enumerate(whole_lines(path), 1):
        seq = size - 1
        result = _RESULT.match(line, len(line) - _RESULT_BYTES - len(str(seq)))
        if result and seq >= ENDS and seq != highlighted and result[1] not in shown_keys:
            hidden += 1
        else:
            walk.take(seq, line)
        last.append((seq, line))
    walk.kinds += Counter(result=hidden)
    for seq, line in last:
        if seq not in walk.shown:
            walk.shown[seq] = read_record(seq, line)
    records = tuple(walk.shown[seq] for seq in sorted(walk.shown))
    kinds = tuple(sorted(walk.kinds.items(), key=lambda item: (-item[1], item[0])))
    return LedgerView(records, size, kinds, walk.numbers)

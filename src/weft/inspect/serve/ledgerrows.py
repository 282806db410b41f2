"""One page of a ledger of any length: the offsets of its lines are indexed once.

Afterwards only appended lines are indexed. Checks nothing; a line that is not a record is shown
unchanged.
"""

from __future__ import annotations

import mmap
import os
import threading
from array import array
from dataclasses import dataclass, field
from pathlib import Path

from weft.inspect.report.ledgerview import read_record
from weft.inspect.report.payload import visible_texts
from weft.model.values import JsonValue
from weft.runs.execution import SEALED_VIEWS
from weft.storage.folder import RunFolder
from weft.storage.plainfile import is_plain_file, open_plain

PAGE_ROWS = 100
CHUNK = 1 << 20
MAX_FIND_CHARS = 200


@dataclass(slots=True)
class LineIndex:
    """Offsets at which the lines of one ledger begin; the last entry is that of the next line."""

    starts: array[int] = field(default_factory=lambda: array("Q", [0]))
    inode: int = -1

    @property
    def size(self) -> int:
        """The number of whole lines."""
        return len(self.starts) - 1

    def refresh(self, path: Path) -> None:
        """Continue where the last refresh ended; start over with a replaced or truncated file."""
        with open_plain(path) as file:
            status = os.fstat(file.fileno())
            if status.st_ino != self.inode or status.st_size < self.starts[-1]:
                self.starts, self.inode = array("Q", [0]), status.st_ino
            place = self.starts[-1]
            file.seek(place)
            while chunk := file.read(CHUNK):
                self._add(chunk, place)
                place += len(chunk)

    def _add(self, chunk: bytes, place: int) -> None:
        end = chunk.find(b"\n")
        while end >= 0:
            self.starts.append(place + end + 1)
            end = chunk.find(b"\n", end + 1)


class Ledgers:
    """The line indices of the ledgers shown so far."""

    def __init__(self) -> None:
        self._known: dict[Path, LineIndex] = {}
        self._lock = threading.Lock()

    def rows(self, run: Path, first: int | None, find: str) -> dict[str, JsonValue]:
        """Return one page of matching records, from `first` on; the last page without `first`."""
        folder = RunFolder(run)
        sealed = SEALED_VIEWS in folder.read_run_file().tags
        if not is_plain_file(folder.ledger) or not folder.ledger.stat().st_size:
            return {"total": 0, "first": 0, "size": 0, "records": []}
        with self._lock, open_plain(folder.ledger) as file:
            index = self._known.setdefault(run, LineIndex())
            index.refresh(folder.ledger)
            with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
                needle = b"" if sealed else find[:MAX_FIND_CHARS].encode()
                matches = _matches(data, index, needle)
                last = max(0, (len(matches) - 1) // PAGE_ROWS * PAGE_ROWS)
                begin = last if first is None else min(max(0, first), last)
                page = matches[begin : begin + PAGE_ROWS]
                records: list[JsonValue] = [_row(data, index, seq, sealed) for seq in page]
        return {
            "total": len(matches),
            "first": begin,
            "size": index.size,
            "records": visible_texts(records),
        }


def _matches(data: mmap.mmap, index: LineIndex, needle: bytes) -> range | list[int]:
    if not needle:
        return range(index.size)
    starts = index.starts
    return [
        seq for seq in range(index.size) if data.find(needle, starts[seq], starts[seq + 1]) >= 0
    ]


def _row(data: mmap.mmap, index: LineIndex, seq: int, sealed: bool) -> list[JsonValue]:
    line = data[index.starts[seq] : index.starts[seq + 1] - 1]
    record = read_record(seq, line)
    body = "" if sealed and seq else record.body
    return [record.seq, record.kind, record.key, record.prev_hash, body]


def record_number(run: Path, key: str) -> int | None:
    """Return the number of a task's record in the ledger; None if it has none yet."""
    path = RunFolder(run).ledger
    if len(key) != 64 or not is_plain_file(path) or not path.stat().st_size:
        return None
    with open_plain(path) as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
        place = data.find(f',"key":"{key}","kind":"'.encode())
        if place < 0:
            return None
        seq = data.find(b',"seq":', place)
        text = data[seq + 7 : seq + 24].split(b",")[0] if seq >= 0 else b""
    return int(text) if text.isdigit() else None

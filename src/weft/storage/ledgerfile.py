"""The ledger file: append-only lines on disk, with the checkpoint and its signature beside it.

Reports what the files claim, such as that a ledger is finished; `reconcile` and verify judge
whether it is true. File modes are not evidence: a copy may lose them, and anyone may set them.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Sequence
from itertools import islice
from pathlib import Path

from weft.errors import LedgerDamaged
from weft.ledger.chain import Chain
from weft.ledger.checkpoint import Checkpoint, note_text, parse_checkpoint
from weft.ledger.records import Record, parse
from weft.storage.disk import Disk
from weft.storage.plainfile import is_plain_file, open_plain

MAX_CHECKPOINT_BYTES = 4096
MAX_NOTE_BYTES = 1 << 16
BATCH = 64
"""Number of lines that are hashed together; each may have some megabytes."""
_TAIL_BYTES = 1 << 16


class LedgerFile:
    """Appends whole lines; a line counts as written only with its newline."""

    def __init__(self, path: Path, disk: Disk) -> None:
        self._disk = disk
        if is_plain_file(path) and not path.stat().st_mode & 0o200:
            path.chmod(0o644)  # a crash left it frozen before the run was sealed
        self._fd = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_NOFOLLOW, 0o644)
        self._unsynced = True
        disk.sync_folder(path.parent)

    def append(self, lines: Sequence[bytes]) -> None:
        """Add lines; they are durable after the next `sync`."""
        if lines:
            self.append_text(b"\n".join([*lines, b""]))

    def append_text(self, text: bytes) -> None:
        """Add lines given as one text, each with its newline."""
        self._unsynced = True
        self._disk.append(self._fd, text)

    def cut(self, size_bytes: int) -> None:
        """Remove a torn tail."""
        if os.fstat(self._fd).st_size > size_bytes:
            self._disk.truncate(self._fd, size_bytes)

    def sync(self) -> None:
        """Make everything appended so far durable."""
        if self._unsynced:
            self._disk.sync(self._fd)
            self._unsynced = False

    def freeze(self) -> None:
        """Make the finished ledger read-only."""
        os.fchmod(self._fd, 0o444)

    def close(self) -> None:
        """Release the file; safe to call twice."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1


def read_lines(path: Path, start: int = 0) -> Iterator[tuple[bytes, bool]]:
    """Yield each line from byte `start` on, without its newline, and whether it had one.

    Only the last line may lack it.
    """
    if not is_plain_file(path):
        return
    with open_plain(path) as file:
        file.seek(start)
        for line in file:
            whole = line.endswith(b"\n")
            yield (line[:-1] if whole else line), whole


def whole_lines(path: Path) -> Iterator[bytes]:
    """Yield the ledger's lines without their newlines, up to a torn one."""
    if not is_plain_file(path):
        return
    with open_plain(path) as file:
        for line in file:
            if not line.endswith(b"\n"):
                return
            yield line[:-1]


def parse_at(line: bytes, seq: int) -> Record:
    """Parse the line of record `seq`; raises `LedgerDamaged` naming it."""
    try:
        record = parse(line)
    except LedgerDamaged as error:
        raise LedgerDamaged(f"record {seq}: {error.message}", seq=seq) from None
    if record.seq != seq:
        raise LedgerDamaged(f"record {seq}: its seq is {record.seq}", seq=seq)
    return record


def read_checkpoint(path: Path) -> Checkpoint | None:
    """Return the last checkpoint; None if there is none yet."""
    text = _read_text(path, MAX_CHECKPOINT_BYTES)
    return None if text is None else parse_checkpoint(text)


def read_note(path: Path) -> str | None:
    """Return the signed note beside the checkpoint; None if the run is not signed."""
    return _read_text(path, MAX_NOTE_BYTES)


def read_signed(path: Path) -> Checkpoint | None:
    """Return the head in the signed note, whoever signed it; raises LedgerDamaged."""
    note = read_note(path)
    if note is None:
        return None
    try:
        return parse_checkpoint(note_text(note))
    except LedgerDamaged as error:
        raise LedgerDamaged(f"{path.name}: {error.message}") from None


def _read_text(path: Path, max_bytes: int) -> str | None:
    if not is_plain_file(path):
        return None
    with open_plain(path) as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise LedgerDamaged(f"{path.name}: larger than any checkpoint")
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise LedgerDamaged(f"{path.name}: not a checkpoint: it is not UTF-8") from None


def last_line(path: Path) -> bytes:
    """Return the last line, with its newline if it has one, reading only the end of the file."""
    if not is_plain_file(path):
        return b""
    with open_plain(path) as file:
        size_bytes, step, tail = file.seek(0, os.SEEK_END), _TAIL_BYTES, b""
        while b"\n" not in tail[:-1] and len(tail) < size_bytes:
            file.seek(max(0, size_bytes - step))
            tail, step = file.read(), step * 4
    return tail[tail.rfind(b"\n", 0, -1) + 1 :]


def is_whole(ledger: Path, checkpoint: Path) -> bool:
    """Whether the ledger claims to be finished.

    Its last line is then the root's answer, and the checkpoint covers it. False for files that
    cannot be parsed.
    """
    line = last_line(ledger)
    if not line.endswith(b"\n"):
        return False
    try:
        head, record = read_checkpoint(checkpoint), parse(line[:-1])
    except LedgerDamaged:
        return False
    is_answer = record.kind == "answer" and record.body.get("lane") == ""
    return is_answer and head is not None and head.size == record.seq + 1


def roots_at(path: Path, sizes: Collection[int]) -> dict[int, bytes]:
    """Return the root over the first n whole lines, for each size n that the file reaches."""
    chain, roots = Chain(), dict[int, bytes]()
    lines = whole_lines(path)
    for size in sorted(sizes):
        while chain.size < size and (batch := [*islice(lines, min(BATCH, size - chain.size))]):
            chain.accept_all(batch)
        if chain.size < size:
            break
        roots[size] = chain.root()
    return roots


def count_lines(path: Path) -> int:
    """Return how many whole lines the file has."""
    if not is_plain_file(path):
        return 0
    count = 0
    with open_plain(path) as file:
        while chunk := file.read(1 << 20):
            count += chunk.count(b"\n")
    return count

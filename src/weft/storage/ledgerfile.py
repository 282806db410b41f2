"""The ledger file: append-only lines on disk, and the checkpoint beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from weft.errors import LedgerDamaged
from weft.ledger.checkpoint import Checkpoint, parse_checkpoint
from weft.storage.disk import Disk
from weft.storage.plainfile import is_plain_file, open_plain

MAX_CHECKPOINT_BYTES = 4096


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
            self._unsynced = True
            self._disk.append(self._fd, b"\n".join(lines) + b"\n")

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


def read_lines(path: Path) -> Iterator[tuple[bytes, bool]]:
    """Each line without its newline, and whether it had one (only the last may not)."""
    if not is_plain_file(path):
        return
    with open_plain(path) as file:
        for line in file:
            whole = line.endswith(b"\n")
            yield (line[:-1] if whole else line), whole


def read_checkpoint(path: Path) -> Checkpoint | None:
    """Return the last checkpoint, None when there is none yet."""
    if not is_plain_file(path):
        return None
    with open_plain(path) as file:
        data = file.read(MAX_CHECKPOINT_BYTES + 1)
    if len(data) > MAX_CHECKPOINT_BYTES:
        raise LedgerDamaged(f"{path.name}: larger than any checkpoint")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise LedgerDamaged(f"{path.name}: not a checkpoint: it is not UTF-8") from None
    return parse_checkpoint(text)


def count_lines(path: Path) -> int:
    """How many whole lines the file has."""
    if not is_plain_file(path):
        return 0
    count = 0
    with open_plain(path) as file:
        while chunk := file.read(1 << 20):
            count += chunk.count(b"\n")
    return count

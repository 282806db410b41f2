"""Checks whether file systems have enough free space: bytes, inodes and quota.

A failure for lack of space shows nothing about the command: its attempt is lost, and the run
stops with exit 75 until someone has freed space. Checked before, during and after a command
(`SpaceWatch`), and by the coordinator before each commit. The supervisor takes the samples, since
only it is active while the command runs.
"""

from __future__ import annotations

import errno
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from weft.worker.ending import Ending
from weft.worker.freeroom import UNLIMITED, free_room

RESERVE_BYTES = 1 << 20
RESERVE_INODES = 64
"""With less than this left, no command starts and a failure is a loss."""
EMPTY_BYTES = 1 << 16
"""With less than this left at any time, even exit 0 is not trusted: output may be truncated."""
PROBE_BYTES = 1 << 16
NO_ROOM = (errno.ENOSPC, errno.EDQUOT)
LAST_LINES = 10
_WORDS = tuple(os.strerror(number) for number in NO_ROOM)
"""What a program prints when it runs out of space; commands run in the C locale."""


def shortage(folder: Path) -> str:
    """Return what the folder's file system is short of; empty if it has enough space."""
    room = _measured(folder)
    return "" if room is None else _shortage_text(folder, *room, RESERVE_BYTES, RESERVE_INODES)


def _measured(folder: Path) -> tuple[int, int] | None:
    """Return the free bytes and inodes; None if the folder is gone.

    Some network file systems report no free space although there is some; a test write finds out.
    """
    try:
        size, inodes = free_room(str(folder))
    except OSError:
        return None
    if (size == 0 or inodes == 0) and not _write_problem(folder):
        return UNLIMITED, UNLIMITED
    return size, inodes


def _write_problem(folder: Path) -> str:
    """Return why a small file cannot be written for lack of space; empty if it can.

    Detects limits that the counters do not show, such as a user's quota.
    """
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            os.posix_fallocate(file.fileno(), 0, PROBE_BYTES)
    except OSError as error:
        return os.strerror(error.errno) if error.errno in NO_ROOM else ""
    return ""


def _shortage_text(folder: Path, size: int, inodes: int, least_size: int, least_inodes: int) -> str:
    if size < least_size:
        return f"short of space: {size // 1024} KiB free in {folder}"
    return f"short of inodes: {inodes} free in {folder}" if inodes < least_inodes else ""


class SpaceWatch:
    """The file systems of one command."""

    def __init__(self, folders: Iterable[Path]) -> None:
        self._folders = list(dict.fromkeys(folders))
        self._least: list[tuple[Path, int, int]] = []

    @property
    def folders(self) -> Sequence[str]:
        """The folders that the supervisor samples."""
        return [str(folder) for folder in self._folders]

    def add(self, folder: Path) -> None:
        """Watch one more folder."""
        if folder not in self._folders:
            self._folders.append(folder)

    def sampled(self, least: Mapping[str, Sequence[int]]) -> None:
        """Add the least free space that the supervisor measured in each folder."""
        self._least += [(Path(name), size, inodes) for name, (size, inodes) in least.items()]

    def check_before(self) -> None:
        """Raise a loss if the attempt must not start for lack of space."""
        if reason := self._now():
            raise no_room(reason)

    def check_success(self) -> None:
        """Raise a loss if the disk was full at any time, although the command succeeded."""
        for least in self._least:
            if reason := _shortage_text(*least, EMPTY_BYTES, 1):
                raise no_room(reason)

    def reason(self, error: Exception, words: str) -> str:
        """Return what was short when an attempt failed with `error` and last printed `words`."""
        during = (_shortage_text(*least, RESERVE_BYTES, RESERVE_INODES) for least in self._least)
        probes = (
            f"short of space: {why} in {folder}"
            for folder in self._folders
            if (why := _write_problem(folder))
        )
        return self._now() or next(filter(None, during), "") or next(probes, "") or (
            _reported_shortage(error, words)
        )  # fmt: skip

    def _now(self) -> str:
        return next(filter(None, map(shortage, self._folders)), "")


def no_room(reason: str, detail: str = "") -> Ending:
    """Return the end of an attempt that lacked space: it is lost, and the run stops."""
    return Ending(None, lost=reason, detail=detail, cause="resource")


def _reported_shortage(error: Exception, words: str) -> str:
    """Return what the failure itself reports about missing space."""
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        return f"short of space: {error}"
    return printed_shortage(words)


def printed_shortage(words: str) -> str:
    """Return what a program that last printed `words` reports about missing space."""
    for line in reversed(words.splitlines()[-LAST_LINES:]):
        if any(word in line for word in _WORDS):
            return f"short of space, as the command says: {line.strip()[:200]}"
    return ""

"""Free room of file systems, and room allocated for a file in advance.

Standard library only: the supervisor imports it into a bare interpreter.
"""

from __future__ import annotations

import contextlib
import ctypes
import errno
import os
from pathlib import Path

UNLIMITED = 1 << 62
_FALLOC_FL_KEEP_SIZE = 1
_libc = ctypes.CDLL(None, use_errno=True)


def free_room(folder: str) -> tuple[int, int]:
    """Return the bytes and inodes that we could still use there.

    File systems without a limit, or without a fixed number of inodes, report a total of 0.
    """
    status = os.statvfs(folder)
    blocks, inodes = status.f_bavail, status.f_favail
    if os.geteuid() == 0:  # may use what is kept for the system
        blocks, inodes = status.f_bfree, status.f_ffree
    size = blocks * status.f_frsize if status.f_blocks else UNLIMITED
    return size, inodes if status.f_files else UNLIMITED


def allocate(fd: int, size: int) -> None:
    """Allocate room behind the end of a file, where the file system can; raise if it is full.

    Between two samples a disk can run full and have room again: then what the command prints
    about it is the only evidence, and would itself be lost.
    """
    offsets = ctypes.c_int64(0), ctypes.c_int64(size)
    if _libc.fallocate(fd, _FALLOC_FL_KEEP_SIZE, *offsets):
        number = ctypes.get_errno()
        if number in (errno.ENOSPC, errno.EDQUOT):
            raise OSError(number, os.strerror(number))


def free_unused(path: str) -> None:
    """Return what is allocated behind the end of a file."""
    with contextlib.suppress(OSError):  # it does not exist: the command has not started
        os.truncate(path, Path(path).stat().st_size)

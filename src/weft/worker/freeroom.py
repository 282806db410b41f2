"""Free space of file systems, and space preallocated for a file.

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
    """Return the bytes and inodes still available to us in a folder's file system.

    File systems without a limit, or without a fixed number of inodes, report a total of 0.
    """
    status = os.statvfs(folder)
    blocks, inodes = status.f_bavail, status.f_favail
    if os.geteuid() == 0:  # may use reserved blocks
        blocks, inodes = status.f_bfree, status.f_ffree
    size = blocks * status.f_frsize if status.f_blocks else UNLIMITED
    return size, inodes if status.f_files else UNLIMITED


def allocate(fd: int, size: int) -> None:
    """Preallocate space past the end of a file where supported; raises OSError on a full disk.

    A disk can run full and recover between two samples. Then the command's error message is the
    only evidence, and would itself be lost.
    """
    offsets = ctypes.c_int64(0), ctypes.c_int64(size)
    if _libc.fallocate(fd, _FALLOC_FL_KEEP_SIZE, *offsets):
        number = ctypes.get_errno()
        if number in (errno.ENOSPC, errno.EDQUOT):
            raise OSError(number, os.strerror(number))


def free_unused(path: str) -> None:
    """Release the space allocated past the end of a file."""
    with contextlib.suppress(OSError):  # it does not exist: the command has not started
        os.truncate(path, Path(path).stat().st_size)

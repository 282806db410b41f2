"""Small temporary file systems for tests of full disks: tmpfs, mounted as root."""

from __future__ import annotations

import contextlib
import ctypes
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

_MS_RDONLY = 1
_MS_REMOUNT = 32
_MNT_DETACH = 2


@contextlib.contextmanager
def small_file_system(folder: Path, options: str) -> Iterator[Path]:
    """Mount a tmpfs with the given options (`size=10m,nr_inodes=300`) at a new folder.

    Without the right to mount, the test is skipped, or fails when CI=true.
    """
    folder.mkdir()
    number = _mount(folder, options, 0)
    if number:
        reason = f"needs to mount a tmpfs: {os.strerror(number)}"
        if os.environ.get("CI", "").lower() == "true":
            pytest.fail(f"{reason}; next: run the tests as root", pytrace=False)
        pytest.skip(reason)
    try:
        yield folder
    finally:
        ctypes.CDLL(None).umount2(os.fsencode(folder), _MNT_DETACH)


def resize(folder: Path, options: str) -> None:
    """Change the limits of a mounted file system, as an administrator who adds space."""
    assert _mount(folder, options, _MS_REMOUNT) == 0


def make_read_only(folder: Path) -> None:
    """Make a mounted file system read-only for everybody."""
    assert _mount(folder, "", _MS_REMOUNT | _MS_RDONLY) == 0


def _mount(folder: Path, options: str, flags: int) -> int:
    libc = ctypes.CDLL(None, use_errno=True)
    failed = libc.mount(b"tmpfs", os.fsencode(folder), b"tmpfs", flags, options.encode())
    return ctypes.get_errno() if failed else 0

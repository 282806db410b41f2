"""Opens files inside a run folder without ever being led out of it.

A received run may contain a symbolic link to one of our files, or a FIFO that blocks for ever.
Every reader opens a run's files here: no link is followed at any component below the run folder,
and anything but a plain file or a folder is refused before it is opened. The run folder itself
may be reached through a link. Knows nothing about the content of files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from weft.errors import RunFolderUnsafe

TOP = 1
"""Components of a file directly in the run folder, such as `ledger.jsonl`."""
NESTED = 3
"""Components of `objects/ab/cd…` and `logs/<task>/<attempt>.log`."""
SQLITE_SUFFIXES = ("", "-wal", "-shm", "-journal")
"""Suffixes to the name of a database for the files that SQLite opens itself."""
_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}
_HINT = "remove it if you know where it comes from; a run holds plain files and folders only"
_FOLDER_FLAGS = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
_FILE_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_NOCTTY | os.O_CLOEXEC


def is_plain_file(path: Path, components: int = TOP) -> bool:
    """Whether `path` is a plain file; False if it does not exist or is a folder.

    `components` counts the names at the end of `path` that are inside the run folder. Raises
    `RunFolderUnsafe` when one of them is a link, FIFO, socket or device.
    """
    return stat.S_ISREG(_mode_of(path, components))


def is_plain_folder(path: Path, components: int = TOP) -> bool:
    """Whether `path` is a folder; otherwise like `is_plain_file`."""
    return stat.S_ISDIR(_mode_of(path, components))


def open_plain(path: Path, components: int = TOP) -> BinaryIO:
    """Open a plain file for reading; raises `RunFolderUnsafe`, or OSError as `open` does.

    The file is checked before it is opened, since opening a device may have effects, and again
    after that, since it may have been replaced meanwhile.
    """
    with _parent_of(path, components) as parent:
        _check_kind(os.stat(path.name, dir_fd=parent, follow_symlinks=False).st_mode, path)
        file = open(  # noqa: SIM115 - relative to a descriptor; the caller closes it
            path, "rb", opener=lambda *_: os.open(path.name, _FILE_FLAGS, dir_fd=parent)
        )
    try:
        _check_kind(os.fstat(file.fileno()).st_mode, path)
    except RunFolderUnsafe:
        file.close()
        raise
    return file


def read_plain(path: Path, components: int = TOP) -> bytes:
    """Return the bytes of a plain file; raises as `open_plain` does."""
    with open_plain(path, components) as file:
        return file.read()


def check_database(path: Path) -> None:
    """Raise `RunFolderUnsafe` unless SQLite may open the database and the files beside it."""
    for suffix in SQLITE_SUFFIXES:
        _mode_of(path.with_name(path.name + suffix), TOP)


def check_entries(run_folder: Path) -> None:
    """Raise `RunFolderUnsafe` unless everything directly in the run folder may be opened."""
    for _ in _safe_entries(run_folder):
        pass


def check_below(folder: Path) -> None:
    """Raise `RunFolderUnsafe` unless everything in and below the folder may be opened.

    For programs that open files themselves: git in `repo.git`, workers in `objects`.
    """
    folders = [folder] if is_plain_folder(folder) else []
    while folders:
        folders += _safe_entries(folders.pop())


def _mode_of(path: Path, components: int) -> int:
    """Return the mode of an entry, or 0 if there is none, after checking the path to it."""
    mode = 0
    for place in reversed((path, *path.parents[: components - 1])):
        try:
            mode = place.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return 0
        _check_kind(mode, place)
    return mode


def _safe_entries(folder: Path) -> Iterator[Path]:
    """Check each entry of a folder, in order of name, and yield the folders."""
    with os.scandir(folder) as entries:  # noqa: TID251 - sorted below; a stat for each is slow
        ordered = sorted(entries, key=lambda entry: entry.name)
    for entry in ordered:
        if entry.is_dir(follow_symlinks=False):
            yield Path(entry.path)
        elif not entry.is_file(follow_symlinks=False):
            _check_unless_gone(Path(entry.path))


def _check_unless_gone(path: Path) -> None:
    try:
        mode = path.lstat().st_mode
    except FileNotFoundError:
        return  # a temporary file of a running coordinator
    _check_kind(mode, path)


@contextmanager
def _parent_of(path: Path, components: int) -> Iterator[int]:
    """Yield a descriptor of the file's folder, reached without a link below the run folder."""
    inner = list(reversed(path.parents[: components - 1]))
    fd = os.open(path.parents[components - 1], _FOLDER_FLAGS)
    try:
        for place in inner:
            _check_kind(os.stat(place.name, dir_fd=fd, follow_symlinks=False).st_mode, place)
            below = os.open(place.name, _FOLDER_FLAGS | os.O_NOFOLLOW, dir_fd=fd)
            os.close(fd)
            fd = below
        yield fd
    finally:
        os.close(fd)


def _check_kind(mode: int, path: Path) -> None:
    if kind := _KINDS.get(stat.S_IFMT(mode)):
        raise RunFolderUnsafe(f"{path} is {kind}, not a plain file or folder", hint=_HINT)

"""Folders that nobody else may enter: for code, objects and tokens on a shared machine.

    private_folder(home, ".weft", "1f0c2b9a")
       home and all above   owned by us or root, writable by nobody else (a sticky /tmp may be)
       the parts below      real folders, owned by us, mode 0700; created so if absent

Once this holds, nobody else can change it, so a check before use is enough. The rules are those
of sshd's StrictModes, with links refused below `base`.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path

from weft.errors import WorldError

MODE = 0o700
FOREIGN_WRITE = stat.S_IWGRP | stat.S_IWOTH


def private_folder(base: Path, *parts: str, make: bool = True) -> Path:
    """Create and check private folders below `base`; return the last one.

    Without `make` nothing is created, and the check ends at the first part that is absent.
    Raises WorldError for links and for anything that another user owns or can write.
    """
    folder = base
    if base.exists():
        _check_above(base)
    for part in parts:
        folder /= part
        if make:
            _make(folder)
        if not os.path.lexists(folder):
            break
        _check_own(folder)
    return base.joinpath(*parts)


def private_file(path: Path) -> Path:
    """Check that a file in a private folder is regular, ours and private; return its path."""
    info = path.lstat()
    if not stat.S_ISREG(info.st_mode):
        raise _unsafe(path, "is not a regular file", f"remove {path}")
    if info.st_uid != os.geteuid():
        raise _unsafe(path, f"belongs to user {info.st_uid}, not to us", f"remove {path}")
    if info.st_mode & 0o077:
        raise _unsafe(path, f"is open to others, mode {_mode(info)}", f"chmod 600 {path}")
    return path


def _make(folder: Path) -> None:
    try:
        folder.mkdir(MODE)
    except FileExistsError:
        return
    folder.chmod(MODE)  # inherited ACLs and set-group-ID bits may have widened it


def _check_own(folder: Path) -> None:
    info = folder.lstat()
    if stat.S_ISLNK(info.st_mode):
        raise _unsafe(folder, "is a link", f"remove {folder}")
    if not stat.S_ISDIR(info.st_mode):
        raise _unsafe(folder, "is not a folder", f"remove {folder}")
    if info.st_uid != os.geteuid():
        raise _unsafe(folder, f"belongs to user {info.st_uid}, not to us", f"remove {folder}")
    if stat.S_IMODE(info.st_mode) & 0o777 != MODE:
        advice = f"see that nobody put anything there, then chmod 700 {folder}"
        raise _unsafe(folder, f"has mode {_mode(info)} instead of 0700", advice)


def _check_above(base: Path) -> None:
    """Check that only we and root can change what the path leads to."""
    base.resolve(strict=True)  # an endless chain of links raises OSError
    trusted = {0, os.geteuid(), Path("/").stat().st_uid}
    for folder in [*reversed(base.absolute().parents), base.absolute()]:
        info = folder.lstat()
        if info.st_uid not in trusted:
            raise _unsafe(folder, f"belongs to user {info.st_uid}, not to us or root", "")
        if stat.S_ISLNK(info.st_mode):
            _check_above(folder.parent / folder.readlink())
        elif info.st_mode & FOREIGN_WRITE and not info.st_mode & stat.S_ISVTX:
            advice = f"chmod go-w {folder}"
            raise _unsafe(folder, f"is writable by others, mode {_mode(info)}", advice)


def _mode(info: os.stat_result) -> str:
    return f"{stat.S_IMODE(info.st_mode):04o}"


def _unsafe(path: Path, why: str, advice: str) -> WorldError:
    hint = advice or "choose a folder that only you can write"
    return WorldError(f"{path} {why}: other users could run code as us", hint=hint)

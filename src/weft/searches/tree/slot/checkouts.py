"""Reuse one checkout per candidate: a successful stage leaves its worktree to the next stage.

    implement ─► kept/<eval>-<tree> ─► review ─► kept ─► sweep ─► kept ─► score

The next stage does not trust it: git compares the contents of every file with the recorded tree,
and other files are removed. On any other deviation, the files are checked out again. Worktrees left
over from a depth are removed by the next depth, or with the run's attempts.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import struct
from pathlib import Path

from weft.searches.tree.slot.git import Git, GitFailed
from weft.searches.tree.slot.walk import walk

FOLDER = "kept"
MIN_FILES = 32
"""Minimum size of a reused worktree; fewer files are checked out as fast as compared."""
MAX_KEPT = 64
"""Maximum number of waiting worktrees."""


def keep(attempt: Path, attempts: Path, depth: int, eval_id: int | None, tree: str) -> None:
    """Leave an attempt's worktree to the next stage of its eval, if that is worthwhile."""
    if eval_id is None or _files_in(attempt / "index") < MIN_FILES:
        return
    own = attempts / FOLDER / str(depth)
    with contextlib.suppress(OSError):  # the next stage checks out anew
        own.mkdir(parents=True, exist_ok=True)
        _remove_others(own)
        if sum(1 for _ in own.iterdir()) < MAX_KEPT:
            (attempt / "worktree").rename(own / f"{eval_id}-{tree}")


def reuse(git: Git, attempts: Path, depth: int, eval_id: int | None, tree: str) -> bool:
    """Move in the worktree left by an earlier stage, restored as if new; False if impossible."""
    work = git.work_tree
    assert work is not None
    try:
        (attempts / FOLDER / str(depth) / f"{eval_id}-{tree}").rename(work)
    except OSError:
        return False
    try:
        git.run("read-tree", tree)
        if _restored(git, work):
            return True
    except (GitFailed, OSError):
        pass
    shutil.rmtree(work, ignore_errors=True)
    Path(git.index).unlink(missing_ok=True)
    return False


def _files_in(index: Path) -> int:
    """Return the number of entries in an index, from its header."""
    with contextlib.suppress(OSError, struct.error), index.open("rb") as file:
        return int(struct.unpack(">8xI", file.read(12))[0])
    return 0


def _remove_others(own: Path) -> None:
    for other in sorted(own.parent.iterdir()):
        if other != own:
            shutil.rmtree(other, ignore_errors=True)


def _restored(git: Git, work: Path) -> bool:
    """Remove files that are not in the index; return whether the others are unchanged.

    The index is fresh, so git has no timestamps and compares contents.
    """
    names: set[str] = set()
    for line in git.run("ls-files", "-z", "-t", "-c", "-m", "-d").split(b"\0")[:-1]:
        if not line.startswith(b"H "):
            return False
        names.add(os.fsdecode(line[2:]))
    folders = {"/".join(parts[:end]) for parts in (n.split("/") for n in names)
               for end in range(1, len(parts))}  # fmt: skip
    mask = os.umask(0)
    os.umask(mask)
    for name, entry in walk(str(work), folders.__contains__):
        if name not in names and name not in folders:
            _remove(entry)
        elif not _is_usual(entry.stat(follow_symlinks=False), mask):
            return False
    return True


def _remove(entry: os.DirEntry[str]) -> None:
    if entry.is_dir(follow_symlinks=False):
        shutil.rmtree(entry.path)
    else:
        Path(entry.path).unlink()


def _is_usual(status: os.stat_result, mask: int) -> bool:
    """Whether an entry has the mode of a checkout and, if a regular file, a single link."""
    kind, mode = stat.S_IFMT(status.st_mode), stat.S_IMODE(status.st_mode)
    if kind == stat.S_IFLNK:
        return True
    if kind == stat.S_IFDIR:
        return mode == 0o777 & ~mask
    return status.st_nlink == 1 and mode in (0o666 & ~mask, 0o777 & ~mask)

"""What an idea does to files, and which files no idea may touch."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Sequence
from pathlib import Path

from weft.searches.tree.config import is_protected
from weft.searches.tree.slot.git import Git, GitFailed
from weft.searches.tree.slot.values import Conflict, ParameterIdea, apply_values, inside

BLOCK = re.compile(
    r"^FILE: (?P<file>[^\n]+)\n<<<<<<< SEARCH\n(?P<old>.*?)^=======\n(?P<new>.*?)^>>>>>>> REPLACE$",
    re.DOTALL | re.MULTILINE,
)


def apply_patch(git: Git, idea: bytes) -> None:
    """Change the index as a patch says; raises Conflict when it does not fit."""
    try:
        git.apply_cached(idea)
    except GitFailed as error:
        raise Conflict(str(error)) from None


def apply_idea(kind: str, idea: bytes, work: Path) -> None:
    """Change the worktree as an idea says; raises Conflict when it does not fit."""
    if kind == "blocks":
        apply_blocks(idea.decode(), work)
    else:
        body = json.loads(idea)
        apply_values(ParameterIdea(body["file"], body["values"]), work)


def apply_blocks(text: str, work: Path) -> None:
    """Replace each block's old text, which must stand in its file exactly once."""
    for block in BLOCK.finditer(text):
        path = inside(work, block["file"].strip())
        old, new = block["old"], block["new"]
        now = path.read_text("utf-8") if path.is_file() else ""
        if not old and not now:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(new, "utf-8")
        elif not old or now.count(old) != 1:
            raise Conflict(f"{block['file']}: the text to replace is there {now.count(old)} times")
        else:
            path.write_text(now.replace(old, new), "utf-8")


# -- the seal -----------------------------------------------------------------------------------


def seal_of(work: Path, patterns: Sequence[str]) -> str:
    """Return one hash over the names and bytes of all protected files."""
    seal = hashlib.sha256()
    for path in sorted(p for p in work.rglob("*") if p.is_file() or p.is_symlink()):
        name = path.relative_to(work).as_posix()
        if is_protected(name, patterns):
            data = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
            seal.update(f"{name}\0{hashlib.sha256(data).hexdigest()}\n".encode())
    return seal.hexdigest()

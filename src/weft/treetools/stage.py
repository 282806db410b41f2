"""What an idea does to files, and which files no idea may touch."""

from __future__ import annotations

import fnmatch
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weft.treetools.git import Git, GitFailed

BLOCK = re.compile(
    r"^FILE: (?P<file>[^\n]+)\n<<<<<<< SEARCH\n(?P<old>.*?)^=======\n(?P<new>.*?)^>>>>>>> REPLACE$",
    re.DOTALL | re.MULTILINE,
)


class Conflict(Exception):  # noqa: N818 - an outcome of an idea
    """The idea does not fit the files."""


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
        apply_parameter(json.loads(idea), work)


def apply_blocks(text: str, work: Path) -> None:
    """Replace each block's old text, which must stand in its file exactly once."""
    for block in BLOCK.finditer(text):
        path = _inside(work, block["file"].strip())
        old, new = block["old"], block["new"]
        now = path.read_text("utf-8") if path.is_file() else ""
        if not old and not now:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(new, "utf-8")
        elif not old or now.count(old) != 1:
            raise Conflict(f"{block['file']}: the text to replace is there {now.count(old)} times")
        else:
            path.write_text(now.replace(old, new), "utf-8")


def apply_parameter(idea: Mapping[str, Any], work: Path) -> None:
    """Set one value of a JSON file."""
    path = _inside(work, idea["file"])
    if not path.is_file():
        raise Conflict(f"{idea['file']} is not there")
    body = json.loads(path.read_text("utf-8"))
    *parents, last = idea["key"].split(".")
    place = body
    for name in parents:
        place = place.get(name) if isinstance(place, dict) else None
    if not isinstance(place, dict) or last not in place:
        raise Conflict(f"{idea['file']} has no value {idea['key']}")
    place[last] = idea["value"]
    path.write_text(json.dumps(body, indent=2) + "\n", "utf-8")


def _inside(work: Path, name: str) -> Path:
    path = (work / name).resolve()
    if not path.is_relative_to(work.resolve()):
        raise Conflict(f"{name} is outside the repository")
    return path


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


def is_protected(name: str, patterns: Sequence[str]) -> bool:
    """Whether a path, or a folder it lies in, fits a pattern."""
    return any(fnmatch.fnmatchcase(name, p) or name.startswith(f"{p}/") for p in patterns)

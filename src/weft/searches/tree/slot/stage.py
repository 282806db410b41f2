"""The seal: one hash over the files that no idea may change."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path

from weft.searches.tree.config import is_protected
from weft.searches.tree.slot.walk import walk


def seal_of(work: Path, patterns: Sequence[str]) -> str:
    """Return one hash over the names and bytes of all protected files."""
    seal = hashlib.sha256()
    if not patterns:
        return seal.hexdigest()
    for name, entry in walk(str(work)):
        is_file = entry.is_symlink() or entry.is_file()
        if is_file and is_protected(name, patterns):
            seal.update(f"{name}\0{_digest(work / name)}\n".encode())
    return seal.hexdigest()


def _digest(path: Path) -> str:
    if path.is_symlink():
        return hashlib.sha256(str(path.readlink()).encode()).hexdigest()
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()

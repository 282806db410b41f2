"""Checks whether paths stay inside folders. May read links; changes nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


def lies_below(path: str | Path, folders: Sequence[str | Path]) -> bool:
    """Whether a path is one of the folders or below one; collapses `..`, resolves no links."""
    return containing(path, folders) is not None


def containing(path: str | Path, folders: Sequence[str | Path]) -> Path | None:
    """Return the first of the folders that contains a path; resolves no links."""
    spelt = Path(os.path.normpath(path))
    for folder in folders:
        if spelt.is_relative_to(os.path.normpath(folder)):
            return Path(folder)
    return None


def leaves(path: Path, folder: Path) -> bool:
    """Whether a path leads out of a folder once links are resolved; a link loop counts too."""
    try:
        return not path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):
        return True

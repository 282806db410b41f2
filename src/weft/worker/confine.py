"""Whether a path stays inside a folder. Purely about paths: reads links, changes nothing."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path


def lies_below(path: str | Path, folders: Sequence[str | Path]) -> bool:
    """Whether a path, as it is written, is one of the folders or below one; `..` is followed."""
    return containing(path, folders) is not None


def containing(path: str | Path, folders: Sequence[str | Path]) -> Path | None:
    """Return the first of the folders that a path, as it is written, is in."""
    spelt = Path(os.path.normpath(path))
    for folder in folders:
        if spelt.is_relative_to(os.path.normpath(folder)):
            return Path(folder)
    return None


def leaves(path: Path, folder: Path) -> bool:
    """Whether a path leads out of a folder once all links are resolved; a loop of links does."""
    try:
        return not path.resolve().is_relative_to(folder.resolve())
    except (OSError, RuntimeError):
        return True

"""The runs below a folder. A run's id is a hash of its path there, so its URL is stable.

Nothing in a request becomes part of a path: ids are looked up among the listed runs.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from weft.storage.folder import RunFolder

MAX_DEPTH = 4
MAX_FOLDERS = 20_000
ID_CHARS = 16


@dataclass(frozen=True, slots=True)
class ServedRun:
    """A run below the folder that is served."""

    id: str
    name: str
    """Its path relative to the folder, or the folder's own name."""
    path: Path


@dataclass(frozen=True, slots=True)
class RunDirectory:
    """The folder that is served: a folder of runs, or a run."""

    root: Path

    def runs(self) -> list[ServedRun]:
        """Return every run, by name. Hidden folders and symbolic links are left out."""
        if RunFolder(self.root).is_run():
            return [_served(self.root.resolve().name, self.root)]
        runs = [_served(path.relative_to(self.root).as_posix(), path) for path in _walk(self.root)]
        return sorted(runs, key=lambda run: run.name)

    def find(self, id_: str) -> ServedRun | None:
        """Return the run with this id."""
        return next((run for run in self.runs() if run.id == id_), None)


def _served(name: str, path: Path) -> ServedRun:
    digest = hashlib.sha256(name.encode("utf-8", "surrogateescape")).hexdigest()
    return ServedRun(digest[:ID_CHARS], name, path)


def _walk(root: Path) -> Iterator[Path]:
    """Yield the runs below a folder, breadth first; runs inside a run are not listed."""
    level, visited = [root], 0
    for _ in range(MAX_DEPTH):
        inside: list[Path] = []
        for folder in level:
            for path in _folders(folder):
                visited += 1
                if visited > MAX_FOLDERS:
                    return
                if RunFolder(path).is_run():
                    yield path
                else:
                    inside.append(path)
        level = inside


def _folders(folder: Path) -> list[Path]:
    try:
        paths = sorted(folder.iterdir())
        return [p for p in paths if p.name[0] != "." and p.is_dir() and not p.is_symlink()]
    except OSError:
        return []  # deleted in the meantime, or no permission

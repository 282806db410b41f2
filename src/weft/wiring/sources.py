"""Source hashes of task packages: a resumed run must run the code it began with."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Callable
from pathlib import Path

from weft.errors import CodeChanged


class SourceBook:
    """The recorded hash of each package, checked or added when a task of it is first queued."""

    def __init__(
        self,
        recorded: dict[str, str],
        save: Callable[[dict[str, str]], None],
        accepted: Callable[[str], None] | None,
    ) -> None:
        self._recorded = recorded
        self._save = save
        self._accepted = accepted
        self._seen: set[str] = set()

    def use(self, function: str) -> None:
        """Take note of a task function; raise `CodeChanged` unless its package is as recorded."""
        package = function.partition(":")[0].partition(".")[0]
        if package in self._seen:
            return
        self._seen.add(package)
        found, before = source_hash(package), self._recorded.get(package)
        if found == before:
            return
        if before is not None:
            self._changed(package)
        self._recorded[package] = found
        self._save(self._recorded)

    def _changed(self, package: str) -> None:
        if self._accepted is None:
            raise CodeChanged(
                f"the source of package {package!r} is not what this run began with",
                hint="restore it, start a new --out, or go on with --accept code",
            )
        self._accepted(package)


def source_hash(package: str) -> str:
    """SHA-256 over a top-level package's or module's Python files; empty if it has none."""
    files = _files(package)
    digest = hashlib.sha256()
    for name, path in files:
        data = path.read_bytes()
        digest.update(f"{name}\n{len(data)}\n".encode() + data)
    return digest.hexdigest() if files else ""


def search_folder(search: str, run: Path) -> str:
    """Folder to import the search from, relative to the run folder; empty if it is installed."""
    package = search.partition(":")[0].partition(".")[0]
    location = _location(package)
    if location is None or package == "weft" or "site-packages" in location.parts:
        return ""
    return os.path.relpath(location.parent, run.absolute())


def _location(package: str) -> Path | None:
    """The package's folder or the module's file."""
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    if file is not None and Path(file).stem == package:
        return Path(file).absolute()
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.has_location or spec.origin is None:
        return None
    origin = Path(spec.origin).absolute()
    return origin.parent if spec.submodule_search_locations else origin


def _files(package: str) -> list[tuple[str, Path]]:
    location = _location(package)
    if location is None:
        return []
    if location.is_file():
        return [(location.name, location)] if location.suffix == ".py" else []
    found = sorted(location.rglob("*.py"))
    return [(path.relative_to(location).as_posix(), path) for path in found]

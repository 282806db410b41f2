"""Source hashes of task packages: a resumed run must run the code it began with."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from weft.cells import MAIN, is_stored_name
from weft.cells.stored import source_of
from weft.errors import CodeChanged, SearchInvalid
from weft.model.tasks import SearchCall


class SourceBook:
    """The hash of each package whose tasks were queued, and the import paths of declared names.

    `save(sources, imports)` is called when one is new.
    """

    def __init__(
        self,
        sources: dict[str, str],
        imports: dict[str, str],
        save: Callable[[dict[str, str], dict[str, str]], None],
    ) -> None:
        self._sources = sources
        self._imports = imports
        self._save = save

    def use(self, name: str, path: str) -> None:
        """Note a function's package and import path when they are first met."""
        package = package_of(path)
        if package == MAIN:
            task = path.partition(":")[2]
            raise SearchInvalid(
                f"{task} is defined in a notebook, the search that uses it is not",
                hint="define both in cells, or both in a file",
            )
        known = package in self._sources and (name == path or self._imports.get(name) == path)
        if known:
            return
        if package not in self._sources:
            self._sources[package] = source_hash(package)
        if name != path:
            self._imports[name] = path
        self._save(self._sources, self._imports)


def changed_packages(recorded: Mapping[str, str]) -> dict[str, str]:
    """Packages whose source is not what was recorded, with their hash now."""
    hashes = {package: source_hash(package) for package in sorted(recorded)}
    return {package: now for package, now in hashes.items() if now != recorded[package]}


def check_sources(recorded: Mapping[str, str], accepted: bool) -> dict[str, str]:
    """Return what changed since the run began; refuse it unless that was accepted."""
    changed = changed_packages(recorded)
    if changed and not accepted:
        raise CodeChanged(
            f"the source of package {min(changed)!r} is not what this run began with",
            hint="restore it, start a new --out, or go on with --accept code",
        )
    return changed


def package_of(function: str) -> str:
    """Top-level package or module of an import path `module:function`."""
    return function.partition(":")[0].partition(".")[0]


def source_hash(package: str) -> str:
    """SHA-256 over a top-level package's or module's Python files; empty if it has none."""
    text = source_of(package)
    if text is not None:
        return _hash([(f"{package}.py", text.encode())])
    location = location_of(package)
    return "" if location is None else hash_files(files_at(location))


def hash_files(files: Sequence[tuple[str, Path]]) -> str:
    """SHA-256 over files with their names; empty without any."""
    return _hash((name, path.read_bytes()) for name, path in files) if files else ""


def _hash(contents: Iterable[tuple[str, bytes]]) -> str:
    digest = hashlib.sha256()
    for name, data in contents:
        digest.update(f"{name}\n{len(data)}\n".encode() + data)
    return digest.hexdigest()


def search_folder(search: str, run: Path) -> str:
    """Folder to import the search from, relative to the run folder; empty if it is installed."""
    package = package_of(search)
    location = location_of(package)
    if location is None or package == "weft" or "site-packages" in location.parts:
        return ""
    return os.path.relpath(location.parent, run.absolute())


def own_import(call: SearchCall) -> str:
    """Import path of the user's code: the search, or what a search of Weft itself is given."""
    paths = [call.import_path, *(path for _, path in call.code)]
    return next((path for path in paths if package_of(path) != "weft"), call.import_path)


def location_of(package: str) -> Path | None:
    """The package's folder or the module's file."""
    if is_stored_name(package):
        return None  # executed from memory; the run keeps it
    main = sys.modules.get("__main__")
    file = getattr(main, "__file__", None)
    if file is not None and Path(file).name == f"{package}.py":  # not a program of that name
        return Path(file).absolute()
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    if spec is None or not spec.has_location or spec.origin is None:
        return None
    origin = Path(spec.origin).absolute()
    return origin.parent if spec.submodule_search_locations else origin


def files_at(location: Path) -> list[tuple[str, Path]]:
    """Python files of a package's folder or of a module's file, by name."""
    if location.is_file():
        return [(location.name, location)] if location.suffix == ".py" else []
    files = sorted(location.rglob("*.py"))
    return [(path.relative_to(location).as_posix(), path) for path in files]

"""Source hashes of task packages: a resumed run must run the code it began with.

The files are what counts, since workers import them. Modules of the same packages in this process
must have the same version, or a search would decide with other code than is recorded.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from types import ModuleType

from weft import loaded
from weft.cells import MAIN, is_stored_name
from weft.cells.stored import source_of
from weft.define import Task
from weft.errors import CodeChanged, SearchInvalid
from weft.model.tasks import SearchCall


class SourceBook:
    """The hash of each package whose tasks were queued, and the import paths of declared names.

    `save(sources, imports)` is called for each new one.
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
        self._compared = set[str]()
        """Packages whose loaded modules match their files."""

    def use(self, name: str, path: str) -> None:
        """Record a function's package and import path if they are new."""
        package = package_of(path)
        if package == MAIN:
            task = path.partition(":")[2]
            raise SearchInvalid(
                f"{task} is defined in a notebook, the search that uses it is not",
                hint="define both in cells, or both in a file",
            )
        if package not in self._compared:
            check_package(package)
            self._compared.add(package)
        known = package in self._sources and (name == path or self._imports.get(name) == path)
        if known:
            return
        if package not in self._sources:
            self._sources[package] = source_hash(package)
        if name != path:
            self._imports[name] = path
        self._save(self._sources, self._imports)


def changed_packages(recorded: Mapping[str, str]) -> dict[str, str]:
    """Return the packages whose source differs from the record, with their current hashes."""
    hashes = {package: source_hash(package) for package in sorted(recorded)}
    return {package: now for package, now in hashes.items() if now != recorded[package]}


def check_sources(recorded: Mapping[str, str], accepted: bool) -> dict[str, str]:
    """Return the packages that changed since the run began; refuse changes unless accepted."""
    changed = changed_packages(recorded)
    if changed and not accepted:
        raise CodeChanged(
            f"the source of package {min(changed)!r} has changed since this run started",
            hint="restore it, start a new --out, or continue with --accept code"
            ' (in Python: accept=["code"])',
        )
    return changed


def check_loaded(search: SearchCall) -> None:
    """Refuse a search that differs from its files, or that refers to tasks that do.

    Tasks that only its body imports are compared when they are first used.
    """
    if isinstance(search.source, loaded.LoadedSource):
        _check_source(search.source, f"search {search.name}", search.import_path)
    names = getattr(search.body, "__globals__", {})
    packages = [package_of(search.import_path)]
    for value in names.values():
        if isinstance(value, Task):
            if value.source is not None:
                holder = names.get("__name__", "")
                _check_source(value.source, f"task {value.name}", holder=holder)
            packages.append(loaded.package_of(value.function.__module__))
        elif isinstance(value, ModuleType) and loaded.is_noted(value.__name__):
            packages.append(loaded.package_of(value.__name__))
    for package in dict.fromkeys(packages):
        check_package(package)


def check_package(package: str) -> None:
    """Refuse a package if the loaded version is older than its files."""
    source = loaded.edited_module(package)
    if source is not None:
        raise _edited(source)


def _check_source(
    source: loaded.LoadedSource, declared: str, path: str = "", holder: str = ""
) -> None:
    """Refuse what was declared by an earlier version of its module than the one loaded now."""
    if not loaded.is_replaced(source):
        return
    module, _, name = path.partition(":")
    statement = f"importlib.reload({holder})" if holder else f"from {module} import {name}"
    where = f", which module {holder} holds," if holder else ""
    raise CodeChanged(
        f"{declared}{where} is of an earlier version of {source.file.name}, loaded again since",
        hint=f"take the new one: {statement}",
    )


def _edited(source: loaded.LoadedSource) -> CodeChanged:
    if source.module == loaded.MAIN:
        step = "start the script again"
    else:
        step = (
            f"restart Python, or importlib.reload({source.module}) and import its names again,"
            " or use %autoreload 2 in a notebook"
        )
    return CodeChanged(
        f"{source.file.name} was edited after module {source.module} was loaded: the search would"
        " run the old code, its tasks the new",
        hint=step,
    )


def package_of(function: str) -> str:
    """Return the top-level package or module of an import path `module:function`."""
    return function.partition(":")[0].partition(".")[0]


def source_hash(package: str) -> str:
    """Return the SHA-256 of a top-level package's or module's Python files; empty without any."""
    text = source_of(package)
    if text is not None:
        return _hash([(f"{package}.py", text.encode())])
    location = location_of(package)
    return "" if location is None else hash_files(files_at(location))


def hash_files(files: Sequence[tuple[str, Path]]) -> str:
    """Return the SHA-256 of files with their names; empty without any."""
    return _hash((name, path.read_bytes()) for name, path in files) if files else ""


def _hash(contents: Iterable[tuple[str, bytes]]) -> str:
    digest = hashlib.sha256()
    for name, data in contents:
        digest.update(f"{name}\n{len(data)}\n".encode() + data)
    return digest.hexdigest()


def search_folder(search: str, run: Path) -> str:
    """Return the folder to import the search from, relative to `run`; empty if installed."""
    package = package_of(search)
    location = location_of(package)
    if location is None or package == "weft" or "site-packages" in location.parts:
        return ""
    return os.path.relpath(location.parent, run.absolute())


def own_import(call: SearchCall) -> str:
    """Return the import path of the user's code: the search, or code given to one of Weft's."""
    paths = [call.import_path, *(path for _, path in call.code)]
    return next((path for path in paths if package_of(path) != "weft"), call.import_path)


def location_of(package: str) -> Path | None:
    """Return a package's folder or a module's file; None if it has none."""
    if is_stored_name(package):
        return None  # executed from memory; the run stores it
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
    """Return the Python files of a package's folder or of a module's file, by name."""
    if location.is_file():
        return [(location.name, location)] if location.suffix == ".py" else []
    names = sorted(_below(location), key=lambda name: name.split("/"))
    return [(name, location / name) for name in names]


def _below(folder: Path) -> Iterator[str]:
    """Yield the relative paths of the Python files below a folder; follows no links to folders.

    Every run does this, and `rglob` takes several times as long.
    """
    root = str(folder)
    for place, _, files in os.walk(root):
        inner = place[len(root) + 1 :]
        yield from (f"{inner}/{name}" if inner else name for name in files if name.endswith(".py"))

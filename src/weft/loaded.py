"""The source that loaded modules came from, for comparison with their current files.

A search runs in this process, as it was loaded; workers import its tasks from the files. If a
file was edited in between, the versions differ. `note` is called while a module that declares
tasks or searches is executed; it records the digests of its file and of the other loaded modules
of its package. Weft's own modules and modules without a file (notebooks, archives) are left out.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType

OWN_PACKAGE = "weft"
MAIN = "__main__"
ENGINE_NEEDS = frozenset({
    "__future__", "array", "ast", "base64", "binascii", "bisect", "collections", "concurrent",
    "contextlib", "ctypes", "dataclasses", "datetime", "difflib", "errno", "faulthandler",
    "fcntl", "functools", "gc", "hashlib", "heapq", "hmac", "html", "importlib", "inspect",
    "io", "itertools", "json", "math", "mmap", "operator", "os", "pathlib", "re", "resource",
    "secrets", "select", "shlex", "shutil", "signal", "socket", "sqlite3", "stat", "struct",
    "subprocess", "sys", "tarfile", "tempfile", "threading", "time", "tokenize", "tomllib",
    "traceback", "types", "typing", "warnings",
})  # fmt: skip
"""Standard-library modules that every run needs: no search can use their names."""


@dataclass(frozen=True, slots=True)
class LoadedSource:
    """A module's file as it was when the module was loaded."""

    module: str
    file: Path
    digest: str
    spec: ModuleSpec | None
    """A different object after `importlib.reload`."""

    @property
    def is_edited(self) -> bool:
        """Whether the file has changed since; a deleted file does not count."""
        return _digest(self.file) not in (self.digest, "")


_LOADED: dict[str, LoadedSource] = {}
"""Recorded sources by module name, as in `sys.modules`."""


def note(module_name: str) -> LoadedSource | None:
    """Record the source of a module being executed, and of the loaded modules of its package."""
    if package_of(module_name) == OWN_PACKAGE:
        return None
    module = sys.modules.get(module_name)
    known = _LOADED.get(module_name)
    if module is None:
        return None
    if known is not None and known.spec is not None and known.spec is _spec(module):
        return known
    source = _taken(module_name, module)
    if known is not None and source == known:  # a script, which has no spec to compare
        return known
    for name, sibling in _siblings(module_name):
        _taken(name, sibling)
    return source


def edited_module(package: str) -> LoadedSource | None:
    """Return the first loaded module of a package whose file was edited since."""
    if package == OWN_PACKAGE:
        return None
    for name, module in _siblings(package):
        source = _LOADED.get(name)
        if source is None or source.spec is not _spec(module):
            _taken(name, module)  # loaded or reloaded after all declarations
        elif source.is_edited:
            return source
    return None


def is_noted(module: str) -> bool:
    """Whether a module declares tasks or searches, or was loaded from a package that does."""
    return module in _LOADED


def is_replaced(source: LoadedSource) -> bool:
    """Whether another version of the module was loaded after `source` was recorded."""
    current = _LOADED.get(source.module)
    if current is None or source.module not in sys.modules:  # unloaded: workers see the file
        return source.is_edited
    return current.digest != source.digest


def package_of(module: str) -> str:
    """Return the top-level package or module of a module."""
    return module.partition(".")[0]


def import_first(name: str) -> ModuleType:
    """Import the module that is first on `sys.path`, whatever is loaded under that name.

    A standard-library module with the name of a search may or may not be loaded already. It
    gives way, as it does to a file beside a script, unless the engine needs it.
    """
    package = package_of(name)
    present = sys.modules.get(package)
    replaceable = package in sys.stdlib_module_names and package not in ENGINE_NEEDS
    if present is not None and replaceable:
        first = PathFinder.find_spec(package)
        if first is not None and first.origin not in (None, getattr(present, "__file__", None)):
            for known in [known for known in sys.modules if package_of(known) == package]:
                del sys.modules[known]
    return import_module(name)


def _siblings(name: str) -> Iterator[tuple[str, ModuleType]]:
    """Yield the loaded modules of the package that a module is in; for a script, only itself."""
    package = package_of(name)
    main = sys.modules.get(MAIN)
    if main is not None and package in (MAIN, _stem(main)):
        yield MAIN, main
    for known, module in sorted(sys.modules.items()):
        if known != MAIN and package_of(known) == package and isinstance(module, ModuleType):
            yield known, module


def _taken(name: str, module: ModuleType) -> LoadedSource | None:
    """Record the current content of a module's file; drop the record if it has no file."""
    _LOADED.pop(name, None)
    file = Path(getattr(module, "__file__", None) or "")
    digest = _digest(file) if file.suffix == ".py" else ""
    if not digest:
        return None
    return _LOADED.setdefault(name, LoadedSource(name, file.absolute(), digest, _spec(module)))


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError:  # in an archive, or gone
        return ""


def _spec(module: ModuleType) -> ModuleSpec | None:
    return getattr(module, "__spec__", None)


def _stem(main: ModuleType) -> str:
    """Return the name under which workers import a script."""
    spec = _spec(main)
    return package_of(spec.name) if spec else Path(getattr(main, "__file__", None) or "").stem

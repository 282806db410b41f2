"""Modules created from cells: their sources, by name, and the importer that executes them.

A module's name contains the SHA-256 of its source, so the name identifies the code. Modules are
executed from memory, never from a file or from compiled code beside one.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import re
import sys
import traceback
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from importlib.abc import ExecutionLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType
from typing import Any

from weft.cells import MAIN, PREFIX, is_stored_name
from weft.cells.assembly import search_source
from weft.errors import SearchInvalid, WeftError
from weft.model.tasks import SearchCall

HEX_DIGITS = 16
_NAME = re.compile(rf"\b{PREFIX}[0-9a-f]{{{HEX_DIGITS}}}\b")
_SOURCES: dict[str, str] = {}
"""Source of each module that this process knows."""


def module_name(source: str) -> str:
    """Return the name of the module with this source."""
    return PREFIX + hashlib.sha256(source.encode()).hexdigest()[:HEX_DIGITS]


def is_module_name(name: str) -> bool:
    """Whether a name has the form that `module_name` returns."""
    return _NAME.fullmatch(name) is not None


def names_in(source: str) -> list[str]:
    """Return the names of modules created from cells that a text mentions."""
    return _NAME.findall(source)


def code_digest(code: Mapping[str, str]) -> str:
    """Return the SHA-256 of modules with their names."""
    digest = hashlib.sha256()
    for name, text in sorted(code.items()):
        data = text.encode()
        digest.update(f"{name}\n{len(data)}\n".encode() + data)
    return digest.hexdigest()


def source_of(module: str) -> str | None:
    """Return the source of a module created from cells; None for any other."""
    return _SOURCES.get(module)


def sources_for(module: str) -> dict[str, str]:
    """Return the sources of a module and of all cell modules that it imports, by name."""
    sources: dict[str, str] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        if name in _SOURCES and name not in sources:
            sources[name] = _SOURCES[name]
            waiting += names_in(sources[name])
    return dict(sorted(sources.items()))


def imported_packages(module: str) -> list[str]:
    """Return the top-level packages that a module created from cells imports, sorted."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(_SOURCES[module])):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.add(node.module.partition(".")[0])
    return sorted(name for name in names if not is_stored_name(name))


def load(source: str, others: Mapping[str, str] | None = None) -> ModuleType:
    """Execute a module, with the cell modules that it imports, anew.

    `others` contains sources, by name, of modules that this process may not know yet.
    """
    name = module_name(source)
    _SOURCES.update(others or {})
    _SOURCES[name] = source
    if not any(isinstance(finder, CellFinder) for finder in sys.meta_path):
        sys.meta_path.append(CellFinder())
    for part in sources_for(name):
        sys.modules.pop(part, None)
    try:
        return importlib.import_module(name)
    except WeftError:
        raise
    except (Exception, SystemExit) as error:
        raise SearchInvalid(_failed(error)) from error


def as_stored(call: SearchCall) -> SearchCall:
    """Return the call of a cell's search as a call of the stored module that contains it.

    Other calls are returned unchanged. The module is executed anew for every run: it starts in
    the same state as on resume, whatever the notebook or an earlier run did to its values.
    """
    module, _, name = call.import_path.partition(":")
    if module == MAIN:
        loaded = load(search_source(call.body))
    elif is_stored_name(module) and module in _SOURCES:
        loaded = load(_SOURCES[module])
    else:
        return call
    search = getattr(loaded, name)
    args: dict[str, Any] = {key: _as_of(loaded, value) for key, value in call.args.items()}
    stored: SearchCall = search(**args)
    return stored


def _as_of(module: ModuleType, value: object) -> object:
    """Return a value with the notebook's dataclasses replaced by the module's own."""
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        return type(value)(_as_of(module, item) for item in value)
    if isinstance(value, dict):
        return {key: _as_of(module, item) for key, item in value.items()}
    kind = type(value)
    own = getattr(module, kind.__name__, kind) if kind.__module__ == MAIN else kind
    if own is kind or not is_dataclass(own) or not is_dataclass(value):
        return value
    copy: object = object.__new__(own)
    for field in fields(value):  # not by calling the class, which may do more than that
        object.__setattr__(copy, field.name, _as_of(module, getattr(value, field.name)))
    return copy


class CellFinder(MetaPathFinder):
    """Finds the modules created from cells."""

    def find_spec(self, name: str, *_: object) -> ModuleSpec | None:
        """Return the specification of a module whose source is known."""
        return spec_from_loader(name, CellLoader()) if name in _SOURCES else None


class CellLoader(ExecutionLoader):
    """Provides the source of a module created from cells."""

    def get_source(self, fullname: str) -> str:
        """Return the source; tracebacks show it."""
        return _SOURCES[fullname]

    def get_filename(self, fullname: str) -> str:
        """Return the name of the file in which a run stores it."""
        return f"{fullname}.py"


def _failed(error: BaseException) -> str:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if PREFIX in f.filename]
    line = f", in `{frames[-1].line}`" if frames and frames[-1].line else ""
    reason = " ".join(str(error).split())
    return f"the notebook's code cannot be executed: {type(error).__name__}: {reason}{line}"

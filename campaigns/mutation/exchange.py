"""Exchange the code of existing functions, so that a fork need not import anything again."""

from __future__ import annotations

import functools
import gc
from pathlib import Path
from types import CodeType, FunctionType

OURS = ("weft", "tests")
"""Packages whose caches may hold results of the unchanged code."""


class Functions:
    """Every function in memory by its source file, and the caches to clear."""

    def __init__(self) -> None:
        self._by_file: dict[str, list[FunctionType]] = {}
        self._caches: list[functools._lru_cache_wrapper[object]] = []
        for entry in gc.get_objects():
            if isinstance(entry, FunctionType):
                self._by_file.setdefault(entry.__code__.co_filename, []).append(entry)
            elif isinstance(entry, functools._lru_cache_wrapper) and is_ours(entry.__module__):
                self._caches.append(entry)

    def exchange(self, path: Path) -> None:
        """Update every function of a file to the current code of the file.

        Fails if a line has two functions with the same name, or the variables of a closure have
        changed; such a mutant is tried by a process that imports the file.
        """
        codes: dict[tuple[str, int], list[CodeType]] = {}
        collect_codes(compile(path.read_text("utf-8"), str(path), "exec"), codes)
        for cache in self._caches:
            cache.cache_clear()
        for function in self._by_file.get(str(path), ()):
            code = function.__code__
            [changed] = codes[code.co_qualname, code.co_firstlineno]
            function.__code__ = changed


def is_ours(module: str | None) -> bool:
    """Whether a cache may belong to Weft or its tests."""
    return module is None or module.partition(".")[0] in OURS


def collect_codes(code: CodeType, into: dict[tuple[str, int], list[CodeType]]) -> None:
    """Collect all code objects inside one, by qualified name and first line."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            into.setdefault((constant.co_qualname, constant.co_firstlineno), []).append(constant)
            collect_codes(constant, into)

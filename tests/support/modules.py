"""Modules written by a test, importable by it and by the workers it starts."""

from __future__ import annotations

import importlib
import itertools
import sys
import textwrap
from pathlib import Path
from types import ModuleType

_numbers = itertools.count()


class ModuleFolder:
    """A folder on sys.path; each module in it has a unique name."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        sys.path.insert(0, str(path))

    def write(self, source: str, name: str | None = None) -> ModuleType:
        """Write and import a module; an import of `weft` is added at its top."""
        name = name or f"lab_{next(_numbers)}"
        text = "import weft\n" + textwrap.dedent(source)
        (self.path / f"{name}.py").write_text(text)
        importlib.invalidate_caches()
        return importlib.import_module(name)

    def close(self) -> None:
        """Remove the folder, and the modules imported from it."""
        sys.path.remove(str(self.path))
        for name, module in list(sys.modules.items()):
            if str(self.path) in str(getattr(module, "__file__", "")):
                del sys.modules[name]

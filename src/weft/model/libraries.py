"""NumPy, pandas, polars and pyarrow, imported when one of their names is first used.

Like `weft.lazy_imports.lazy_module`, but without that module's imports: every worker loads this.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any


class Library:
    """Stands in for a library that may not be installed."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self._name), name)

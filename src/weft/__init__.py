"""Large parallel searches that always give the same answer, with proof.

Declare tasks with `@weft.task`, a search with `@weft.search`, and `weft.run` it. See the
README for a first example and docs/architecture.md for the words used here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weft.define import command, hook, reference, search, task
from weft.errors import Interrupted, WeftError
from weft.model.results import Result, TaskError, TaskFailed, Temporary
from weft.model.slots import Node
from weft.model.tasks import Budget, Milestone, Unknown
from weft.model.tasks import make_lanes as lanes
from weft.model.tasks import make_lazy as lazy
from weft.model.tasks import make_round as round  # noqa: A004 - reads well as weft.round
from weft.model.values import Object, Value
from weft.version import __version__
from weft.worker.context import device, get, note, put, put_file

if TYPE_CHECKING:
    from weft.product import Product
    from weft.runs.outcome import Run
    from weft.runs.run import run

__all__ = [
    "Budget", "Interrupted", "Milestone", "Node", "Object", "Product", "Result", "Run",
    "TaskError", "TaskFailed", "Temporary", "Unknown", "Value", "WeftError", "__version__",
    "command", "device", "get", "hook", "lanes", "lazy", "note", "put", "put_file", "reference",
    "round", "run", "search", "task",
]  # fmt: skip

_LATER = {"Product": "weft.product", "run": "weft.runs.run", "Run": "weft.runs.outcome"}
"""Names whose modules are slow to import; a worker never needs them."""


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'weft' has no attribute {name!r}")
    import importlib  # noqa: PLC0415

    return getattr(importlib.import_module(_LATER[name]), name)

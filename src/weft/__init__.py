"""Large parallel searches that always give the same answer, with proof.

Declare tasks with `@weft.task`, a search with `@weft.search`, and `weft.run` it. See the
README for a first example and docs/architecture.md for a glossary. Names are imported on first
use: `weft --help` needs none of them, a worker only some.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from weft.define.commands import command, hook, reference
    from weft.define.searches import INPUTS, search
    from weft.define.tasks import SEED, task
    from weft.errors import Interrupted, WeftError
    from weft.loadedrun import LoadedRun as Run
    from weft.loadedrun import load, run
    from weft.model.leaves import Object, Value
    from weft.model.plan import Plan
    from weft.model.results import Result, TaskError, TaskFailed, Temporary
    from weft.model.slots import Node
    from weft.model.tasks import Budget, Milestone, Unknown
    from weft.model.tasks import make_lanes as lanes
    from weft.model.tasks import make_lazy as lazy
    from weft.model.tasks import make_round as round  # noqa: A004 - reads well as weft.round
    from weft.model.tasks import make_stream as stream
    from weft.product import Product
    from weft.version import __version__
    from weft.worker.context import device, get, note, put, put_file

__all__ = [
    "INPUTS", "SEED", "Budget", "Interrupted", "Milestone", "Node", "Object", "Plan", "Product",
    "Result", "Run", "TaskError", "TaskFailed", "Temporary", "Unknown", "Value", "WeftError",
    "__version__", "command", "device", "get", "hook", "lanes", "lazy", "load", "note", "put",
    "put_file",
    "reference", "round", "run", "search", "stream", "task",
]  # fmt: skip

_MODULES = {
    "define.commands": ("command", "hook", "reference"),
    "define.searches": ("INPUTS", "search"),
    "define.tasks": ("SEED", "task"),
    "errors": ("Interrupted", "WeftError"),
    "loadedrun": ("Run", "load", "run"),
    "model.plan": ("Plan",),
    "model.results": ("Result", "TaskError", "TaskFailed", "Temporary"),
    "model.slots": ("Node",),
    "model.tasks": ("Budget", "Milestone", "Unknown", "lanes", "lazy", "round", "stream"),
    "model.leaves": ("Object", "Value"),
    "product": ("Product",),
    "cells.magic": ("load_ipython_extension",),
    "version": ("__version__",),
    "worker.context": ("device", "get", "note", "put", "put_file"),
}
"""The public names by submodule: the imports above, for the interpreter."""
_PACKAGES = ("asktell", "optuna")
"""Subpackages that attribute access imports, as `import weft.optuna` does."""
_RENAMED = {
    "Run": "LoadedRun",
    "lanes": "make_lanes",
    "lazy": "make_lazy",
    "round": "make_round",
    "stream": "make_stream",
}


def __getattr__(name: str) -> Any:
    from importlib import import_module  # noqa: PLC0415

    for module, names in _MODULES.items():
        if name in names:
            value = getattr(import_module(f"weft.{module}"), _RENAMED.get(name, name))
            globals()[name] = value
            return value
    if name in _PACKAGES:
        return import_module(f"weft.{name}")
    raise AttributeError(f"module 'weft' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)

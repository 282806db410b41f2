"""What run.toml remembers of how a run is carried out, so that `weft resume RUN` is enough.

    remembered(execution) ─► run.toml [execution] ─► recalled(…) ─► Execution

Nothing of it reaches the ledger. Folders of ours are kept relative to the run folder, which may
be moved; paths that a person wrote into a node file stay as written.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from weft.errors import FileInvalid, InputError
from weft.model.slots import Node
from weft.runs.execution import Execution
from weft.storage.folder import RunFile, RunFolder

_TYPES: Mapping[str, tuple[type, ...]] = {
    "workers": (int,),
    "backend": (str,),
    "placement": (str,),
    "stagger_s": (int, float),
    "group_cap": (int,),
    "device": (str,),
    "folder": (str,),
    "nodes": (list,),
    "ray_address": (str,),
    "keep": (list,),
}


def remembered(execution: Execution, slots: int) -> dict[str, Any]:
    """Return the [execution] table of a new run that has so many slots."""
    base = (execution.base or Path.cwd()).absolute()
    table = {
        "backend": execution.backend,
        "workers": execution.workers
        or (slots if execution.nodes or execution.backend == "ray" else 1),
        "slots": min(slots, execution.workers or slots),
        "placement": execution.placement,
        "stagger_s": float(execution.stagger_s),
        "group_cap": execution.group_cap,
        "device": "" if execution.device == "auto" else execution.device,
        "folder": os.path.relpath(base, execution.out.absolute()),
        "nodes": [_without_empty(asdict(node)) for node in execution.nodes],
        "ray_address": execution.ray_address,
        "tags": list(execution.tags),
        "labels": dict(execution.labels),
        "keep": list(execution.keep),
    }
    return _without_empty(table)


def recalled(folder: RunFolder, run_file: RunFile, given: Mapping[str, Any]) -> Execution:
    """Return how to go on with a run: as it was begun, apart from what is `given` now."""
    table = run_file.execution
    for name, types in _TYPES.items():
        value = table.get(name)
        if value is not None and (not isinstance(value, types) or isinstance(value, bool)):
            raise FileInvalid(f"{folder.run_toml}: execution.{name} is of a wrong type")
    kept = {name: table[name] for name in _TYPES if name in table and name != "folder"}
    kept["nodes"] = tuple(_node(raw, folder) for raw in kept.get("nodes", ()))
    kept["keep"] = tuple(str(word) for word in kept.get("keep", ()))
    if given.get("nodes"):
        kept.pop("workers", None)  # other nodes have other numbers
    if kept.get("backend") == "ray" != given.get("backend", "ray"):
        kept = {n: v for n, v in kept.items() if n not in ("nodes", "ray_address")}  # not for here
    base = _base(folder, str(table.get("folder", "")))
    return Execution(folder.path, **{**kept, **given}, base=base)


def _node(raw: Any, folder: RunFolder) -> Node:
    try:
        return Node(**{**dict(raw), "allow_paths": _paths(raw)})
    except (TypeError, InputError) as error:
        raise FileInvalid(f"{folder.run_toml}: execution.nodes: {error}") from None


def _paths(raw: Mapping[str, Any]) -> tuple[str, ...]:
    paths = raw.get("allow_paths", [])
    if not isinstance(paths, list) or not all(isinstance(path, str) for path in paths):
        raise TypeError("allow_paths is not a list of folders")
    return tuple(paths)


def _base(folder: RunFolder, relative: str) -> Path | None:
    """The folder the run was begun in, unless it was moved away from it."""
    place = (folder.path.absolute() / relative).resolve()
    return place if relative and place.is_dir() else None


def _without_empty(table: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: value for name, value in table.items() if value not in (None, "", [], (), {}, 0.0)
    }

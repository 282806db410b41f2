"""Stores in run.toml how a run is executed, so that `weft resume RUN` needs no options.

    remembered(execution) ─► run.toml [execution] ─► recalled(…, changes) ─► Execution

None of it reaches the ledger. Our own folders are stored relative to the run folder, which may be
moved; paths from a node file stay as written.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import TypeVar

from weft.errors import FileInvalid, InputError
from weft.model.slots import Node
from weft.model.values import JsonValue
from weft.runs.execution import Execution, ExecutionChanges
from weft.storage.folder import RunFile, RunFolder

T = TypeVar("T")

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


def remembered(execution: Execution, slots: int) -> dict[str, JsonValue]:
    """Return the [execution] table of a new run with that many slots."""
    base = (execution.base or Path.cwd()).absolute()
    table: dict[str, JsonValue] = {
        "backend": execution.backend,
        "workers": execution.workers or slots,
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


def recalled(
    folder: RunFolder, run_file: RunFile, changes: ExecutionChanges | None = None
) -> Execution:
    """Return how to continue a run: as it was executed before, apart from the changes."""
    table, changes = run_file.execution, changes or ExecutionChanges()
    _check_types(folder, table)
    nodes = tuple(_node(raw, folder) for raw in table.get("nodes", ()))
    address = table.get("ray_address", "")
    if table.get("backend") == "ray" and changes.backend not in (None, "ray"):
        nodes, address = (), ""  # they do not belong to this machine
    workers = table.get("workers") if changes.nodes is None else None  # other nodes, other numbers
    return Execution(
        folder.path,
        workers if changes.workers is None else changes.workers,
        _chosen(changes.backend, table.get("backend", "local")),
        changes.accept,
        changes.wall_limit_s,
        changes.sign_key,
        _chosen(changes.nodes, nodes),
        _chosen(changes.placement, table.get("placement", "greedy")),
        _chosen(changes.group_cap, table.get("group_cap")),
        _chosen(changes.stagger_s, table.get("stagger_s", 0.0)),
        table.get("device", "auto"),
        _base(folder, str(table.get("folder", ""))),
        ray_address=_chosen(changes.ray_address, address),
        keep=tuple(str(word) for word in table.get("keep", ())),
        notices=changes.notices,
        warnings=changes.warnings,
        pause_at=changes.pause_at,
    )


def _chosen(change: T | None, before: T) -> T:
    return before if change is None else change


def _check_types(folder: RunFolder, table: Mapping[str, JsonValue]) -> None:
    for name, types in _TYPES.items():
        value = table.get(name)
        if value is not None and (not isinstance(value, types) or isinstance(value, bool)):
            raise FileInvalid(f"{folder.run_toml}: execution.{name} has the wrong type")


def _node(raw: Mapping[str, JsonValue], folder: RunFolder) -> Node:
    try:
        fields = dict(raw)
        paths = _paths(fields.pop("allow_paths", []))
        return Node(**fields, allow_paths=paths)  # type: ignore[arg-type]  # checked there
    except (TypeError, ValueError, InputError) as error:
        raise FileInvalid(f"{folder.run_toml}: execution.nodes: {error}") from None


def _paths(value: JsonValue) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise TypeError("allow_paths is not a list of folders")
    paths = tuple(path for path in value if isinstance(path, str))
    if len(paths) < len(value):
        raise TypeError("allow_paths is not a list of folders")
    return paths


def _base(folder: RunFolder, relative: str) -> Path | None:
    """Return the folder that the run was started in, unless the run was moved away from it."""
    place = (folder.path.absolute() / relative).resolve()
    return place if relative and place.is_dir() else None


def _without_empty(table: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    return {
        name: value for name, value in table.items() if value not in (None, "", [], (), {}, 0.0)
    }

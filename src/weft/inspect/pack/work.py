"""What commands of a run find around them, for its pack: files of their folder, and nodes.

Known are the files that a command names as `{work_dir}/…`; what a script reads beside them is not.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

from weft.errors import Damaged
from weft.inspect.access import open_manifest
from weft.model.tasks import COMMAND
from weft.storage.folder import RunFile, RunFolder

HERE = "{work_dir}/"
NODES_FILE = "nodes.json"
TAKEN = ("again", "args.json", "inputs", NODES_FILE, "pack.json", "pack.md", "source")
"""Names that a pack has for itself."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Files by the name that commands use, with where each is now; and what is not to be had."""

    files: Mapping[str, Path]
    missing: tuple[str, ...]
    nodes: tuple[Mapping[str, Any], ...]

    def nodes_text(self) -> str:
        """Write the nodes as `--nodes` reads them."""
        return json.dumps({"nodes": [_entry(node) for node in self.nodes]}, indent=1) + "\n"


def surroundings(folder: RunFolder, run_file: RunFile) -> Surroundings:
    """Look for the files that the commands of a run name, where the run was begun."""
    table = run_file.execution
    nodes = tuple(node for node in table.get("nodes", ()) if isinstance(node, dict))
    base = (folder.path.absolute() / str(table.get("folder", "."))).resolve()
    places = [base, *(base / str(node.get("folder", "")) for node in nodes)]
    found: dict[str, Path] = {}
    missing: list[str] = []
    for name in sorted(set(_named(folder))):
        there = [place / name for place in places if _is_inside(name) and (place / name).is_file()]
        if there:
            found[name] = there[0]
        else:
            missing.append(name)
    return Surroundings(found, tuple(missing), nodes)


def _named(folder: RunFolder) -> Iterator[str]:
    """Give the files that commands name, as often as they do."""
    if not folder.manifest.is_file():
        return
    try:
        with open_manifest(folder) as manifest:
            rows = manifest.query("SELECT args FROM task_view WHERE function = ?", COMMAND)
    except Damaged:  # the pack says so elsewhere
        return
    for (text,) in rows:
        for word in json.loads(text)["argv"]:
            if word.startswith(HERE):
                yield word.removeprefix(HERE)


def _is_inside(name: str) -> bool:
    """Whether a name leads to a file below the folder, and to none that the pack makes itself."""
    parts = PurePosixPath(name).parts
    return bool(parts) and not name.startswith("/") and ".." not in parts and parts[0] not in TAKEN


def _entry(node: Mapping[str, Any]) -> dict[str, Any]:
    counts = {"gpu_count": node.get("gpus", 0), "cpu_count": node.get("cpus", 0)}
    cap = node.get("max_concurrent")
    return {"hostname": node["name"], **counts, **({"max_concurrent": cap} if cap else {})}

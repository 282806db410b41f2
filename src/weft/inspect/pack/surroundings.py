"""What the commands of a run use besides their arguments: files of their folder, and nodes.

Covers the files that a command names as `{work_dir}/…`, not those that a script opens itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from weft.errors import Damaged
from weft.inspect.access import open_manifest
from weft.model.tasks import COMMAND
from weft.model.values import JsonValue
from weft.storage.folder import RunFile, RunFolder

HERE = "{work_dir}/"
NODES_FILE = "nodes.json"
RESERVED = ("again", "args.json", "inputs", NODES_FILE, "pack.json", "pack.md", "source")
"""Names that a pack reserves for its own files."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Files by the name that commands use, each with its current path; and what is missing."""

    files: Mapping[str, Path]
    missing: tuple[str, ...]
    nodes: tuple[Mapping[str, JsonValue], ...]

    def nodes_text(self) -> str:
        """Return the nodes in the format that `--nodes` reads."""
        return json.dumps({"nodes": [_entry(node) for node in self.nodes]}, indent=1) + "\n"


def surroundings(folder: RunFolder, run_file: RunFile) -> Surroundings:
    """Find the files that a run's commands name, in its start folder or those of its nodes."""
    table = run_file.execution
    nodes = tuple(node for node in table.get("nodes", ()) if isinstance(node, dict))
    base = (folder.path.absolute() / str(table.get("folder", "."))).resolve()
    places = [base, *(base / str(node.get("folder", "")) for node in nodes)]
    files: dict[str, Path] = {}
    missing: list[str] = []
    for name in sorted(set(_named(folder))):
        existing = [
            place / name for place in places if _is_inside(name) and (place / name).is_file()
        ]
        if existing:
            files[name] = existing[0]
        else:
            missing.append(name)
    return Surroundings(files, tuple(missing), nodes)


def _named(folder: RunFolder) -> Iterator[str]:
    """Yield the files that commands name, with duplicates."""
    if not folder.manifest.is_file():
        return
    try:
        with open_manifest(folder) as manifest:
            rows = manifest.query("SELECT args FROM task_view WHERE function = ?", COMMAND)
    except Damaged:  # the pack reports it elsewhere
        return
    for (text,) in rows:
        for word in json.loads(text)["argv"]:
            if word.startswith(HERE):
                yield word.removeprefix(HERE)


def _is_inside(name: str) -> bool:
    """Whether a name leads to a file below the folder, and not to one of the pack's own files."""
    parts = PurePosixPath(name).parts
    return (
        bool(parts) and not name.startswith("/") and ".." not in parts and parts[0] not in RESERVED
    )


def _entry(node: Mapping[str, JsonValue]) -> dict[str, JsonValue]:
    counts = {"gpu_count": node.get("gpus", 0), "cpu_count": node.get("cpus", 0)}
    cap = node.get("max_concurrent")
    return {"hostname": node["name"], **counts, **({"max_concurrent": cap} if cap else {})}

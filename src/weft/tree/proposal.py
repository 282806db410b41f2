"""What happens on the slot when ideas are made for a node: its files before, its ideas after."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from weft.tree import ideas as idea_files
from weft.tree import memory
from weft.tree.context import as_markdown, told
from weft.tree.ideas import name_of
from weft.treetools.values import mutations
from weft.worker.context import get, put

FILES = {"ideas_dir": "ideas", "context_file": "context.json", "context_text": "context.md"}


def environment(args: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables that only a proposing command has, as templates."""
    names = FILES if args["stage"] == "propose" else {}
    return {f"WEFT_{name.upper()}": f"{{{name}}}" for name in names}


def lay_out(args: Mapping[str, Any], folder: Path, seed: int) -> dict[str, str]:
    """Write what the command is told, and mutations; return the names of the files."""
    if args["stage"] != "propose":
        return {}
    places = {name: folder / file for name, file in FILES.items()}
    places["ideas_dir"].mkdir()
    _write_mutations(args["mutations"], folder, seed)
    index = json.loads(get(args["index"])) if args["index"] is not None else []
    context = told(args["context"], get, index)
    places["context_file"].write_text(json.dumps(context, ensure_ascii=False, indent=1), "utf-8")
    places["context_text"].write_text(as_markdown(context), "utf-8")
    return {name: str(path) for name, path in places.items()}


def _write_mutations(tables: Sequence[Mapping[str, Any]], folder: Path, seed: int) -> None:
    several = len({table["file"] for table in tables}) > 1
    for number, table in enumerate(tables):
        place = f"{table['file'].replace('/', '_')}." if several else ""
        for idea in mutations(table, folder / "worktree", f"{seed}/{number}"):
            name = place + name_of(idea["values"])
            (folder / "ideas" / f"{name[:200]}.json").write_text(json.dumps(idea), "utf-8")


def collected(args: Mapping[str, Any], folder: Path, stdout: Path, cost: Any) -> dict[str, Any]:
    """Read the ideas that were written, each stored as an object."""
    found, skipped = idea_files.read_proposed(folder / "ideas", has_command=args["has_command"])
    asked = f"Propose ideas for {args['context']['node']}."
    return {
        "ideas": [
            {"name": idea.name, "kind": idea.kind, "digest": idea.digest, "content": put(data)}
            for idea, data in found
        ],
        "skipped": [{"name": name, "reason": reason} for name, reason in skipped],
        "cost": cost,
        **memory.collected(args, folder, stdout, asked, put),
    }

"""What happens on the slot when ideas are made for a node: its files before, its ideas after."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weft.tree import ideas as idea_files
from weft.tree import memory
from weft.tree.context import as_markdown, told
from weft.worker.command import CommandRun
from weft.worker.context import get, put


def lay_out(args: Mapping[str, Any], folder: Path) -> dict[str, str]:
    """Write what the command is told; return the names of its files."""
    if args["stage"] != "propose":
        return {}
    names = {"ideas_dir": "ideas", "context_file": "context.json", "context_text": "context.md"}
    places = {name: folder / file for name, file in names.items()}
    places["ideas_dir"].mkdir()
    index = json.loads(get(args["index"])) if args["index"] is not None else []
    context = told(args["context"], get, index)
    places["context_file"].write_text(json.dumps(context, ensure_ascii=False, indent=1), "utf-8")
    places["context_text"].write_text(as_markdown(context), "utf-8")
    return {name: str(path) for name, path in places.items()}


def collected(run: CommandRun, folder: Path, cost: Any) -> dict[str, Any]:
    """Read the ideas that were written, each stored as an object."""
    has_command = run.args["has_command"]
    found, skipped = idea_files.read_proposed(folder / "ideas", has_command=has_command)
    asked = f"Propose ideas for {run.args['context']['node']}."
    return {
        "ideas": [
            {"name": idea.name, "kind": idea.kind, "digest": idea.digest, "content": put(data)}
            for idea, data in found
        ],
        "skipped": [{"name": name, "reason": reason} for name, reason in skipped],
        "cost": cost,
        **memory.collected(run.args, folder, run.stdout, asked, put),
    }

"""Generate ideas for a node on the slot: write the files before, collect the ideas after."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from weft import get, put
from weft.model.codec import to_json
from weft.model.values import Value
from weft.searches.tree import ideas as idea_files
from weft.searches.tree.context import as_markdown, with_texts
from weft.searches.tree.ideas import name_of
from weft.searches.tree.memory import collect_turns, put_text
from weft.searches.tree.slot.values import Mutation, mutations
from weft.searches.tree.stageargs import ProposeArgs, StageArgs
from weft.searches.tree.stages import PROPOSAL_FILES


def lay_out(args: ProposeArgs | None, folder: Path, seed: int) -> dict[str, str]:
    """Write a command's context, and the mutations; return the paths of the files by name."""
    if args is None:
        return {}
    places = {name: folder / file for name, file in PROPOSAL_FILES.items()}
    places["ideas_dir"].mkdir()
    _write_mutations(args.mutations, folder, seed)
    index: list[Value] = [] if args.index is None else json.loads(get(args.index))
    context = json.dumps(with_texts(args.context, get, index), ensure_ascii=False, indent=1)
    places["context_file"].write_text(context, "utf-8")
    places["context_text"].write_text(as_markdown(args.context, get, index), "utf-8")
    return {name: str(path) for name, path in places.items()}


def _write_mutations(tables: Sequence[Mutation], folder: Path, seed: int) -> None:
    several = len({table.file for table in tables}) > 1
    for number, table in enumerate(tables):
        prefix = f"{table.file.replace('/', '_')}." if several else ""
        for idea in mutations(table, folder / "worktree", f"{seed}/{number}"):
            name = prefix + name_of(idea.values)
            body = json.dumps({"file": idea.file, "values": dict(idea.values)})
            (folder / "ideas" / f"{name[:200]}.json").write_text(body, "utf-8")


def collect_ideas(args: StageArgs, folder: Path, stdout: Path, cost: Value) -> dict[str, Value]:
    """Return the ideas that were written, storing each as an object."""
    assert args.propose is not None
    has_command = args.propose.has_command
    proposed, skipped = idea_files.read_proposed(folder / "ideas", has_command=has_command)
    prompt = f"Propose ideas for {args.propose.context.node}."
    ideas: list[Value] = [replace(i, content=put(data)).to_dict() for i, data in proposed]
    skips: list[Value] = [to_json(file) for file in skipped]
    turns = collect_turns(args.memory, folder, stdout, prompt, put_text)
    return {"ideas": ideas, "skipped": skips, "cost": cost, **turns}

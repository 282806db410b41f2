"""Ideas made for a node: by mutation of values, and by a command that is told what was tried.

    story ─► context ─► slot: idea files ─► checked ideas as objects ─► Node.ideas

One task per node of a frontier, before the depth is planned. What a command wrote is recorded
once, so that a replay needs neither the command nor its files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

from weft.define import task
from weft.model.results import Result
from weft.model.tasks import TaskCall
from weft.model.values import Object
from weft.tree import memory
from weft.tree.context import context_of
from weft.tree.failures import named
from weft.tree.plot import Idea, Plot
from weft.tree.recordings import Recordings, replay_call
from weft.tree.stages import stage_on
from weft.tree.story import Node, Skip, Story

DRY_IDEAS = 3


def propose_call(
    node: Node,
    depth: int,
    plot: Plot,
    story: Story,
    inputs: Mapping[str, Object],
    recordings: Recordings,
) -> TaskCall:
    """Describe the making of ideas for a node."""
    asked = {
        "eval_id": None, "parent_node_id": node.node_id, "idea_path": "", "depth": depth,
        "stage": "propose",
    }  # fmt: skip
    if plot.dry_run:
        return synthetic_ideas(asked)
    if plot.is_recorded("propose"):
        asked |= {"tree": node.tree}
        return replay_call(asked, recordings.find(asked))
    more: dict[str, Any] = {
        "context": context_of(node, depth, story, plot.direction, inputs),
        "mutations": [dict(table) for table in plot.mutations],
        "index": inputs.get("index"),
        "has_command": plot.has("implement"),
        "parent_result": node.result,
        "root_result": node.path()[0].result,
        **memory.asked(plot, node.turns, "propose"),
    }
    return stage_on(node, plot, inputs, asked, more, None)


def take(node: Node, depth: int, result: Result, story: Story) -> None:
    """Give a node the ideas that were made for it; what is no idea is skipped with the reason."""
    if not result.ok:
        story.skips.append(Skip(node.node_id, depth, "[propose]", named("propose", result)["type"]))
        return
    place = f"{node.name}.{depth}"
    for raw in result.value["ideas"]:
        idea = Idea(f"{place}/{raw['name']}", raw["kind"], raw["digest"], raw["content"])
        node.ideas.append(idea)
    for raw in result.value["skipped"]:
        name = f"{place}/{raw['name']}"
        story.skips.append(Skip(node.node_id, depth, name, raw["reason"]))
    if result.value.get("turns") is not None:
        node.turns = (*node.turns, result.value["turns"])


@task
def synthetic_ideas(asked: dict[str, Any]) -> dict[str, Any]:
    """Return what a command might have proposed: always the same for a node and depth."""
    names = [f"dry-{number}.md" for number in range(1, DRY_IDEAS + 1)]
    place = f"{asked['parent_node_id']}/{asked['depth']}"
    ideas = [
        {"name": name, "kind": "text", "content": None,
         "digest": hashlib.sha256(f"{place}/{name}".encode()).hexdigest()}
        for name in names
    ]  # fmt: skip
    return {"ideas": ideas, "skipped": [], "cost": None}

"""Generate ideas for a node: by mutating values, and by a command that gets the history.

    history ─► context ─► slot: idea files ─► checked ideas as objects ─► TreeNode.ideas

There is one task per node of a frontier, before the depth is planned. The command's output is
recorded, so that a replay needs neither the command nor its files.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import replace

from weft import task
from weft.model.codec import from_json
from weft.model.results import Result
from weft.model.tasks import TaskCall
from weft.model.values import Object, Value
from weft.searches.tree.config import TreeConfig
from weft.searches.tree.context import context_of
from weft.searches.tree.history import Skip, TreeHistory, TreeNode
from weft.searches.tree.memory import memory_args
from weft.searches.tree.recordings import RecordingKey, Recordings, find_recording, replay_call
from weft.searches.tree.results import Proposal, declared_failure, failure_of
from weft.searches.tree.stageargs import ProposeArgs, StageArgs, StageId, flat
from weft.searches.tree.stages import call_of, source_state

DRY_IDEAS = 3


def propose_call(
    node: TreeNode,
    depth: int,
    config: TreeConfig,
    history: TreeHistory,
    inputs: Mapping[str, Object],
    recordings: Recordings,
) -> TaskCall:
    """Return the call that generates ideas for a node."""
    stage = StageId("propose", None, node.node_id, "", depth)
    if config.dry_run:
        return synthetic_ideas(flat(stage))
    if config.is_recorded("propose"):
        key = RecordingKey("propose", node.tree, depth)
        return replay_call(stage, key, find_recording(recordings, key))
    propose = ProposeArgs(
        context_of(node, depth, history, config.direction, inputs), config.mutations,
        inputs.get("index"), config.has("implement"), node.result_dict(),
        node.path()[0].result_dict(),
    )  # fmt: skip
    memory = memory_args(config, node.turns, "propose")
    args = StageArgs(stage, source_state(node, inputs), propose=propose, memory=memory)
    return call_of(args, node, config)


def add_ideas(node: TreeNode, depth: int, result: Result, history: TreeHistory) -> None:
    """Add generated ideas to a node; files that are not ideas are skipped with the reason."""
    reported = declared_failure(result)
    if not result.ok or reported:
        reason = failure_of("propose", result).type + (f": {reported}" if reported else "")
        history.skips.append(Skip(node.node_id, depth, "[propose]", reason))
        return
    proposal = from_json(Proposal, result.value)
    prefix = f"{node.name}.{depth}"
    node.ideas += [replace(idea, name=f"{prefix}/{idea.name}") for idea in proposal.ideas]
    for file in proposal.skipped:
        skip = Skip(node.node_id, depth, f"{prefix}/{file.name}", file.reason)
        history.skips.append(skip)
    if proposal.turns is not None:
        node.turns = (*node.turns, proposal.turns)


@task(name="tree.synthetic_ideas")
def synthetic_ideas(asked: dict[str, Value]) -> dict[str, Value]:
    """Return synthetic ideas, always the same for a node and depth."""
    names = [f"dry-{number}.md" for number in range(1, DRY_IDEAS + 1)]
    place = f"{asked['parent_node_id']}/{asked['depth']}"
    ideas: list[Value] = [
        {"name": name, "kind": "text", "content": None,
         "digest": hashlib.sha256(f"{place}/{name}".encode()).hexdigest()}
        for name in names
    ]  # fmt: skip
    return {"ideas": ideas, "skipped": [], "cost": None}

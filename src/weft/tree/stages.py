"""The stages of an eval as tasks: commands, or with --dry-run a synthetic outcome per eval id.

What a task's arguments hold is what the manifest and `--json` show of it: eval_id,
parent_node_id, idea_path, depth and stage. Evals of one parent form a group, so that a cap per
node can hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from weft.define import command, task
from weft.model.results import TaskError
from weft.model.tasks import Limits, TaskCall
from weft.model.values import Object
from weft.tree import memory, slot
from weft.tree.plot import Plot, Stage
from weft.tree.recordings import Recordings, replay_call
from weft.tree.story import Eval, Node
from weft.worker.ending import Ending

OUTCOMES = ("pass", "weak", "regress", "incomplete", "missing-score")


def stage_call(
    stage: str,
    item: Eval,
    plot: Plot,
    inputs: Mapping[str, Object],
    recordings: Recordings,
) -> TaskCall:
    """Describe one stage of an eval."""
    if plot.dry_run:
        return _dry(stage, item, plot)
    more: dict[str, Any] = {
        "idea_kind": item.idea.kind,
        "idea_digest": item.idea.digest,
        "idea": item.idea.bytes_in(inputs),
        "feedback": item.feedback,
        "parent_result": item.parent.result,
        "root_result": item.parent.path()[0].result,
        "sweep": item.sweep,
        "message": message_of(item),
    }
    if stage == "implement":
        more |= memory.asked(plot, [*item.parent.turns, *item.turns], stage)
    asked = _asked(stage, item)
    if plot.is_recorded(stage):
        keys = _keys(stage, item)
        outcome = recordings.find(asked | keys)
        if "error" in outcome or stage == "review":
            return replay_call(asked | keys, outcome)
        more |= _as_patch(outcome["value"])
    return stage_on(item.parent, plot, inputs, asked, more, item.candidate)


def _keys(stage: str, item: Eval) -> dict[str, Any]:
    """Return what a recording of a stage is found by."""
    tree = item.candidate["tree"] if stage == "review" and item.candidate else item.parent.tree
    return {"tree": tree, "idea_digest": item.idea.digest, "feedback": item.feedback}


def _as_patch(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Let a recorded diff stand for the command that made it."""
    kept = {name: recorded[name] for name in ("cost", "turns") if name in recorded}
    return {"idea_kind": "patch", "idea": recorded["diff"], "recorded": kept}


def root_call(node: Node, number: int, plot: Plot, inputs: Mapping[str, Object]) -> TaskCall:
    """Describe one scoring of the root."""
    asked = {
        "eval_id": None, "parent_node_id": 0, "idea_path": "", "depth": 0, "stage": "score",
        "repeat": number,
    }  # fmt: skip
    if plot.dry_run:
        return synthetic(asked, 1000, "pass", 0)
    return stage_on(node, plot, inputs, asked, {}, None)


def message_of(item: Eval) -> str:
    """Return the message of an eval's commit: no numbers, so that equal steps have equal names."""
    return f"{item.idea.name}\n\nweft-idea: {item.idea.digest}"


def _asked(stage: str, item: Eval) -> dict[str, Any]:
    return {
        "eval_id": item.eval_id,
        "parent_node_id": item.parent.node_id,
        "idea_path": item.idea.name,
        "depth": item.depth,
        "stage": stage,
    }


def stage_on(
    node: Node,
    plot: Plot,
    inputs: Mapping[str, Object],
    asked: Mapping[str, Any],
    more: Mapping[str, Any],
    candidate: Mapping[str, Any] | None,
) -> TaskCall:
    """Describe a stage that works on the files of a node, or on those of a candidate."""
    stage = asked["stage"]
    own, after = plot.stages.get(stage, Stage()), stage != "implement" and candidate is not None
    steps = [*node.steps, candidate["diff"]] if after and candidate else list(node.steps)
    args = {
        **asked,
        **more,
        "root": inputs["root"],
        "root_tree": node.path()[0].tree,
        "diffs": steps,
        "tree": candidate["tree"] if after and candidate else node.tree,
        "parent_commit": node.commit,
    }
    limits = Limits(plot.limit_s(stage), plot.eval_retries, plot.memory_mb, 0, node.name)
    if not own.argv or own.recorded:
        call = mutate(args) if stage == "propose" else apply_idea(args)
        return replace(call, limits=replace(limits, memory_mb=None))
    args |= {"format": own.format, "regex": own.regex, "protected": list(plot.protected)}
    call = command(
        own.argv,
        timeout_s=plot.limit_s(stage),
        args=args,
        prepare=slot.prepare,
        collect=slot.collect,
        on_broken=slot.on_broken,
        env={**slot.environment(args), **own.env},
        env_from=own.env_from,
        cwd="{worktree}",
    )
    return replace(call, limits=limits)


@task
def apply_idea(asked: dict[str, Any]) -> dict[str, Any]:
    """Implement an idea that needs no command."""
    return slot.apply(asked)


@task
def mutate(asked: dict[str, Any], *, seed: int) -> dict[str, Any]:
    """Make ideas for a node without a command."""
    return slot.mutate(asked, seed)


# -- without commands ---------------------------------------------------------------------------


def _dry(stage: str, item: Eval, plot: Plot) -> TaskCall:
    outcome = OUTCOMES[item.eval_id % len(OUTCOMES)]
    asked = _asked(stage, item)
    base = item.parent.node_id if stage == "implement" else int(item.parent.result["score"])
    return synthetic(asked, base, outcome, _sign(plot))


def _sign(plot: Plot) -> int:
    return 1 if plot.direction == "max" else -1


@task
def synthetic(asked: dict[str, Any], base: int, outcome: str, sign: int) -> dict[str, Any]:
    """Return what a stage might have said: always the same for an eval."""
    number = asked["eval_id"] or 0
    if asked["stage"] == "implement":
        name = f"{number:040x}"
        return {"tree": name, "commit": name, "changed": ["dry"], "diff": None, "cost": None}
    if outcome == "missing-score":
        raise Ending(TaskError("score-invalid", "score"))
    moves = {"pass": 2 + number % 7, "weak": 1, "regress": -3, "incomplete": 5}
    ok = 9 if outcome == "incomplete" else 10
    return {
        "score": str(base + sign * moves[outcome]),
        "rows": {"ok": ok, "expected": 10},
        "approved": True,
        "seal": "",
    }

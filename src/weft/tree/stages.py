"""The stages of an eval as tasks: commands, or with --dry-run a synthetic outcome per eval id.

What a task's arguments hold is what the manifest and `--json` show of it: eval_id,
parent_node_id, idea_path, depth and stage. Evals of one parent form a group, so that a cap per
node can hold.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from weft.define import command, task
from weft.model.results import TaskError
from weft.model.tasks import TaskCall
from weft.model.values import Object
from weft.tree import memory, slot
from weft.tree.plot import Plot, Stage
from weft.tree.recordings import Recordings, replay_call
from weft.tree.story import Eval, Node
from weft.worker.ending import Ending

BOOT = (
    "import sys; sys.path.append(sys.argv[1]); from treetools.stage import main;"
    " sys.exit(main(sys.argv[2]))"
)
"""Imports the tools alone: a bare interpreter knows no `weft`, and starts faster."""
ARGV = ("{python}", "-I", "-S", "-c", BOOT, "{tools}", "{spec}")
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
        tree = item.candidate["tree"] if item.candidate else item.parent.tree
        asked |= {"tree": tree if stage == "review" else item.parent.tree}
        outcome = recordings.find(asked | more)
        if "error" in outcome or stage == "review":
            keys = {"idea_digest": item.idea.digest, "feedback": item.feedback}
            return replay_call(asked | keys, outcome)
        more |= _as_patch(outcome["value"])
    return command_call(stage, item.parent, plot, inputs, asked, more, item.candidate)


def _as_patch(recorded: Mapping[str, Any]) -> dict[str, Any]:
    """Let a recorded diff stand for the command that made it."""
    kept = {name: recorded[name] for name in ("cost", "turns") if name in recorded}
    return {"idea_kind": "patch", "idea": recorded["diff"], "command": [], "recorded": kept}


def root_call(node: Node, number: int, plot: Plot, inputs: Mapping[str, Object]) -> TaskCall:
    """Describe one scoring of the root."""
    asked = {
        "eval_id": None, "parent_node_id": 0, "idea_path": "", "depth": 0, "stage": "score",
        "repeat": number,
    }  # fmt: skip
    if plot.dry_run:
        return synthetic(asked, 1000, "pass", 0)
    return command_call("score", node, plot, inputs, asked, {}, None)


def message_of(item: Eval) -> str:
    """Return the message of the commit that an eval makes."""
    return f"{item.idea.name}\n\nweft-eval: {item.name}\nweft-parent: {item.parent.name}"


def _asked(stage: str, item: Eval) -> dict[str, Any]:
    return {
        "eval_id": item.eval_id,
        "parent_node_id": item.parent.node_id,
        "idea_path": item.idea.name,
        "depth": item.depth,
        "stage": stage,
    }


def command_call(
    stage: str,
    node: Node,
    plot: Plot,
    inputs: Mapping[str, Object],
    asked: Mapping[str, Any],
    more: Mapping[str, Any],
    candidate: Mapping[str, Any] | None,
) -> TaskCall:
    """Describe a stage that works on the files of a node, or on those of a candidate."""
    own, after = plot.stages.get(stage, Stage()), stage != "implement" and candidate is not None
    steps = [*node.steps, candidate["diff"]] if after and candidate else list(node.steps)
    args = {
        **asked,
        "command": list(own.argv),
        "env": dict(own.env),
        "format": own.format,
        "regex": own.regex,
        "root": inputs["root"],
        "diffs": steps,
        "tree": candidate["tree"] if after and candidate else node.tree,
        "parent_commit": node.commit,
        "protected": list(plot.protected),
        "timeout_s": plot.limit_s(stage),
        **more,
    }
    return command(
        ARGV,
        timeout_s=plot.limit_s(stage),
        args=args,
        prepare=slot.prepare,
        collect=slot.collect,
        env_from=() if own.recorded else own.env_from,
        retries=plot.eval_retries,
        memory_mb=plot.memory_mb,
        group=node.name,
    )


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

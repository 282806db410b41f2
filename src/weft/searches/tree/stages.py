"""The stages of an eval as tasks: commands, or synthetic outcomes with --dry-run.

The manifest and `--json` show a task's arguments: eval_id, parent_node_id, idea_path, depth and
stage. Evals of one parent form a group, to which the cap per node applies.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from weft import command, reference, task
from weft.model.codec import Table, from_json
from weft.model.results import TaskError
from weft.model.sandbox import Sandbox
from weft.model.tasks import Limits, TaskCall
from weft.model.values import Object, Value
from weft.searches.tree import memory
from weft.searches.tree.config import Stage, TreeConfig
from weft.searches.tree.history import Eval, TreeNode
from weft.searches.tree.memory import memory_args
from weft.searches.tree.recordings import RecordingKey, Recordings, find_recording, replay_call
from weft.searches.tree.result import tool_environment
from weft.searches.tree.results import Candidate, read_stage
from weft.searches.tree.runfiles import run_files, with_copies
from weft.searches.tree.stageargs import (
    CommandArgs,
    IdeaArgs,
    SourceState,
    StageArgs,
    StageId,
    flat,
)
from weft.worker.ending import Ending

PREPARE = reference("tree.prepare", "weft.searches.tree.slot.hooks:prepare")
COLLECT = reference("tree.collect", "weft.searches.tree.slot.hooks:collect")
ON_BROKEN = reference("tree.on_broken", "weft.searches.tree.slot.hooks:on_broken")
APPLY_IDEA = reference("tree.apply_idea", "weft.searches.tree.slot.hooks:apply")
MUTATE = reference("tree.mutate", "weft.searches.tree.slot.hooks:mutate")
JUDGED_ONCE = ("review", "approve")
"""Stages that decide about a candidate: their recordings are reused unchanged."""
OUTCOMES = ("pass", "weak", "regress", "incomplete", "missing-score")


def stage_call(
    stage: str,
    item: Eval,
    config: TreeConfig,
    inputs: Mapping[str, Object],
    recordings: Recordings,
    *,
    repeat: int | None = None,
) -> TaskCall:
    """Return the call of one stage of an eval; `repeat` numbers repeated scorings."""
    if config.dry_run:
        return _dry(stage, item, config)
    idea, memory = _idea_args(item, inputs), None
    if stage == "implement":
        idea = replace(idea, merge=config.merge == "three-way" or None)
        memory = memory_args(config, [*item.parent.turns, *item.turns], stage)
    if config.is_recorded(stage):
        key = _recording_key(stage, item)
        outcome = find_recording(recordings, key)
        value = outcome.value if isinstance(outcome.value, dict) else {}
        if outcome.error is not None or stage in JUDGED_ONCE or "failed" in value:
            return replay_call(_stage_id(stage, item), key, outcome)
        idea = _as_patch(idea, value)
    state = source_state(item.parent, inputs, None if stage == "implement" else item.candidate)
    args = StageArgs(replace(_stage_id(stage, item), repeat=repeat), state, idea, memory=memory)
    return call_of(args, item.parent, config)


def _idea_args(item: Eval, inputs: Mapping[str, Object]) -> IdeaArgs:
    return IdeaArgs(
        item.idea.kind, item.idea.digest, item.idea.bytes_in(inputs), item.feedback,
        message_of(item), item.parent.result_dict(), item.parent.path()[0].result_dict(),
        None if item.sweep is None else item.sweep.recorded,
    )  # fmt: skip


def _recording_key(stage: str, item: Eval) -> RecordingKey:
    judged = item.candidate if stage in JUDGED_ONCE else None
    tree = judged.tree if judged else item.parent.tree
    return RecordingKey(stage, tree, item.depth, item.idea.digest, item.feedback)


def _as_patch(idea: IdeaArgs, recorded: Table) -> IdeaArgs:
    """Return an idea whose recorded diff replaces the command that made it."""
    rest = {name: recorded[name] for name in ("cost", "turns") if name in recorded}
    diff = read_stage(Candidate, recorded).diff
    return replace(idea, idea_kind="patch", idea=diff, recorded=rest)


def root_call(
    node: TreeNode, number: int, config: TreeConfig, inputs: Mapping[str, Object]
) -> TaskCall:
    """Return the call of one scoring of a root."""
    stage = StageId("score", None, node.node_id, "", 0, repeat=number)
    if config.dry_run:
        return synthetic(flat(stage), 1000, "pass", 0)
    return call_of(StageArgs(stage, source_state(node, inputs)), node, config)


def message_of(item: Eval) -> str:
    """Return an eval's commit message, without numbers: equal steps have equal commit ids."""
    return f"{item.idea.name}\n\nweft-idea: {item.idea.digest}"


def _stage_id(stage: str, item: Eval) -> StageId:
    return StageId(stage, item.eval_id, item.parent.node_id, item.idea.name, item.depth)


def source_state(
    node: TreeNode, inputs: Mapping[str, Object], candidate: Candidate | None = None
) -> SourceState:
    """Return the state of a node, or of a candidate made from it."""
    steps = node.steps if candidate is None else (*node.steps, candidate.diff)
    tree = node.tree if candidate is None else candidate.tree
    files = run_files(inputs)
    return SourceState(inputs["root"], node.path()[0].tree, steps, tree, node.commit, files)


def call_of(args: StageArgs, node: TreeNode, config: TreeConfig) -> TaskCall:
    """Return the call of a stage: its command, or without one, Weft's built-in task."""
    stage = args.id.stage
    own = config.stages.get(stage, Stage())
    limits = Limits(config.limit_s(stage), config.eval_retries, config.memory_mb, 0, node.name)
    if not own.argv or own.recorded:
        table = replace(args, state=replace(args.state, harness=None)).to_dict()
        call = (MUTATE if stage == "propose" else APPLY_IDEA)(asked=table)
        return replace(call, limits=replace(limits, memory_mb=None))
    args = replace(args, command=CommandArgs(own.format, own.regex, config.protected))
    call = command(
        [with_copies(word, args.state.harness or ()) for word in own.argv],
        timeout_s=config.limit_s(stage),
        args=args.to_dict(),
        prepare=PREPARE,
        collect=COLLECT,
        on_broken=ON_BROKEN,
        env={**environment(args, has_channel=own.has_channel), **own.env},
        env_from=own.env_from,
        cwd="{worktree}",
        sandbox=_sandbox(own, stage),
    )
    return replace(call, limits=limits)


def _sandbox(own: Stage, stage: str) -> Sandbox | None:
    """Return the sandbox of a stage's command; None if it is off."""
    if own.sandbox == "off":
        return None
    ideas = ("{ideas_dir}",) if stage == "propose" else ()
    writable = ("{worktree}", *ideas, *own.writable)
    return Sandbox(own.sandbox, own.network, writable, own.readable)


# -- without commands ---------------------------------------------------------------------------


def _dry(stage: str, item: Eval, config: TreeConfig) -> TaskCall:
    outcome = OUTCOMES[item.eval_id % len(OUTCOMES)]
    sign = 1 if config.direction == "max" else -1
    base = item.parent.node_id if stage == "implement" else int(item.parent.score_text)
    return synthetic(flat(_stage_id(stage, item)), base, outcome, sign)


@task(name="tree.synthetic")
def synthetic(asked: dict[str, Value], base: int, outcome: str, sign: int) -> dict[str, Value]:
    """Return a synthetic result of a stage, always the same for an eval."""
    stage = from_json(StageId, asked)
    number = stage.eval_id or 0
    if stage.stage == "implement":
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


# -- environment variables of commands --------------------------------------------------------


NAMES = (
    "eval_id", "node_id", "depth", "stage", "idea_file", "result_file", "parent_result",
    "root_result", "sweep_result", "feedback_file", "worktree",
)  # fmt: skip
"""Variables of every stage, in addition to those of every command of the engine."""
COPIES = ("harness", "harness_dir")
"""Variables of a run with files beside its config."""
PROPOSAL_FILES = {
    "ideas_dir": "ideas", "context_file": "context.json", "context_text": "context.md",
}  # fmt: skip
"""Variables of propose commands only, with their paths in the attempt's folder."""


def environment(args: StageArgs, *, has_channel: bool) -> dict[str, str]:
    """Return the variables of a stage, as templates; a channel replaces the result file."""
    known = [name for name in NAMES if name != "result_file" or not has_channel]
    copies = COPIES if args.state.harness else ()
    own = PROPOSAL_FILES if args.id.stage == "propose" else ()
    diff = ("diff_file",) if args.id.stage == "review" else ()
    names = (*known, *copies, *own, *diff)
    form = args.command.format if args.command else ""
    variables = {f"WEFT_{name.upper()}": f"{{{name}}}" for name in names}
    return {**variables, **memory.environment(args.memory), **tool_environment(form)}

"""The variables that a stage's command has, as templates that are expanded on the slot."""

from __future__ import annotations

from weft.searches.tree import memory
from weft.searches.tree.result import tool_environment
from weft.searches.tree.stageargs import StageArgs

NAMES = (
    "eval_id", "node_id", "depth", "stage", "idea_file", "result_file", "parent_result",
    "root_result", "sweep_result", "feedback_file", "worktree",
)  # fmt: skip
"""Of every stage, beside those of every command of the engine."""
PROPOSAL_FILES = {
    "ideas_dir": "ideas", "context_file": "context.json", "context_text": "context.md",
}  # fmt: skip
"""What only a proposing command has, and the file of each in the attempt's folder."""


def environment(args: StageArgs) -> dict[str, str]:
    """Return the variables of a stage, as templates."""
    names = (*NAMES, *(PROPOSAL_FILES if args.id.stage == "propose" else ()))
    form = args.command.format if args.command else ""
    variables = {f"WEFT_{name.upper()}": f"{{{name}}}" for name in names}
    return {**variables, **memory.environment(args.memory), **tool_environment(form)}

"""What happens on the slot around a stage: its files are laid out, its result is read strictly.

Everything lies in the attempt's own folder, which is removed whatever happens. A score is kept
as decimal text exactly as it was written; NaN, infinity, a boolean or no score are refused.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from weft.model.results import TaskError
from weft.tree import foreign, memory, proposal
from weft.tree.result import Invalid, read_result
from weft.treetools import stage as tool
from weft.worker.command import CommandRun, expand
from weft.worker.context import get, note, put, put_file
from weft.worker.ending import Ending

# -- before -------------------------------------------------------------------------------------


def prepare(run: CommandRun) -> dict[str, str]:
    """Write the recorded state, the idea and the settings of a stage into the attempt's folder."""
    args, folder = run.args, run.out_dir.parent
    note(slot=run.slot, eval_id=args["eval_id"], stage=args["stage"])
    names = run.names() | _files(run, folder)
    more = memory.lay_out(args, folder, get) | proposal.lay_out(args, folder)
    names |= more
    spec = {
        "stage": args["stage"],
        "root": str(folder / "root"),
        "diffs": [str(folder / f"{number}.diff") for number in range(len(args["diffs"]))],
        "tree": args["tree"],
        "worktree": names["worktree"],
        "parent_commit": args["parent_commit"],
        "message": args.get("message", ""),
        "idea_kind": args.get("idea_kind"),
        "idea_file": names["idea_file"],
        "protected": args["protected"],
        "candidate": str(folder / "candidate.json"),
        "argv": [expand(word, names) for word in args["command"]],
        "env": _environment(args, names, more),
        "timeout_s": args["timeout_s"],
        "ideas_dir": names.get("ideas_dir"),
        "mutations": args.get("mutations"),
        "seed": run.seed,
    }
    (folder / "spec.json").write_text(json.dumps(spec), "utf-8")
    return {"tools": str(Path(tool.__file__).parents[1]), "spec": str(folder / "spec.json")}


def _files(run: CommandRun, folder: Path) -> dict[str, str]:
    """Lay out what the tool and the command read; return the names templates may use."""
    args = run.args
    (folder / "root").write_bytes(get(args["root"]))
    for number, diff in enumerate(args["diffs"]):
        (folder / f"{number}.diff").write_bytes(get(diff))
    idea = folder / "idea" / Path(args["idea_path"] or "none").name[:100]
    idea.parent.mkdir()
    idea.write_bytes(get(args["idea"]) if "idea" in args else b"")
    told = {
        "parent_result": json.dumps(args.get("parent_result")),
        "root_result": json.dumps(args.get("root_result")),
        "sweep_result": json.dumps(args.get("sweep")),
        "feedback_file": args.get("feedback", ""),
    }
    for name, text in told.items():
        (folder / name).write_text(text, "utf-8")
    return {
        "idea_file": str(idea),
        "worktree": str(folder / "worktree"),
        "result_file": str(run.out_dir / "result.json"),
        "openevolve": str(Path(tool.__file__).with_name("openevolve.py")),
        "eval_id": "root" if args["eval_id"] is None else f"e{args['eval_id']}",
        **{name: str(folder / name) for name in told},
    }


def _environment(
    args: Mapping[str, Any], names: Mapping[str, str], more: Mapping[str, str]
) -> dict[str, str]:
    own = {
        "WEFT_EVAL_ID": names["eval_id"],
        "WEFT_NODE_ID": f"n{args['parent_node_id']}",
        "WEFT_DEPTH": str(args["depth"]),
        "WEFT_STAGE": args["stage"],
        "WEFT_IDEA_FILE": names["idea_file"],
        "WEFT_RESULT_FILE": names["result_file"],
        "WEFT_PARENT_RESULT": names["parent_result"],
        "WEFT_ROOT_RESULT": names["root_result"],
        "WEFT_SWEEP_RESULT": names["sweep_result"],
        "WEFT_FEEDBACK_FILE": names["feedback_file"],
    }
    own |= foreign.environment(args.get("format", "weft"), names)
    own |= {f"WEFT_{name.upper()}": value for name, value in more.items()}
    return own | {name: expand(value, names) for name, value in args["env"].items()}


# -- after --------------------------------------------------------------------------------------


def collect(run: CommandRun) -> dict[str, Any]:
    """Read what the stage left behind; the value is all that is decided from."""
    stage, folder = run.args["stage"], run.out_dir.parent
    told = json.loads((folder / "candidate.json").read_text("utf-8"))
    if "refused" in told:
        raise Ending(TaskError(told["refused"], stage), detail=told["why"])
    try:
        form, regex = run.args.get("format", "weft"), run.args.get("regex", "")
        result = read_result(run.out_dir, run.stdout, form, regex)
        if stage == "propose":
            return proposal.collected(run, folder, result.get("cost"))
        if stage == "implement":
            diff = put_file(folder / "candidate.diff")
            return {**told, "diff": diff, "cost": result.get("cost")} | _said(run, folder)
        if stage == "score" and "score" not in result:
            raise Invalid("no score: write it to the result file, or as the last line of stdout")
        return {**result, "seal": told["seal"]}
    except Invalid as error:
        kind = "score-invalid" if stage == "score" else "result-invalid"
        raise Ending(TaskError(kind, stage), detail=f"{error}\n\n{run.tail()}") from None


def _said(run: CommandRun, folder: Path) -> dict[str, Any]:
    """Return what a conversation leaves behind, live or as recorded."""
    if "recorded" in run.args:
        return dict(run.args["recorded"])
    asked = get(run.args["idea"]).decode("utf-8", "replace") + run.args["feedback"]
    return memory.collected(run.args, folder, run.stdout, asked, put)

"""What happens on the slot around a stage: its files are laid out, its result is read strictly.

    recorded state ─► worktree ─► the stage's command, or the idea applied ─► candidate or result

Everything lies in the attempt's own folder, which is removed whatever happens. A score is kept
as decimal text exactly as it was written; NaN, infinity, a boolean or no score are refused.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from weft.model.results import TaskError
from weft.tree import foreign, memory, proposal
from weft.tree.failures import BY_STAGE
from weft.tree.result import Invalid, read_result
from weft.treetools import evaluate
from weft.treetools.git import Git, GitFailed
from weft.treetools.stage import apply_idea, apply_patch, seal_of
from weft.treetools.store import State, Unchanged, open_state, take_candidate
from weft.treetools.values import Conflict
from weft.worker import context
from weft.worker.command import BROKEN, CommandRun, Template
from weft.worker.context import get, note, put
from weft.worker.ending import Ending

ENVIRONMENT = {
    f"WEFT_{name.upper()}": f"{{{name}}}"
    for name in (
        "eval_id", "node_id", "depth", "stage", "idea_file", "result_file", "parent_result",
        "root_result", "sweep_result", "feedback_file", "worktree",
    )
}  # fmt: skip
"""What a stage's command is told beside what every command of the engine is."""


def environment(args: Mapping[str, Any]) -> dict[str, str]:
    """Return the variables of a stage, as templates."""
    more = {**proposal.environment(args), **memory.environment(args)}
    return {**ENVIRONMENT, **more, **foreign.environment(args["format"])}


# -- before -------------------------------------------------------------------------------------


def prepare(run: CommandRun) -> dict[str, str]:
    """Lay out the recorded state and the idea in the attempt's folder."""
    args, folder = run.args, run.out_dir.parent
    note(slot=run.slot, eval_id=args["eval_id"], stage=args["stage"])
    with _git_named():
        _open(args, args["tree"], args["diffs"], folder, files=True)
    if args["stage"] not in ("propose", "implement"):
        context.current().notes["seal"] = seal_of(folder / "worktree", args["protected"])
    return _lay_out(run, folder)


def _open(
    args: Mapping[str, Any], tree: str, diffs: list[Any], folder: Path, *, files: bool
) -> Git:
    state = State(tree, lambda: get(args["root"]), lambda: [get(diff) for diff in diffs])
    return open_state(_repository(), state, folder, files=files)


def _repository() -> Path:
    return context.current().attempts.parent / "repo.git"


def _lay_out(run: CommandRun, folder: Path) -> dict[str, str]:
    """Write what the command may read; return the names that templates may use."""
    args = run.args
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
    more = proposal.lay_out(args, folder, run.seed) | memory.lay_out(args, folder, get)
    return {
        "idea_file": str(idea),
        "worktree": str(folder / "worktree"),
        "result_file": str(run.out_dir / "result.json"),
        "eval_id": "root" if args["eval_id"] is None else f"e{args['eval_id']}",
        "node_id": f"n{args['parent_node_id']}",
        "depth": str(args["depth"]),
        "stage": args["stage"],
        "openevolve": evaluate.__file__,
        **more,
        **{name: str(folder / name) for name in told},
    }


@contextlib.contextmanager
def _git_named() -> Iterator[None]:
    """Git that cannot make a recorded state is the machine's trouble, not the candidate's."""
    try:
        yield
    except GitFailed as error:
        raise Ending(None, lost="git-failed", detail=str(error)) from None


# -- a command that cannot be run ---------------------------------------------------------------


def on_broken(run: CommandRun, template: Template, code: int) -> None:
    """Find out whether the candidate broke the command: if the root has it broken too, stop all."""
    if run.args["diffs"]:
        code = _on_root(run, template)
    if code in BROKEN:
        said = (run.tail().splitlines() or ["it printed nothing"])[-1][:300]
        stage = run.args["stage"]
        why = f"[{stage}] ends with exit code {code} on the root, it cannot be run: {said}"
        raise Ending(None, lost=why, detail=run.tail(), interrupts=True)


def _on_root(run: CommandRun, template: Template) -> int:
    """Carry the command out on the root's files; return its exit code."""
    folder = run.out_dir.parent / "root"
    there = replace(
        run,
        out_dir=folder / "out",
        tmp_dir=folder / "tmp",
        stdout=folder / "stdout",
        stderr=folder / "stderr",
    )
    for path in (there.out_dir, there.tmp_dir):
        path.mkdir(parents=True)
    with _git_named():
        _open(run.args, run.args["root_tree"], [], folder, files=True)
    return int(template.carry_out(there, _lay_out(there, folder))["status"])


# -- after --------------------------------------------------------------------------------------


def collect(run: CommandRun) -> dict[str, Any]:
    """Read what the stage left behind; the value is all that is decided from."""
    stage = run.args["stage"]
    try:
        form, regex = run.args.get("format", "weft"), run.args.get("regex", "")
        result = read_result(run.out_dir, run.stdout, form, regex)
        if stage == "propose":
            return proposal.collected(run.args, run.out_dir.parent, run.stdout, result.get("cost"))
        if stage == "implement":
            return _implemented(run) | {"cost": result.get("cost")} | _said(run)
        if stage == "score" and "score" not in result:
            raise Invalid("no score: write it to the result file, or as the last line of stdout")
    except Invalid as error:
        raise Ending(TaskError(BY_STAGE[stage], stage), detail=f"{error}\n\n{run.tail()}") from None
    return {**result, "seal": _unbroken_seal(run)}


def _implemented(run: CommandRun) -> dict[str, Any]:
    """Take in what a command made of the worktree."""
    folder, stage = run.out_dir.parent, run.args["stage"]
    index = {"GIT_INDEX_FILE": str(folder / "index")}
    own = folder / "repo.git"
    git = Git(own if own.is_dir() else _repository(), folder / "worktree", index)
    try:
        git.run("add", "-A", ".")
    except GitFailed as error:
        raise Ending(TaskError("implement-failed", stage), detail=str(error)) from None
    with _git_named():
        return _candidate(git, run.args)


def _said(run: CommandRun) -> dict[str, Any]:
    asked = get(run.args["idea"]).decode("utf-8", "replace") + run.args["feedback"]
    return memory.collected(run.args, run.out_dir.parent, run.stdout, asked, put)


def _candidate(git: Git, args: Mapping[str, Any]) -> dict[str, Any]:
    try:
        made = take_candidate(git, args["tree"], args["parent_commit"], args["message"])
    except Unchanged as error:
        raise Ending(TaskError("no-change", "implement"), detail=str(error)) from None
    diff = put(made.diff)
    return {"tree": made.tree, "commit": made.commit, "changed": made.changed, "diff": diff}


def _unbroken_seal(run: CommandRun) -> str:
    """Return the seal of the protected files; refuses when the command changed one."""
    before = str(context.current().notes.pop("seal"))
    if seal_of(run.out_dir.parent / "worktree", run.args["protected"]) != before:
        why = "a protected file changed while the command ran"
        raise Ending(TaskError("tampered", run.args["stage"]), detail=why)
    return before


# -- without a command --------------------------------------------------------------------------


def apply(args: Mapping[str, Any]) -> dict[str, Any]:
    """Apply an idea that is itself a change of files: a patch, blocks, a parameter."""
    with _place(args) as folder:
        return _applied(args, folder) | {"cost": None} | dict(args.get("recorded", {}))


def mutate(args: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """Make ideas for a node by moving values of its files."""
    with _place(args) as folder:
        with _git_named():
            _open(args, args["tree"], args["diffs"], folder, files=True)
        proposal.lay_out(args, folder, seed)
        return proposal.collected(args, folder, folder / "none", None)


@contextlib.contextmanager
def _place(args: Mapping[str, Any]) -> Iterator[Path]:
    """Give a stage without a command a folder of its own; what does not fit is a conflict."""
    around = context.current()
    note(slot=around.slot, eval_id=args["eval_id"], stage=args["stage"])
    folder = around.attempts / f"{around.assignment.key[:16]}-{around.assignment.attempt}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    except Conflict as error:
        raise Ending(TaskError("apply-conflict", args["stage"]), detail=str(error)) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _applied(args: Mapping[str, Any], folder: Path) -> dict[str, Any]:
    kind, idea = args["idea_kind"], get(args["idea"])
    with _git_named():
        git = _open(args, args["tree"], args["diffs"], folder, files=kind != "patch")
    if kind == "patch":
        apply_patch(git, idea)
    else:
        _change_files(git, kind, idea, folder / "worktree")
    with _git_named():
        return _candidate(git, args)


def _change_files(git: Git, kind: str, idea: bytes, work: Path) -> None:
    try:
        apply_idea(kind, idea, work)
        git.run("add", "-A", ".")
    except (OSError, ValueError, GitFailed) as error:  # a folder in the way, bytes that are no text
        raise Conflict(str(error)) from None

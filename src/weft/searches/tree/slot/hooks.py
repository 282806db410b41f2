"""The hooks around a stage on the slot: write its files before, parse its result strictly after.

    recorded state ─► worktree ─► the stage's command, or the idea applied ─► candidate or result

Everything is in the attempt's own folder, which is always removed. A score is kept as exact decimal
text; NaN, infinity, a boolean or a missing score are refused.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from weft import SEED, get, hook, note, put, task
from weft.model.results import TaskError
from weft.model.values import Value
from weft.searches.tree import memory, proposal
from weft.searches.tree.config import APPROVE, JUDGING
from weft.searches.tree.decisions import approval_names, decision_file, read_decision
from weft.searches.tree.result import Invalid, Tampered, read_result, read_sent
from weft.searches.tree.results import BY_STAGE
from weft.searches.tree.slot import checkouts, copies
from weft.searches.tree.slot.edits import apply_idea
from weft.searches.tree.slot.git import Git, GitFailed, State, Unchanged, open_state, take_candidate
from weft.searches.tree.slot.stage import seal_of
from weft.searches.tree.slot.values import Conflict
from weft.searches.tree.stageargs import SourceState, StageArgs
from weft.worker import context
from weft.worker.command import BROKEN, CommandRun, Template
from weft.worker.ending import Ending

OPENEVOLVE = Path(__file__).with_name("evaluate.py")
"""A separate program that is not imported, since its imports would slow down every worker."""
MAX_REASON_CHARS = 500
NO_SCORE = (
    'no score: print {"score": 1.5} as the last line of stdout, or write it to $WEFT_RESULT_FILE,'
    " or give [score] a regex"
)

# -- before -------------------------------------------------------------------------------------


@hook(name="tree.prepare", literal=True)
def prepare(run: CommandRun) -> dict[str, str]:
    """Write the recorded state and the idea to the attempt's folder."""
    args, folder = StageArgs.from_dict(run.args), run.out_dir.parent
    note(slot=run.slot, eval_id=args.id.eval_id, stage=args.id.stage)
    if args.id.stage == APPROVE:
        (folder / "worktree").mkdir()
        return approval_names(folder, _decision_file())
    with _git_losses():
        if args.id.stage in ("propose", "implement") or not _reused(args, folder):
            _open(args.state, folder, files=True)
    if args.id.stage not in ("propose", "implement"):
        context.current().notes["seal"] = seal_of(folder / "worktree", _protected(args))
    return _lay_out(run, args, folder)


def _protected(args: StageArgs) -> tuple[str, ...]:
    assert args.command is not None
    return args.command.protected


def _reused(args: StageArgs, folder: Path) -> bool:
    """Reuse the worktree left by the previous stage; return whether there was one."""
    around, state, own = context.current(), args.state, args.id
    git = Git(_repository(), folder / "worktree", {"GIT_INDEX_FILE": str(folder / "index")})
    return checkouts.reuse(git, around.place.attempts, own.depth, own.eval_id, state.tree)


def _open(state: SourceState, folder: Path, *, files: bool) -> Git:
    around, diffs = context.current(), [diff for diff in state.diffs if diff is not None]
    recorded = State(
        state.tree,
        state.root_tree,
        lambda: around.pieces(state.root),
        lambda: [get(diff) for diff in diffs],
        around.extend,
    )
    return open_state(_repository(), recorded, folder, files=files)


def _repository() -> Path:
    return _run_folder() / "repo.git"


def _run_folder() -> Path:
    return context.current().place.attempts.parent


def _lay_out(run: CommandRun, args: StageArgs, folder: Path) -> dict[str, str]:
    """Write the files that the command may read; return the values of template names."""
    idea = folder / "idea" / Path(args.id.idea_path or "none").name[:100]
    idea.parent.mkdir()
    idea.write_bytes(get(args.idea.idea) if args.idea and args.idea.idea else b"")
    files = _result_files(args)
    for name, text in files.items():
        (folder / name).write_text(text, "utf-8")
    more = proposal.lay_out(args.propose, folder, run.seed)
    more |= memory.lay_out(args.memory, folder, get)
    more |= copies.lay_out(args.state.harness, folder, get)
    return {
        "idea_file": str(idea),
        "worktree": str(folder / "worktree"),
        "result_file": str(run.out_dir / "result.json"),
        "eval_id": "root" if args.id.eval_id is None else f"e{args.id.eval_id}",
        "node_id": f"n{args.id.parent_node_id}",
        "depth": str(args.id.depth),
        "stage": args.id.stage,
        "openevolve": str(OPENEVOLVE),
        **more,
        **{name: str(folder / name) for name in files},
    }


def _result_files(args: StageArgs) -> dict[str, str]:
    """Return the contents of the files about earlier stages, by file name."""
    known = args.idea or args.propose
    files = {"diff_file": _last_diff(args)} if args.id.stage == "review" else {}
    return files | {
        "parent_result": json.dumps(known.parent_result if known else None),
        "root_result": json.dumps(known.root_result if known else None),
        "sweep_result": json.dumps(args.idea.sweep if args.idea else None),
        "feedback_file": args.idea.feedback if args.idea else "",
    }


def _last_diff(args: StageArgs) -> str:
    """Return the idea's diff."""
    diff = args.state.diffs[-1] if args.state.diffs else None
    return "" if diff is None else get(diff).decode("utf-8", "replace")


@contextlib.contextmanager
def _git_losses() -> Iterator[None]:
    """Report a failure of git as a loss: it is the machine's fault, not the candidate's."""
    try:
        yield
    except GitFailed as error:
        raise Ending(None, lost="git-failed", detail=str(error)) from None


# -- broken commands ----------------------------------------------------------------------------


@hook(name="tree.on_broken")
def on_broken(run: CommandRun, template: Template, code: int) -> None:
    """Check whether the candidate broke the command; if it fails on the root too, stop the run."""
    args = StageArgs.from_dict(run.args)
    if args.state.diffs:
        code = _exit_code_on_root(run, args, template)
    if code in BROKEN:
        line = (run.tail().splitlines() or ["it printed nothing"])[-1][:300]
        why = f"[{args.id.stage}] exits with code {code} on the root, it cannot be run: {line}"
        raise Ending(None, lost=why, detail=run.tail(), cause="command")


def _exit_code_on_root(run: CommandRun, args: StageArgs, template: Template) -> int:
    """Run the command on the root's files; return its exit code."""
    folder = run.out_dir.parent / "root"
    root_run = replace(
        run,
        out_dir=folder / "out",
        tmp_dir=folder / "tmp",
        stdout=folder / "stdout",
        stderr=folder / "stderr",
    )
    for path in (root_run.out_dir, root_run.tmp_dir):
        path.mkdir(parents=True)
    with _git_losses():
        _open(replace(args.state, tree=args.state.root_tree, diffs=()), folder, files=True)
    return int(template.execute(root_run, _lay_out(root_run, args, folder))["status"])


# -- after --------------------------------------------------------------------------------------


@hook(name="tree.collect")
def collect(run: CommandRun) -> dict[str, Value]:
    """Parse the output of the stage into its value, the only basis of decisions."""
    args = StageArgs.from_dict(run.args)
    stage, folder = args.id.stage, run.out_dir.parent
    if stage == APPROVE:
        return _decided()
    try:
        result = _result(run, args)
        if "failed" in result:
            return _failed(result, stage)
        if stage == "propose":
            return proposal.collect_ideas(args, folder, run.stdout, result.get("cost"))
        if stage == "implement":
            value = {**_implemented(run, args), "cost": result.get("cost")}
            _keep(args, folder, str(value["tree"]))
            return {**value, **_turns(run, args)}
        if stage == "score" and "score" not in result:
            raise Invalid(NO_SCORE if run.channel is None else "no score was sent")
    except Tampered as error:
        raise Ending(TaskError("tampered", stage), detail=f"{error}\n\n{run.tail()}") from None
    except Invalid as error:
        raise Ending(TaskError(BY_STAGE[stage], stage), detail=f"{error}\n\n{run.tail()}") from None
    seal = _unbroken_seal(run, args)
    if stage != "score":
        _keep(args, folder, args.state.tree)
    return {**result, "seal": seal}


def _keep(args: StageArgs, folder: Path, tree: str) -> None:
    """Leave the worktree for the next stage of this eval."""
    checkouts.keep(folder, context.current().place.attempts, args.id.depth, args.id.eval_id, tree)


def _failed(result: dict[str, Value], stage: str) -> dict[str, Value]:
    """Return a failure reported by a command, with its cost; raises Invalid for judging stages."""
    reason = str(result["failed"])[:MAX_REASON_CHARS]
    if stage in JUDGING:
        raise Invalid(f"failed: {reason}")
    return {"failed": reason, "cost": result.get("cost")}


def _decision_file() -> Path:
    return decision_file(_run_folder(), context.current().assignment.key)


def _decided() -> dict[str, Value]:
    """Return a person's decision; note the person and the time in the manifest."""
    decision = read_decision(_decision_file())
    if decision is None:
        raise Ending(None, lost="decision-removed", detail="the decision is not there any more")
    note(approved_by=decision.by, approved_at=decision.at)
    return {"approved": decision.approved, "feedback": decision.note}


def _result(run: CommandRun, args: StageArgs) -> dict[str, Value]:
    """Read the result of a command from its channel, or else from files and stdout."""
    _check_secrets(run)
    form, regex = (args.command.format, args.command.regex) if args.command else ("weft", "")
    if name := copies.changed(args.state.harness, run.out_dir.parent):
        raise Tampered(f"{name}, a copy of a file beside the config, changed while it was used")
    if run.channel is None:
        return read_result(run.out_dir, run.stdout, form, regex)
    if run.channel["refused"]:
        raise Tampered(run.channel["refused"])
    return read_sent(run.channel["result"], run.out_dir, form)


def _check_secrets(run: CommandRun) -> None:
    """Refuse outputs that contain a secret, except the transcript, which is redacted."""
    around = context.current()
    if around.secrets:
        results = (p for p in sorted(run.out_dir.rglob("*")) if p.is_file() or p.is_symlink())
        for path in results:
            if path != run.out_dir.parent / memory.TURNS:
                around.check_free_of_secrets(around.secrets.found_in_file(path))


def _implemented(run: CommandRun, args: StageArgs) -> dict[str, Value]:
    """Commit the worktree as a command left it."""
    folder = run.out_dir.parent
    index = {"GIT_INDEX_FILE": str(folder / "index")}
    own = folder / "repo.git"
    git = Git(own if own.is_dir() else _repository(), folder / "worktree", index)
    around = context.current()
    around.check_free_of_secrets(around.secrets.found_below(folder / "worktree"))
    try:
        git.run("add", "-A", ".")
    except GitFailed as error:
        raise Ending(TaskError("implement-failed", args.id.stage), detail=str(error)) from None
    with _git_losses():
        return _candidate(git, args)


def _turns(run: CommandRun, args: StageArgs) -> dict[str, Value]:
    assert args.idea is not None
    assert args.idea.idea is not None
    prompt = get(args.idea.idea).decode("utf-8", "replace") + args.idea.feedback
    return memory.collect_turns(
        args.memory, run.out_dir.parent, run.stdout, prompt, memory.put_text
    )


def _candidate(git: Git, args: StageArgs) -> dict[str, Value]:
    assert args.idea is not None
    state = args.state
    try:
        commit = take_candidate(git, state.tree, state.parent_commit, args.idea.message)
    except Unchanged as error:
        raise Ending(TaskError("no-change", "implement"), detail=str(error)) from None
    diff, changed = put(commit.diff), list[Value](commit.changed)
    return {"tree": commit.tree, "commit": commit.commit, "changed": changed, "diff": diff}


def _unbroken_seal(run: CommandRun, args: StageArgs) -> str:
    """Return the seal of the protected files; fails the stage if the command changed one."""
    before = str(context.current().notes.pop("seal"))
    if seal_of(run.out_dir.parent / "worktree", _protected(args)) != before:
        why = "a protected file changed while the command ran"
        raise Ending(TaskError("tampered", args.id.stage), detail=why)
    return before


# -- without a command --------------------------------------------------------------------------


@task(name="tree.apply_idea")
def apply(asked: dict[str, Value]) -> dict[str, Value]:
    """Apply an idea that is itself a change to files: a patch, blocks or a parameter."""
    args = StageArgs.from_dict(asked)
    with _place(args) as folder:
        recorded = args.idea.recorded if args.idea else None
        return {**_applied(args, folder), "cost": None, **(recorded or {})}


@task(name="tree.mutate")
def mutate(asked: dict[str, Value], *, seed: int = SEED) -> dict[str, Value]:
    """Generate ideas for a node by mutating values in its files."""
    args = StageArgs.from_dict(asked)
    with _place(args) as folder:
        with _git_losses():
            _open(args.state, folder, files=True)
        proposal.lay_out(args.propose, folder, seed)
        return proposal.collect_ideas(args, folder, folder / "none", None)


@contextlib.contextmanager
def _place(args: StageArgs) -> Iterator[Path]:
    """Yield a temporary folder for a stage without a command; a Conflict fails the stage."""
    around = context.current()
    note(slot=around.place.slot, eval_id=args.id.eval_id, stage=args.id.stage)
    folder = around.place.attempts / f"{around.assignment.key[:16]}-{around.assignment.attempt}"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    try:
        yield folder
    except Conflict as error:
        raise Ending(TaskError("apply-conflict", args.id.stage), detail=str(error)) from None
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _applied(args: StageArgs, folder: Path) -> dict[str, Value]:
    assert args.idea is not None
    assert args.idea.idea is not None
    kind, idea, state = args.idea.idea_kind, get(args.idea.idea), args.state
    with _git_losses():
        git = _open(state, folder, files=False)
    merged = apply_idea(git, kind, idea, state.root_tree, merge=bool(args.idea.merge))
    with _git_losses():
        return {**_candidate(git, args), **({"merged": merged} if merged else {})}

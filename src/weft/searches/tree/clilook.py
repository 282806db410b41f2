"""Commands that inspect a tree run: why, evals, transcript, export."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from weft.console import options, render
from weft.console.execution import ViewOptions
from weft.console.groups import with_groups
from weft.errors import InputError, UsageError
from weft.lazy_imports import lazy_imports

with lazy_imports():
    from weft.searches.tree import evals as records
    from weft.searches.tree import export as exports
    from weft.searches.tree import history, load
    from weft.searches.tree import run as runs
    from weft.searches.tree import transcript as transcripts


@with_groups
def why(
    run: options.RunArgument,
    name: Annotated[str, typer.Argument(metavar="EVAL", help="An eval, such as e7.")],
    *,
    output: ViewOptions,
) -> None:
    """Explain why an eval was promoted or not: every rule with its numbers, and its rank."""
    tree_run = runs.load_tree_run(run)
    item = _find_eval(tree_run, name, run)
    known = runs.load_records(run, tree_run).evals
    record = next(record for record in known if record.eval_id == item.eval_id)
    if output.as_json:
        rules = [{"rule": r.name, "passed": r.passed, "detail": r.detail} for r in item.rules]
        render.print_json({**asdict(record), "rules": rules})
        return
    for line in _why_lines(tree_run, item, run, record):
        render.out(line)


@with_groups
def evals(
    run: options.RunArgument,
    *,
    output: ViewOptions,
) -> None:
    """List every planned eval with its state, times, errors and verdict, and the nodes."""
    tree_records = runs.load_records(run, runs.load_tree_run(run))
    if output.as_json:
        render.print_json({"run": str(run), **tree_records.to_dict()})
        return
    for e in tree_records.evals:
        seconds, score = f"{e.seconds:.2f} s", e.score or "-"
        parent, name = f"n{e.parent_node_id}", f"e{e.eval_id}"
        state = f"{e.task_state:10}{e.stage:10}{score:>12}{seconds:>10}"
        render.out(f"{name:6} depth {e.depth}  {parent:5} {state}  {e.idea_path}: {e.verdict}")


@with_groups
def export(
    run: options.RunArgument,
    repo: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Repository that gets the branch; created if missing."),
    ] = None,
    branch: Annotated[str, typer.Option(metavar="NAME", help="The new branch.")] = "weft-best",
    patches: Annotated[
        Path | None, typer.Option(metavar="DIR", help="New folder for a series of patches.")
    ] = None,
    node: Annotated[
        str | None, typer.Option(metavar="NODE", help="A node, such as n3; default the best one.")
    ] = None,
    *,
    output: ViewOptions,
) -> None:
    """Write the best path as a branch with one commit per idea, or as a series of patches."""
    if (repo is None) is (patches is None):
        raise UsageError("give --repo DIR or --patches DIR, one of them")

    exported = exports.export(run, node=node, repo=repo, branch=branch, patches=patches)
    if output.as_json:
        render.print_json({
            "run": str(run), "where": str(exported.where), "commits": list(exported.commits),
            "ideas": list(exported.names), "branch": None if repo is None else branch,
        })  # fmt: skip
        return
    for commit, name in zip(exported.commits, exported.names, strict=True):
        render.out(f"{commit[:12]}  {name}")
    render.out(f"wrote   {exported.where}" + ("" if repo is None else f", branch {branch}"))


@with_groups
def transcript(
    run: options.RunArgument,
    node: Annotated[str, typer.Argument(metavar="NODE", help="A node, such as n3.")],
    *,
    output: ViewOptions,
) -> None:
    """Print the transcript of a node: its ancestors' turns, then its own, oldest first."""
    turns = transcripts.turns_of(run, node)
    if output.as_json:
        render.print_json({"run": str(run), "node": node, "turns": [t.to_dict() for t in turns]})
        return
    for turn in turns:
        render.out(f"{turn.role}: {turn.text}")


# -- what is printed ----------------------------------------------------------------------------


def _find_eval(tree_run: load.TreeRun, name: str, run: Path) -> history.Eval:
    evals = tree_run.history.evals
    for item in evals:
        if name in (item.name, str(item.eval_id)):
            return item
    raise InputError(f"{run} has no eval {name!r:.40}", hint=f"evals are e1 to e{len(evals)}")


def _why_lines(
    tree_run: load.TreeRun, item: history.Eval, run: Path, record: records.EvalRecord
) -> list[str]:
    lines = [f"{item.name}: {item.idea.name} on {item.parent.name}, depth {item.depth}"]
    lines += [f"  {'ok ' if r.passed else 'NO '} {r.name:14} {r.detail}" for r in item.rules]
    if item.same_as is not None:
        lines.append(f"  its files equal those of e{item.same_as}, which stands for both")
    if item.rank is not None:
        passed = [e for e in tree_run.history.at(item.depth) if e.rank is not None]
        lines.append(
            f"  rank {item.rank} of {len(passed)}, {tree_run.config.beam_width} are promoted"
        )
        ahead = sorted((e for e in passed if (e.rank or 0) < item.rank), key=lambda e: e.rank or 0)
        for other in ahead[: tree_run.config.beam_width]:
            lines.append(f"    ranked above: {other.name} {other.idea.name} with {other.score}")
    for error in record.errors:
        again = ", retried" if error.retriable and error is not record.errors[-1] else ""
        lines.append(
            f"  attempt {error.attempt} of {error.stage}: {error.type}{again}: {error.message}"
        )
    lines.append(f"verdict {item.verdict}")
    if item.keys:
        lines.append(f"log     {render.command('explain', run, item.keys[-1][:12])}")
    return lines

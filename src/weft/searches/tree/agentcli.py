"""`weft tree init` and `weft tree approve`: agents that call a model, and human decisions."""

from __future__ import annotations

import os
import pwd
import sys
from pathlib import Path
from typing import Annotated

import typer

from weft.console import options, render
from weft.console.execution import ViewOptions
from weft.console.groups import with_groups
from weft.errors import UsageError
from weft.lazy_imports import lazy_imports

with lazy_imports():
    from weft.runs import world
    from weft.searches.tree import approvals, decisions, load
    from weft.searches.tree.agents import scaffold

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A folder, created if missing.")]
Template = Annotated[
    str,
    typer.Option(
        "--template", metavar="openai|anthropic",
        help="The form of requests: any OpenAI-compatible server, or Anthropic's.",
    ),
]  # fmt: skip
Evals = Annotated[
    list[str] | None,
    typer.Argument(metavar="EVAL", help="Evals, such as e7. Default: the only one waiting."),
]
Yes = Annotated[
    bool | None,
    typer.Option("--yes/--no", help="Approve or reject; without either nothing changes."),
]
Note = Annotated[
    str,
    typer.Option("--note", metavar="TEXT", help="Why; recorded in the ledger and shown by why."),
]
By = Annotated[
    str | None, typer.Option("--by", metavar="NAME", help="Who decides. Default: your user name.")
]


@with_groups
def init(folder: Folder, template: Template = "openai", *, output: ViewOptions) -> None:
    """Create a search in which a model proposes, implements and reviews ideas.

    The folder gets tree.toml, agent.toml with URL, model and prices, and a small example to
    improve. Existing files are never overwritten: if there are any, nothing is written.
    """
    written = scaffold.write_template(folder, template)
    if output.as_json:
        render.print_json({"folder": str(folder), "files": [str(path) for path in written]})
        return
    for path in written:
        render.out(f"wrote   {path}")
    key = scaffold.KEYS[template]
    render.out(f"next    set model and prices in {folder / 'agent.toml'}, and export {key}")
    render.out(f"then    {render.command('tree', 'run', folder / 'tree.toml', '--validate-only')}")


@with_groups
def approve(
    run: options.RunArgument,
    names: Evals = None,
    yes: Yes = None,
    note: Note = "",
    by: By = None,
    *,
    output: ViewOptions,
) -> None:
    """List the evals that wait for a person, show one, approve or reject it.

    Without --yes or --no it lists the evals waiting; for an EVAL it shows the diff and, on a
    terminal, asks. A decision is final. A decision made while the run is stopped takes effect when
    it resumes.
    """
    tree_run = load.load_tree_run(run)
    waiting = approvals.waiting_evals(run, tree_run)
    if yes is None and not names:
        _list(run, waiting, as_json=output.as_json)
        return
    chosen = approvals.find_waiting(run, waiting, names or [])
    if yes is None and not output.as_json:
        for item in chosen:
            _show(run, tree_run, item)
        if not sys.stdin.isatty():
            return
        yes = typer.confirm("approve?")
    if yes is None:
        raise UsageError("--json needs --yes or --no with an EVAL")
    who = by or pwd.getpwuid(os.getuid()).pw_name
    decision = decisions.PersonDecision(yes, note, who, world.RealClock().wall())
    decided = approvals.decide(run, chosen, decision)
    if output.as_json:
        render.print_json({"run": str(run), "decided": [item.to_dict() for item in decided]})
        return
    for item in decided:
        render.out(f"{decision.word} {item.name} {item.idea_path}")


def _list(run: Path, waiting: list[approvals.WaitingEval], *, as_json: bool) -> None:
    if as_json:
        render.print_json({"run": str(run), "waiting": [item.to_dict() for item in waiting]})
        return
    for item in waiting:
        _line(item)
    if not waiting:
        render.out("no eval waits for a person")
    elif undecided := approvals.unanswered(waiting):
        render.out(f"look    {render.command('tree', 'approve', run, undecided[0].name)}")
        render.out(f"decide  {render.command('tree', 'approve', run, undecided[0].name, '--yes')}")


def _line(item: approvals.WaitingEval) -> None:
    known = f": {item.decision.word} by {item.decision.by}" if item.decision else ""
    score = "not scored yet" if item.score is None else f"{item.score}, before {item.parent_score}"
    render.out(f"{item.name:6} {item.idea_path} on n{item.parent_node_id}, {score}{known}")


def _show(run: Path, tree_run: load.TreeRun, item: approvals.WaitingEval) -> None:
    _line(item)
    render.out(approvals.diff_of(run, tree_run, item).rstrip("\n"))

"""`weft tree`: beam search over the states of a repository. Parses, calls, prints."""

from __future__ import annotations

from pathlib import Path

import typer

from weft.console import render
from weft.console.execution import OutputOptions, ViewOptions
from weft.console.groups import with_groups
from weft.console.progress import resumable, watching
from weft.lazy_imports import lazy_imports
from weft.searches.tree import options as opts
from weft.searches.tree.clilook import evals, export, transcript, why

with lazy_imports():
    from weft.runs import outcome
    from weft.searches.tree import check
    from weft.searches.tree import checks as validation
    from weft.searches.tree import request as requests
    from weft.searches.tree import run as runs

DIFFERENT = 1
FAILED_CHECK = 4

app = typer.Typer(
    name="tree",
    help="Improve a repository's score by trying ideas on it, the best ones on top of each other.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
@with_groups
def run(
    config: opts.Config,
    out: opts.Out = None,
    *,
    fields: opts.RunFields,
    dry_run: opts.DryRun = False,
    import_from: opts.ImportFrom = None,
    execution: opts.TreeExecutionOptions,
    mode: opts.ModeOptions,
    output: OutputOptions,
) -> None:
    """Search, or continue the run that is there.

    Exit code 0 when a promoted node is better than the root, 1 when none is, 4 when no eval
    completed or one failed with --strict-fail-depth.
    """
    mode.check(out, import_from)
    request = requests.read_request(
        config, fields.overrides(), out=out, dry_run=dry_run, import_from=import_from
    )
    if out is None or mode.validate_only:
        _validate(request, out, as_json=output.as_json)
        return
    if mode.report_only:
        _report(out)
        return
    how = execution.execution(out, request.file.backend)
    with watching(output.quiet, output.verbose) as watcher, resumable(out):
        done = runs.execute_tree(request, how, watcher)
        parity = runs.check_parity(request, done, watcher) if mode.check_parity else None
    _show_done(done, parity, as_json=output.as_json)
    differs = parity is not None and parity.difference is not None
    raise typer.Exit(DIFFERENT if differs else runs.exit_code(done))


@app.command()
@with_groups
def plan(config: opts.Config, *, fields: opts.PlanFields, output: ViewOptions) -> None:
    """Show the evals of the first depth and what a whole search may cost; nothing is created."""
    request = requests.read_request(config, fields.overrides())
    history, limits = runs.plan_first(request), request.config
    most = runs.most_evals(request, history)
    if output.as_json:
        evals = [
            {"eval_id": e.eval_id, "parent_node_id": 0, "idea_path": e.idea.name, "depth": 1,
             "task_state": "queued"}
            for e in history.evals
        ]  # fmt: skip
        skips = [{"idea_path": s.idea, "reason": s.reason} for s in history.skips]
        render.print_json({"root": request.args.root.commit, "evals": evals, "skipped": skips,
                           "most_evals": most})  # fmt: skip
        return
    render.out(f"root    {request.args.root.commit}")
    for item in history.evals:
        render.out(f"{item.name:8}{item.idea.kind:10}{item.idea.name}")
    for skip in history.skips:
        render.out(f"skipped {skip.idea}: {skip.reason}")
    if limits.proposes():
        render.out("more    ideas are made for each node during the run")
    render.out(f"at most {most} evals in {limits.max_depth} depths, {limits.beam_width} nodes each")


def _report(out: Path) -> None:
    runs.load_tree_run(out)
    runs.write_summary(out)
    render.out(f"wrote   {out / 'TREE_SUMMARY.md'} and TREE_GRAPH.md")


def _validate(request: requests.TreeRequest, out: Path | None, *, as_json: bool) -> None:
    checks = check.check_request(request)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / check.REPORT).write_text(validation.report(checks), "utf-8")
    failed = any(item.outcome == validation.FAILED for item in checks)
    if as_json:
        render.print_json({"valid": not failed, "checks": [c.to_dict() for c in checks]})
    else:
        for item in checks:
            render.out(f"{item.outcome:8}{item.name:12}{item.detail}")
    if failed:
        raise typer.Exit(FAILED_CHECK)


for look in (why, evals, transcript, export):
    app.command()(look)


# -- what is printed ----------------------------------------------------------------------------


def _show_done(done: outcome.Run, parity: runs.Parity | None, *, as_json: bool) -> None:
    tree_run = runs.load_tree_run(done.out)
    if as_json:
        records = runs.load_records(done.out, tree_run).to_dict()
        compared = {} if parity is None else {"parity": parity.to_dict()}
        render.print_json({**done.to_dict(), **records, **compared})
        return
    answer = getattr(done.answer, "detail", done.answer)
    for node in tree_run.history.nodes:
        idea = node.idea.name if node.idea else "root"
        score = node.score_text if node.result else "?"
        render.out(f"{node.name:5} depth {node.depth}  {score:>12}  {idea}")
    render.out(f"stopped {answer['stopped']}")
    if "best_score" in answer:
        path = " > ".join(answer["path"]) or "none"
        render.out(f"best    {answer['best_score']} (root {answer['root_score']}): {path}")
    if parity is not None:
        how = "recorded outputs of commands" if parity.recorded else "commands run again"
        word = "equal" if parity.difference is None else "DIFFERENT"
        render.out(f"parity  {word} with {parity.workers} at a time ({how})")
    render.show_end(done)

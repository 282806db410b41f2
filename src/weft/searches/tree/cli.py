"""`weft tree`: beam search over the states of a repository. Parses, calls, prints."""

from __future__ import annotations

from dataclasses import asdict, replace
from pathlib import Path
from typing import Annotated

import typer

from weft.console import options, render
from weft.console.execution import OutputOptions, ViewOptions
from weft.console.groups import with_groups
from weft.console.progress import resumable, watching
from weft.errors import InputError, UsageError
from weft.inspect.report.text import counted
from weft.lazy_imports import lazy_imports
from weft.searches.tree import agentcli
from weft.searches.tree import options as opts

with lazy_imports():
    from weft.runs import outcome
    from weft.searches.tree import checks as validation
    from weft.searches.tree import evals as records
    from weft.searches.tree import export as exports
    from weft.searches.tree import history, load
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
    events: opts.Events = None,
    execution: opts.TreeExecutionOptions,
    mode: opts.ModeOptions,
    output: OutputOptions,
) -> None:
    """Improve a repository's score: start a search, or continue the run in the folder.

    Exit code 0 if a promoted node beats the root, 1 if none does, 4 if no eval completed or one
    failed with --strict-fail-depth.
    """
    mode.check(out, import_from)
    request = requests.read_request(
        config, fields.overrides(), out=out, dry_run=dry_run, import_from=import_from
    )
    if out is None or mode.validate_only:
        _validate(request, out, as_json=output.as_json)
        return
    if mode.report_only:
        runs.write_summary(out)
        render.out(f"wrote   {out / 'TREE_SUMMARY.md'} and TREE_GRAPH.md")
        return
    how = replace(execution.execution(out, request.file.backend), warnings=not output.quiet)
    if how.warnings and not (out / "run.toml").exists():  # a resumed run printed them at its start
        for check in validation.run_warnings(request):
            render.message(f"weft: warning: {check.line}")
    with watching(output.quiet, output.verbose) as watcher, resumable(out):
        result = runs.execute_tree(request, how, watcher, events)
        parity = runs.check_parity(request, result, watcher) if mode.check_parity else None
    _show_done(result, parity, as_json=output.as_json)
    differs = parity is not None and parity.difference is not None
    raise typer.Exit(DIFFERENT if differs else runs.exit_code(result))


app.command()(agentcli.init)
app.command()(agentcli.approve)


@app.command()
@with_groups
def plan(config: opts.Config, *, fields: opts.PlanFields, output: ViewOptions) -> None:
    """Show the evals of the first depth and the cost of a whole search; nothing is created."""
    request = requests.read_request(config, fields.overrides())
    history, limits = runs.plan_first(request), request.config
    most = runs.most_evals(request, history)
    if output.as_json:
        evals = [
            {"eval_id": e.eval_id, "parent_node_id": e.parent.node_id,
             "idea_path": e.idea.name, "depth": 1, "task_state": "queued"}
            for e in history.evals
        ]  # fmt: skip
        skips = [{"idea_path": s.idea, "reason": s.reason} for s in history.skips]
        roots = [root.commit for root in request.args.roots]
        render.print_json({"root": roots[0], "roots": roots, "evals": evals, "skipped": skips,
                           "most_evals": most})  # fmt: skip
        return
    for root in request.args.roots:
        render.out(f"root    {root.commit}")
    for item in history.evals:
        render.out(f"{item.name:8}{item.idea.kind:10}{item.idea.name}")
    for skip in history.skips:
        render.out(f"skipped {skip.idea}: {skip.reason}")
    if limits.proposes():
        render.out("more    ideas are made for each node during the run")
    size = f"{counted(limits.max_depth, 'depth')}, {counted(limits.beam_width, 'node')} each"
    render.out(f"at most {counted(most, 'eval')} in {size}")


def _validate(request: requests.TreeRequest, out: Path | None, *, as_json: bool) -> None:
    checks = validation.check_request(request)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / validation.REPORT).write_text(validation.report(checks), "utf-8")
    failed = any(item.outcome == validation.FAILED for item in checks)
    if as_json:
        render.print_json({"valid": not failed, "checks": [asdict(check) for check in checks]})
    else:
        for item in checks:
            render.out(f"{item.outcome:8}{item.check:12}{item.detail}")
    if failed:
        raise typer.Exit(FAILED_CHECK)


@app.command()
@with_groups
def why(
    run: options.RunArgument,
    name: Annotated[str, typer.Argument(metavar="EVAL", help="An eval, such as e7.")],
    *,
    output: ViewOptions,
) -> None:
    """Explain why an eval was promoted or not: every rule with its numbers, and its rank."""
    tree_run = load.load_tree_run(run)
    item = _find_eval(tree_run, name, run)
    known = records.records_of(run, tree_run).evals
    record = next(record for record in known if record.eval_id == item.eval_id)
    if output.as_json:
        rules = [{"rule": r.name, "passed": r.passed, "detail": r.detail} for r in item.rules]
        render.print_json({**asdict(record), "rules": rules})
        return
    for line in _why_lines(tree_run, item, run, record):
        render.out(line)


@app.command()
@with_groups
def evals(run: options.RunArgument, *, output: ViewOptions) -> None:
    """List every planned eval with its state, times, errors and verdict, and the nodes."""
    tree_records = records.records_of(run, load.load_tree_run(run))
    if output.as_json:
        render.print_json({"run": str(run), **asdict(tree_records)})
        return
    for e in tree_records.evals:
        seconds, score = f"{e.seconds:.2f} s", e.score or "-"
        parent, name = f"n{e.parent_node_id}", f"e{e.eval_id}"
        state = f"{e.task_state:10}{e.stage:10}{score:>12}{seconds:>10}"
        render.out(f"{name:6} depth {e.depth}  {parent:5} {state}  {e.idea_path}: {e.verdict}")


@app.command()
@with_groups
def transcript(
    run: options.RunArgument,
    node: Annotated[str, typer.Argument(metavar="NODE", help="A node, such as n3.")],
    *,
    output: ViewOptions,
) -> None:
    """Print the transcript of a node: its ancestors' turns, then its own, oldest first."""
    turns = load.turns_of(run, node)
    if output.as_json:
        render.print_json(
            {"run": str(run), "node": node, "turns": [asdict(turn) for turn in turns]}
        )
        return
    for turn in turns:
        render.out(f"{turn.role}: {turn.text}")
    if not turns:
        render.message(f"no message was exchanged with a proposer on the path to {node}")


@app.command()
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
        str | None, typer.Option(metavar="NODE", help="A node, such as n3. Default: the best one.")
    ] = None,
    *,
    output: ViewOptions,
) -> None:
    """Write the best path as a branch with one commit per idea, or as a series of patches."""
    if (repo is None) is (patches is None):
        raise UsageError("give either --repo DIR or --patches DIR")

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


# -- output -------------------------------------------------------------------------------------


def _show_done(done: outcome.Run, parity: runs.Parity | None, *, as_json: bool) -> None:
    tree_run = load.load_tree_run(done.out)
    if as_json:
        tree_records = asdict(records.records_of(done.out, tree_run))
        compared = {} if parity is None else {"parity": parity.to_dict()}
        render.print_json({**done.to_dict(), **tree_records, **compared})
        return
    answer = getattr(done.answer, "detail", done.answer)
    for node in tree_run.history.nodes:
        idea = node.idea.name if node.idea else "root"
        score = node.score_text if node.result else "?"
        render.out(f"{node.name:5} depth {node.depth}  {score:>12}  {idea}")
    for line in root_lines(tree_run, done.out):
        render.out(line)
    render.out(f"stopped {answer['stopped']}")
    if "best_score" in answer:
        path = " > ".join(answer["path"]) or "none"
        render.out(f"best    {answer['best_score']} (root {answer['root_score']}): {path}")
    for stage, cost in tree_run.history.costs.items():
        render.out(f"cost    {stage}: {cost}")
    for note in tree_run.isolation_notes():
        render.out(f"note    {note}")
    if parity is not None:
        how = "recorded outputs of commands" if parity.recorded else "commands run again"
        word = "equal" if parity.difference is None else "DIFFERENT"
        render.out(f"parity  {word} with {parity.workers} at a time ({how})")
    render.show_end(done)


def root_lines(tree_run: load.TreeRun, run: Path) -> list[str]:
    """Explain why the root could not be scored, and how to score it again."""
    failure, key = load.root_failure(run, tree_run.history), tree_run.history.root_key
    if not failure:
        return []
    retry = render.command("resume", run, "--retry-failed", "--out", "NEW")
    return [
        f"root    {failure}",
        f"log     {render.command('explain', run, key[:12])}",
        f"again   {retry} once the cause is fixed; with another scorer or config, a new --out",
    ]


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
    if item.candidate is not None and item.candidate.merged:
        lines.append(
            f"  merged {item.candidate.merged}: it did not fit {item.parent.name} as it was"
        )
    if len(item.scorings) > 1:
        scores = ", ".join(scoring.score_text for scoring in item.scorings)
        lines.append(f"  scored {len(item.scorings)} times: {scores}; {item.score} counts")
    if item.same_as is not None:
        lines.append(f"  its files equal those of e{item.same_as}, which counts for both")
    if item.rank is not None:
        passed = [e for e in tree_run.history.at(item.depth) if e.rank is not None]
        promoted = sum(e.node_id is not None for e in passed)
        lines.append(f"  rank {item.rank} of {len(passed)}, {promoted} are promoted")
        ahead = sorted((e for e in passed if (e.rank or 0) < item.rank), key=lambda e: e.rank or 0)
        for other in ahead[: tree_run.config.beam_width]:
            lines.append(f"    ranked above: {other.name} {other.idea.name} with {other.score}")
    if item.passed_over:
        lines.append(f"  not promoted: {item.passed_over}")
    for error in record.errors:
        suffix = ", retried" if error.retriable and error is not record.errors[-1] else ""
        lines.append(
            f"  attempt {error.attempt} of {error.stage}: {error.type}{suffix}: {error.message}"
        )
    lines += [f"  --  {note}" for note in tree_run.score_notes()]
    lines += [f"  cost of {stage}: {cost}" for stage, cost in history.costs_of(item).items()]
    if record.approved_by is not None:
        lines.append(f"  decided by {record.approved_by}")
    lines.append(f"verdict {item.verdict}")
    if item.keys:
        lines.append(f"log     {render.command('explain', run, item.keys[-1][:12])}")
    return lines

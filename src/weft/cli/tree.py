"""`weft tree`: beam search over the states of a repository. Parses, calls the wiring, prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli import options, render
from weft.cli import treeoptions as opts
from weft.cli.progress import watching
from weft.cli.runs import resumable
from weft.cli.treelook import transcript
from weft.errors import InputError, UsageError

if TYPE_CHECKING:
    from weft.tree.story import Eval
    from weft.tree.view import TreeSeen
    from weft.wiring.outcome import Run
    from weft.wiring.tree import Parity
    from weft.wiring.treerequest import TreeRequest

DIFFERENT = 1
FAILED_CHECK = 4
NO_FIELDS = (
    "config", "out", "settings", "dry_run", "check_parity", "validate_only", "report_only",
    "accept", "wall_limit", "sign_key", "as_json", "quiet", "verbose", "import_from",
    "keep_rejected_worktrees", "keep_failed_artifacts",
)  # fmt: skip
"""Parameters of the commands that are not fields of the config."""

app = typer.Typer(
    name="tree",
    help="Improve a repository's score by trying ideas on it, the best ones on top of each other.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
def run(
    config: opts.Config,
    out: opts.Out = None,
    beam_width: opts.BeamWidth = None,
    ideas_per_node: opts.IdeasPerNode = None,
    max_depth: opts.MaxDepth = None,
    max_total_evals: opts.MaxTotalEvals = None,
    eval_retries: opts.EvalRetries = None,
    eval_timeout_seconds: opts.EvalTimeout = None,
    dedupe_scope: opts.Scope = None,
    root_repeats: opts.RootRepeats = None,
    review_rounds: opts.ReviewRounds = None,
    strict_fail_depth: opts.StrictDepth = None,
    stop_on_empty_frontier: opts.StopOnEmpty = None,
    settings: opts.Settings = [],  # noqa: B006 - typer copies it
    dry_run: opts.DryRun = False,
    memory: opts.Memory = None,
    area: opts.Area = None,
    feed_index: opts.FeedIndex = None,
    import_from: opts.ImportFrom = None,
    max_parallel_evals: opts.Parallel = None,
    max_parallel_per_node: opts.PerNode = None,
    parallel_backend: opts.ParallelBackend = None,
    keep_rejected_worktrees: opts.KeepRejected = False,
    keep_failed_artifacts: opts.KeepFailed = False,
    check_parity: opts.CheckParity = False,
    validate_only: opts.ValidateOnly = False,
    report_only: opts.ReportOnly = False,
    accept: options.Accept = [],  # noqa: B006
    wall_limit: options.WallLimit = None,
    sign_key: options.SignKey = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Search, or go on with the run that is there.

    Exit code 0 when a promoted node is better than the root, 1 when none is, 4 when no eval
    completed or one failed with --strict-fail-depth.
    """
    options.check_seconds("--wall-limit", wall_limit)
    if out is None and not validate_only:
        raise UsageError("--out DIR is missing", hint="or check the config with --validate-only")
    if validate_only and (report_only or check_parity):
        raise UsageError("--validate-only runs nothing: leave out the other")
    given = _given(locals())
    request = _read(config, settings, given, out=out, dry_run=dry_run, import_from=import_from)
    if out is None or validate_only:
        _validate(request, out, as_json=as_json)
        return

    from weft.wiring import tree as wiring  # noqa: PLC0415 - slow to import

    if report_only:
        wiring.seen_of(out)
        wiring.write_summary(out)
        render.out(f"wrote   {out / 'TREE_SUMMARY.md'} and TREE_GRAPH.md")
        return
    kept = {wiring.REJECTED: keep_rejected_worktrees, wiring.FAILED: keep_failed_artifacts}
    with watching(quiet, verbose) as watcher, resumable(out):
        done = wiring.carry_out_tree(
            request, out, watcher, accept=tuple(accept), wall_limit_s=wall_limit,
            sign_key=sign_key, keep=tuple(name for name, asked in kept.items() if asked),
        )  # fmt: skip
        parity = wiring.check_parity(request, done, watcher) if check_parity else None
    _show_done(done, parity, as_json=as_json)
    if parity is not None and parity.difference is not None:
        raise typer.Exit(DIFFERENT)
    raise typer.Exit(wiring.exit_code(done))


@app.command()
def plan(
    config: opts.Config,
    beam_width: opts.BeamWidth = None,
    ideas_per_node: opts.IdeasPerNode = None,
    max_depth: opts.MaxDepth = None,
    max_total_evals: opts.MaxTotalEvals = None,
    dedupe_scope: opts.Scope = None,
    settings: opts.Settings = [],  # noqa: B006 - typer copies it
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,
) -> None:
    """Show the evals of the first depth and what a whole search may cost; nothing is created."""
    request = _read(config, settings, _given(locals()))

    from weft.wiring.tree import most_evals, plan_first  # noqa: PLC0415 - slow to import

    story, plot = plan_first(request), request.plot
    most = most_evals(request, story)
    if as_json:
        evals = [
            {"eval_id": e.eval_id, "parent_node_id": 0, "idea_path": e.idea.name, "depth": 1,
             "task_state": "queued"}
            for e in story.evals
        ]  # fmt: skip
        skips = [{"idea_path": s.idea, "reason": s.reason} for s in story.skips]
        render.print_json({"root": request.root.commit, "evals": evals, "skipped": skips,
                           "most_evals": most})  # fmt: skip
        return
    render.out(f"root    {request.root.commit}")
    for item in story.evals:
        render.out(f"{item.name:8}{item.idea.kind:10}{item.idea.name}")
    for skip in story.skips:
        render.out(f"skipped {skip.idea}: {skip.reason}")
    if plot.proposes():
        render.out("more    ideas are made for each node during the run")
    render.out(f"at most {most} evals in {plot.max_depth} depths, {plot.beam_width} nodes each")


@app.command()
def why(
    run: options.RunArgument,
    name: Annotated[str, typer.Argument(metavar="EVAL", help="An eval, such as e7.")],
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001 - main looks for -vv
) -> None:
    """Tell why an eval was promoted or not: every rule with its numbers, its rank, the others."""
    from weft.wiring.tree import records_of, seen_of  # noqa: PLC0415 - slow to import

    seen = seen_of(run)
    found = [e for e in seen.story.evals if e.name == name or str(e.eval_id) == name]
    if not found:
        last = len(seen.story.evals)
        raise InputError(f"{run} has no eval {name!r:.40}", hint=f"evals are e1 to e{last}")
    [record] = [r for r in records_of(run, seen)["evals"] if r["eval_id"] == found[0].eval_id]
    if as_json:
        rules = [{"rule": r.name, "passed": r.passed, "said": r.said} for r in found[0].rules]
        render.print_json({**record, "rules": rules})
        return
    for line in _why_lines(seen, found[0], run, record):
        render.out(line)


@app.command()
def evals(
    run: options.RunArgument,
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001 - main looks for -vv
) -> None:
    """List every planned eval with its state, times, errors and verdict, and the nodes."""
    from weft.wiring.tree import records_of, seen_of  # noqa: PLC0415 - slow to import

    told = records_of(run, seen_of(run))
    if as_json:
        render.print_json({"run": str(run), **told})
        return
    for e in told["evals"]:
        seconds, score = f"{e['seconds']:.2f} s", e["score"] or "-"
        parent, name = f"n{e['parent_node_id']}", f"e{e['eval_id']}"
        state = f"{e['task_state']:10}{e['stage']:10}{score:>12}{seconds:>10}"
        render.out(
            f"{name:6} depth {e['depth']}  {parent:5} {state}  {e['idea_path']}: {e['verdict']}"
        )


@app.command()
def export(
    run: options.RunArgument,
    repo: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Repository that gets the branch; made if not there."),
    ] = None,
    branch: Annotated[str, typer.Option(metavar="NAME", help="The new branch.")] = "weft-best",
    patches: Annotated[
        Path | None, typer.Option(metavar="DIR", help="New folder for a series of patches.")
    ] = None,
    node: Annotated[
        str | None, typer.Option(metavar="NODE", help="A node, such as n3: the best if not said.")
    ] = None,
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001 - main looks for -vv
) -> None:
    """Write the best path as a branch with one commit per idea, or as a series of patches."""
    if (repo is None) is (patches is None):
        raise UsageError("give --repo DIR or --patches DIR, one of them")

    from weft.wiring.tree import export as write  # noqa: PLC0415 - slow to import

    made = write(run, node=node, repo=repo, branch=branch, patches=patches)
    if as_json:
        render.print_json({
            "run": str(run), "where": str(made.where), "commits": list(made.commits),
            "ideas": list(made.names), "branch": None if repo is None else branch,
        })  # fmt: skip
        return
    for commit, name in zip(made.commits, made.names, strict=True):
        render.out(f"{commit[:12]}  {name}")
    render.out(f"wrote   {made.where}" + ("" if repo is None else f", branch {branch}"))


def _validate(request: TreeRequest, out: Path | None, *, as_json: bool) -> None:
    from weft.tree.validation import FAILED, report  # noqa: PLC0415 - slow to import
    from weft.wiring.treecheck import REPORT, check_request  # noqa: PLC0415

    checks = check_request(request)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / REPORT).write_text(report(checks), "utf-8")
    failed = any(check.outcome == FAILED for check in checks)
    if as_json:
        render.print_json({"valid": not failed, "checks": [c.to_dict() for c in checks]})
    else:
        for check in checks:
            render.out(f"{check.outcome:8}{check.what:12}{check.said}")
    if failed:
        raise typer.Exit(FAILED_CHECK)


app.command()(transcript)


def _given(values: dict[str, Any]) -> dict[str, Any]:
    """Return the config fields that flags gave."""
    return {n: v for n, v in values.items() if n not in NO_FIELDS and v is not None}


def _read(
    config: Path,
    settings: list[str],
    given: dict[str, Any],
    *,
    out: Path | None = None,
    dry_run: bool = False,
    import_from: Path | None = None,
) -> TreeRequest:
    from weft.tree.plotfile import parse_setting  # noqa: PLC0415 - slow to import
    from weft.wiring.treerequest import read_request  # noqa: PLC0415

    for text in settings:
        name, value = parse_setting(text)
        if name in given:
            raise UsageError(f"{name} is given twice")
        given[name] = value
    return read_request(config, given, out=out, dry_run=dry_run, import_from=import_from)


# -- what is printed ----------------------------------------------------------------------------


def _show_done(done: Run, parity: Parity | None, *, as_json: bool) -> None:
    from weft.wiring.tree import records_of, seen_of  # noqa: PLC0415 - slow to import

    seen = seen_of(done.out)
    if as_json:
        told = {**done.to_dict(), **records_of(done.out, seen)}
        if parity is not None:
            told["parity"] = parity.to_dict()
        render.print_json(told)
        return
    answer: Any = getattr(done.answer, "detail", done.answer)
    for node in seen.story.nodes:
        idea = node.idea.name if node.idea else "root"
        render.out(f"{node.name:5} depth {node.depth}  {node.result.get('score', '?'):>12}  {idea}")
    render.out(f"stopped {answer['stopped']}")
    if "best_score" in answer:
        path = " > ".join(answer["path"]) or "none"
        render.out(f"best    {answer['best_score']} (root {answer['root_score']}): {path}")
    if parity is not None:
        how = "recorded outputs of commands" if parity.recorded else "commands run again"
        word = "equal" if parity.difference is None else "DIFFERENT"
        render.out(f"parity  {word} with {parity.workers} at a time ({how})")
    render.show_end(done)


def _why_lines(seen: TreeSeen, item: Eval, run: Path, record: dict[str, Any]) -> list[str]:
    lines = [f"{item.name}: {item.idea.name} on {item.parent.name}, depth {item.depth}"]
    lines += [f"  {'ok ' if r.passed else 'NO '} {r.name:14} {r.said}" for r in item.rules]
    if item.same_as is not None:
        lines.append(f"  its files equal those of e{item.same_as}, which stands for both")
    if item.rank is not None:
        passed = [e for e in seen.story.at(item.depth) if e.rank is not None]
        lines.append(f"  rank {item.rank} of {len(passed)}, {seen.plot.beam_width} are promoted")
        ahead = sorted((e for e in passed if (e.rank or 0) < item.rank), key=lambda e: e.rank or 0)
        for other in ahead[: seen.plot.beam_width]:
            score = other.result["score"] if other.result else ""
            lines.append(f"    before it: {other.name} {other.idea.name} with {score}")
    for error in record["errors"]:
        again = ", tried again" if error["retriable"] and error is not record["errors"][-1] else ""
        lines.append(
            f"  attempt {error['attempt']} of {error['stage']}: {error['type']}{again}:"
            f" {error['message']}"
        )
    lines.append(f"verdict {item.verdict}")
    if item.keys:
        lines.append(f"log     {render.command('explain', run, item.keys[-1][:12])}")
    return lines

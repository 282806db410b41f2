"""`weft tree`: beam search over the states of a repository. Parses, calls the wiring, prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from weft.console import options, render
from weft.console.progress import resumable, watching
from weft.errors import UsageError
from weft.searches.tree import options as opts
from weft.searches.tree.clilook import evals, export, transcript, why

if TYPE_CHECKING:
    from weft.coordinator.loop import Watcher
    from weft.runs.outcome import Run
    from weft.searches.tree.request import TreeRequest
    from weft.searches.tree.run import Parity

DIFFERENT = 1
FAILED_CHECK = 4
NO_FIELDS = (
    "config", "out", "settings", "dry_run", "check_parity", "validate_only", "report_only",
    "accept", "wall_limit", "sign_key", "as_json", "quiet", "verbose", "import_from",
    "nodes", "simulate", "placement", "ray_address",
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
    ray_address: options.RayAddress = None,
    nodes: options.Nodes = None,
    simulate: options.SimulateNodes = False,
    placement: options.Placement = None,
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
    overrides = _overrides(locals())
    _check_modes(out, import_from, validate_only, report_only, check_parity)
    request = _read(config, settings, overrides, out=out, dry_run=dry_run, import_from=import_from)
    if out is None or validate_only:
        _validate(request, out, as_json=as_json)
        return
    if report_only:
        _report(out)
        return
    execution = options.execution(
        backend=request.file.parallel_backend,
        address=ray_address,
        nodes=nodes,
        simulate=simulate,
        placement=placement,
        accept=accept,
        wall_limit=wall_limit,
        sign_key=sign_key,
    )
    execution["keep"] = _to_keep(keep_rejected_worktrees, keep_failed_artifacts)
    with watching(quiet, verbose) as watcher, resumable(out):
        done, parity = _execute(request, out, execution, watcher, check_parity)
    _show_done(done, parity, as_json=as_json)
    raise typer.Exit(_exit_code(done, parity))


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
    request = _read(config, settings, _overrides(locals()))

    from weft.searches.tree.run import most_evals, plan_first  # noqa: PLC0415 - slow to import

    history, limits = plan_first(request), request.config
    most = most_evals(request, history)
    if as_json:
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


def _check_modes(
    out: Path | None,
    import_from: Path | None,
    validate_only: bool,
    report_only: bool,
    check_parity: bool,
) -> None:
    """Refuse options that contradict each other, before anything is read."""
    if out is None and not validate_only:
        raise UsageError("--out DIR is missing", hint="or check the config with --validate-only")
    if validate_only and (report_only or check_parity):
        raise UsageError("--validate-only runs nothing: leave out the other")
    if report_only and check_parity:
        raise UsageError("--report-only runs nothing: leave out --check-parity")
    if import_from is not None and out is not None and import_from.resolve() == out.resolve():
        raise UsageError("--import-from is the run of --out itself", hint="choose another --out")


def _report(out: Path) -> None:
    from weft.searches.tree import run as wiring  # noqa: PLC0415 - slow to import

    wiring.load_tree_run(out)
    wiring.write_summary(out)
    render.out(f"wrote   {out / 'TREE_SUMMARY.md'} and TREE_GRAPH.md")


def _to_keep(rejected: bool, failed: bool) -> tuple[str, ...]:
    from weft.searches.tree import run as wiring  # noqa: PLC0415 - slow to import

    wanted = {wiring.REJECTED: rejected, wiring.FAILED: failed}
    return tuple(name for name, is_wanted in wanted.items() if is_wanted)


def _execute(
    request: TreeRequest,
    out: Path,
    execution: dict[str, Any],
    watcher: Watcher | None,
    check_parity: bool,
) -> tuple[Run, Parity | None]:
    from weft.searches.tree import run as wiring  # noqa: PLC0415 - slow to import

    done = wiring.execute_tree(request, out, watcher, **execution)
    return done, wiring.check_parity(request, done, watcher) if check_parity else None


def _exit_code(done: Run, parity: Parity | None) -> int:
    from weft.searches.tree import run as wiring  # noqa: PLC0415 - slow to import

    differs = parity is not None and parity.difference is not None
    return DIFFERENT if differs else wiring.exit_code(done)


def _validate(request: TreeRequest, out: Path | None, *, as_json: bool) -> None:
    from weft.searches.tree.check import REPORT, check_request  # noqa: PLC0415
    from weft.searches.tree.validation import FAILED, report  # noqa: PLC0415 - slow to import

    checks = check_request(request)
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        (out / REPORT).write_text(report(checks), "utf-8")
    failed = any(check.outcome == FAILED for check in checks)
    if as_json:
        render.print_json({"valid": not failed, "checks": [c.to_dict() for c in checks]})
    else:
        for check in checks:
            render.out(f"{check.outcome:8}{check.name:12}{check.detail}")
    if failed:
        raise typer.Exit(FAILED_CHECK)


for look in (why, evals, transcript, export):
    app.command()(look)


def _overrides(values: dict[str, Any]) -> dict[str, Any]:
    """Return the config fields that flags gave."""
    return {n: v for n, v in values.items() if n not in NO_FIELDS and v is not None}


def _read(
    config: Path,
    settings: list[str],
    overrides: dict[str, Any],
    *,
    out: Path | None = None,
    dry_run: bool = False,
    import_from: Path | None = None,
) -> TreeRequest:
    from weft.searches.tree.configfile import parse_setting  # noqa: PLC0415 - slow to import
    from weft.searches.tree.request import read_request  # noqa: PLC0415

    for text in settings:
        name, value = parse_setting(text)
        if name in overrides:
            raise UsageError(f"{name} is given twice")
        overrides[name] = value
    return read_request(config, overrides, out=out, dry_run=dry_run, import_from=import_from)


# -- what is printed ----------------------------------------------------------------------------


def _show_done(done: Run, parity: Parity | None, *, as_json: bool) -> None:
    from weft.searches.tree.run import load_records, load_tree_run  # noqa: PLC0415 - slow to import

    tree_run = load_tree_run(done.out)
    if as_json:
        body = {**done.to_dict(), **load_records(done.out, tree_run).to_dict()}
        if parity is not None:
            body["parity"] = parity.to_dict()
        render.print_json(body)
        return
    answer: Any = getattr(done.answer, "detail", done.answer)
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

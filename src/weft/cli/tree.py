"""`weft tree`: beam search over the states of a repository. Parses, calls the wiring, prints."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.cli import options, render
from weft.cli.progress import watching
from weft.cli.runs import resumable
from weft.errors import InputError, UsageError

if TYPE_CHECKING:
    from weft.tree.story import Eval
    from weft.tree.view import TreeSeen
    from weft.wiring.outcome import Run
    from weft.wiring.tree import Parity, TreeRequest

DIFFERENT = 1
NO_FIELDS = (
    "config", "out", "settings", "dry_run", "check_parity", "validate_only", "report_only",
    "nodes", "simulate", "placement", "ray_address", "accept", "wall_limit", "sign_key", "as_json",
    "quiet", "verbose",
)  # fmt: skip
"""Parameters of the commands that are not fields of the config."""

app = typer.Typer(
    name="tree",
    help="Improve a repository's score by trying ideas on it, the best ones on top of each other.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Config = Annotated[Path, typer.Argument(metavar="CONFIG", help="The search's tree.toml.")]
Settings = Annotated[
    list[str],
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Any field of the config, its value as in TOML: --set score.timeout_s=5. Repeatable.",
        rich_help_panel=options.DECIDES,
    ),
]


def _count(text: str) -> Any:
    return typer.Option(metavar="N", help=text, rich_help_panel=options.DECIDES)


BeamWidth = Annotated[int | None, _count("How many evals of a depth become nodes.")]
IdeasPerNode = Annotated[int | None, _count("Ideas tried on each node.")]
MaxDepth = Annotated[int | None, _count("How many ideas may stand on top of each other.")]
MaxTotalEvals = Annotated[int | None, _count("Evals of the whole search.")]
EvalRetries = Annotated[int | None, _count("More attempts after a time-out or exit code 75.")]
RootRepeats = Annotated[int | None, _count("Scorings of the root, whose spread is the noise band.")]
ReviewRounds = Annotated[int | None, _count("How often an idea is implemented until approved.")]
EvalTimeout = Annotated[
    float | None,
    typer.Option(metavar="S", help="Seconds for a stage.", rich_help_panel=options.DECIDES),
]
Scope = Annotated[
    str | None,
    typer.Option(
        metavar="node|ancestors|global|none",
        help="Where an idea with the same text is not tried again.",
        rich_help_panel=options.DECIDES,
    ),
]
StrictDepth = Annotated[
    bool | None,
    typer.Option(
        "--strict-fail-depth/--no-strict-fail-depth",
        help="The first failed eval ends the search.",
        show_default=False,
        rich_help_panel=options.DECIDES,
    ),
]
StopOnEmpty = Annotated[
    bool | None,
    typer.Option(
        "--stop-on-empty-frontier/--no-stop-on-empty-frontier",
        help="End when a depth promotes nothing, or try the next ideas on the same nodes.",
        show_default=False,
        rich_help_panel=options.DECIDES,
    ),
]
Parallel = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Evals at a time: 1 if not said.", rich_help_panel=options.CARRIES_OUT
    ),
]
PerNode = Annotated[
    int | None,
    typer.Option(
        metavar="N", help="Evals at a time of one node.", rich_help_panel=options.CARRIES_OUT
    ),
]
ParallelBackend = Annotated[
    str | None,
    typer.Option(
        "--parallel-backend",
        "--backend",
        metavar="serial|local|ray",
        help="Who runs evals: one worker, the workers of this machine, or a Ray cluster.",
        rich_help_panel=options.CARRIES_OUT,
    ),
]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Run the whole engine with made-up outcomes; no command of the config is run.",
        rich_help_panel=options.DECIDES,
    ),
]


Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="The run's folder.", rich_help_panel=options.CARRIES_OUT),
]
CheckParity = Annotated[
    bool,
    typer.Option(
        "--check-parity",
        help="Run it again with another number of workers and compare the ledgers.",
        rich_help_panel=options.CARRIES_OUT,
    ),
]
ValidateOnly = Annotated[
    bool,
    typer.Option(
        "--validate-only",
        help="Check config, repository and ideas; nothing is created.",
        rich_help_panel=options.CARRIES_OUT,
    ),
]
ReportOnly = Annotated[
    bool,
    typer.Option(
        "--report-only",
        help="Write the summary of the run that is there again; nothing is run.",
        rich_help_panel=options.CARRIES_OUT,
    ),
]


@app.command()
def run(
    config: Config,
    out: Out = None,
    beam_width: BeamWidth = None,
    ideas_per_node: IdeasPerNode = None,
    max_depth: MaxDepth = None,
    max_total_evals: MaxTotalEvals = None,
    eval_retries: EvalRetries = None,
    eval_timeout_seconds: EvalTimeout = None,
    dedupe_scope: Scope = None,
    root_repeats: RootRepeats = None,
    review_rounds: ReviewRounds = None,
    strict_fail_depth: StrictDepth = None,
    stop_on_empty_frontier: StopOnEmpty = None,
    settings: Settings = [],  # noqa: B006 - typer copies it
    dry_run: DryRun = False,
    max_parallel_evals: Parallel = None,
    max_parallel_per_node: PerNode = None,
    parallel_backend: ParallelBackend = None,
    ray_address: options.RayAddress = None,
    nodes: options.Nodes = None,
    simulate: options.SimulateNodes = False,
    placement: options.Placement = None,
    check_parity: CheckParity = False,
    validate_only: ValidateOnly = False,
    report_only: ReportOnly = False,
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
    request = _read(config, settings, _given(locals()), dry_run)
    if out is None or validate_only:
        render.out(f"valid   {len(request.ideas)} ideas, root {request.root.commit[:12]}")
        return

    from weft.wiring import tree as wiring  # noqa: PLC0415 - slow to import

    backend = request.file.parallel_backend
    if report_only:
        wiring.seen_of(out)
        wiring.write_summary(out)
        render.out(f"wrote   {out / 'TREE_SUMMARY.md'}")
        return
    with watching(quiet, verbose) as watcher, resumable(out):
        done = wiring.carry_out_tree(
            request,
            out,
            watcher,
            nodes=options.read_nodes(nodes, simulate=simulate, backend=backend),
            ray_address=options.ray_address(backend, ray_address, nodes),
            placement=placement or "greedy",
            accept=tuple(accept),
            wall_limit_s=wall_limit,
            sign_key=sign_key,
        )
        parity = wiring.check_parity(request, done, watcher) if check_parity else None
    _show_done(done, parity, as_json=as_json)
    if parity is not None and parity.difference is not None:
        raise typer.Exit(DIFFERENT)
    raise typer.Exit(wiring.exit_code(done))


@app.command()
def plan(
    config: Config,
    beam_width: BeamWidth = None,
    ideas_per_node: IdeasPerNode = None,
    max_depth: MaxDepth = None,
    max_total_evals: MaxTotalEvals = None,
    dedupe_scope: Scope = None,
    settings: Settings = [],  # noqa: B006 - typer copies it
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,
) -> None:
    """Show the evals of the first depth and what a whole search may cost; nothing is created."""
    request = _read(config, settings, _given(locals()), False)

    from weft.wiring.tree import plan_first  # noqa: PLC0415 - slow to import

    story, plot = plan_first(request), request.plot
    wide = min(plot.ideas_per_node, len(request.ideas)) * plot.beam_width
    most = min(plot.max_total_evals, len(story.evals) + wide * (plot.max_depth - 1))
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
    render.out(f"at most {most} evals in {plot.max_depth} depths, {plot.beam_width} nodes each")


@app.command()
def why(
    run: options.RunArgument,
    name: Annotated[str, typer.Argument(metavar="EVAL", help="An eval, such as e7.")],
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001 - main looks for -vv
) -> None:
    """Tell why an eval was promoted or not: every rule with its numbers, its rank, the others."""
    from weft.wiring.tree import seen_of  # noqa: PLC0415 - slow to import

    seen = seen_of(run)
    found = [e for e in seen.story.evals if e.name == name or str(e.eval_id) == name]
    if not found:
        last = len(seen.story.evals)
        raise InputError(f"{run} has no eval {name!r:.40}", hint=f"evals are e1 to e{last}")
    if as_json:
        render.print_json(_why_dict(seen, found[0]))
        return
    for line in _why_lines(seen, found[0], run):
        render.out(line)


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


def _given(values: dict[str, Any]) -> dict[str, Any]:
    """Return the config fields that flags gave."""
    return {n: v for n, v in values.items() if n not in NO_FIELDS and v is not None}


def _read(config: Path, settings: list[str], given: dict[str, Any], dry_run: bool) -> TreeRequest:
    from weft.tree.plotfile import parse_setting  # noqa: PLC0415 - slow to import
    from weft.wiring.tree import read_request  # noqa: PLC0415

    for text in settings:
        name, value = parse_setting(text)
        if name in given:
            raise UsageError(f"{name} is given twice")
        given[name] = value
    return read_request(config, given, dry_run=dry_run)


# -- what is printed ----------------------------------------------------------------------------


def _show_done(done: Run, parity: Parity | None, *, as_json: bool) -> None:
    from weft.tree.view import eval_dict  # noqa: PLC0415 - slow to import
    from weft.wiring.tree import seen_of  # noqa: PLC0415

    seen = seen_of(done.out)
    if as_json:
        evals = [eval_dict(e, seen.timing.get(e.eval_id)) for e in seen.story.evals]
        told = {**done.to_dict(), "evals": evals}
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


def _why_dict(seen: TreeSeen, item: Eval) -> dict[str, Any]:
    from weft.tree.view import eval_dict  # noqa: PLC0415 - slow to import

    rules = [{"rule": r.name, "passed": r.passed, "said": r.said} for r in item.rules]
    return {**eval_dict(item, seen.timing.get(item.eval_id)), "rules": rules}


def _why_lines(seen: TreeSeen, item: Eval, run: Path) -> list[str]:
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
    lines.append(f"verdict {item.verdict}")
    if item.keys:
        lines.append(f"log     {render.command('explain', run, item.keys[-1][:12])}")
    return lines

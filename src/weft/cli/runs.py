"""Commands that run tasks: run, resume, replay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from weft.console import options, render, views
from weft.console.progress import resumable, watching

if TYPE_CHECKING:
    from weft.inspect.replay import ReplayReport

DIFFERENT = 1


def run(
    spec: Annotated[
        str,
        typer.Argument(
            metavar="SPEC",
            help="module:search, path/file.py:search, or the name of an installed search.",
        ),
    ],
    out: options.Out,
    args: options.Args = "{}",
    seed: options.Seed = 0,
    inputs: options.Inputs = [],  # noqa: B006 - typer copies it
    budgets: options.Budgets = [],  # noqa: B006
    retries: options.Retries = 0,
    timeout: options.Timeout = None,
    strict: options.Strict = False,
    workers: options.Workers = None,
    backend: options.Backend = None,
    ray_address: options.RayAddress = None,
    nodes: options.Nodes = None,
    simulate: options.SimulateNodes = False,
    placement: options.Placement = None,
    stagger: options.Stagger = None,
    accept: options.Accept = [],  # noqa: B006
    wall_limit: options.WallLimit = None,
    sign_key: options.SignKey = None,
    path: options.SearchPath = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Run a search into a new folder, or go on with the run that is there."""
    given, counts = options.read_inputs(inputs), options.read_budgets(budgets)
    values = options.read_args(args)
    options.check_seconds("--timeout", timeout)
    options.check_seconds("--wall-limit", wall_limit)
    options.check_stagger(stagger)

    from weft.runs import run as wiring  # noqa: PLC0415 - slow to import
    from weft.runs.resume import load_search  # noqa: PLC0415

    search = load_search(spec, path)(**values)
    with watching(quiet, verbose) as watcher, resumable(out):
        done = wiring.run(
            search,
            out=out,
            seed=seed,
            inputs=given,
            budget=counts,
            retries=retries,
            timeout_s=timeout,
            strict=strict,
            workers=workers,
            backend=backend or "local",
            accept=accept,
            wall_limit_s=wall_limit,
            sign_key=sign_key,
            nodes=options.read_nodes(nodes, simulate=simulate, backend=backend),
            ray_address=options.ray_address(backend, ray_address, nodes),
            placement=placement or "greedy",
            stagger_s=stagger or 0.0,
            watcher=watcher,
        )
    render.show_run(done, as_json=as_json)
    raise typer.Exit(done.exit_code)


def resume(
    run: options.RunArgument,
    path: options.SearchPath = None,
    workers: options.Workers = None,
    backend: options.Backend = None,
    ray_address: options.RayAddress = None,
    nodes: options.Nodes = None,
    simulate: options.SimulateNodes = False,
    placement: options.Placement = None,
    stagger: options.Stagger = None,
    accept: options.Accept = [],  # noqa: B006
    wall_limit: options.WallLimit = None,
    sign_key: options.SignKey = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Go on with an interrupted run, with the options it was begun with."""
    options.check_seconds("--wall-limit", wall_limit)
    options.check_stagger(stagger)

    from weft.inspect.products import finish_run, summary_lines  # noqa: PLC0415
    from weft.runs import resume as wiring  # noqa: PLC0415 - slow to import

    with watching(quiet, verbose) as watcher, resumable(run):
        done = wiring.resume(
            run,
            path=path,
            workers=workers,
            nodes=options.read_nodes(nodes, simulate=simulate, backend=backend),
            ray_address=options.ray_address(backend, ray_address, nodes) or None,
            placement=placement,
            stagger_s=stagger,
            backend=backend,
            accept=accept,
            wall_limit_s=wall_limit,
            sign_key=sign_key,
            watcher=watcher,
        )
    finish_run(done.out, done.search)
    lines = () if as_json else summary_lines(done.out, done.search)
    render.show_run(done, as_json=as_json, lines=lines)
    raise typer.Exit(done.exit_code)


def replay(
    run: options.RunArgument,
    path: options.SearchPath = None,
    workers: options.Workers = None,
    backend: options.Backend = None,
    commands: Annotated[
        bool, typer.Option("--commands", help="Run external commands again too.")
    ] = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Run every function task of a finished run again and compare the ledger byte for byte.

    External commands are answered from the record unless --commands is given.
    Exit code 0 when the ledgers are equal, 1 when they differ.
    """
    from weft.inspect import replay as wiring  # noqa: PLC0415 - slow to import

    with watching(quiet, verbose) as watcher:
        report = wiring.replay(
            run,
            path=path,
            workers=workers,
            backend=backend or "local",
            commands=commands,
            watcher=watcher,
        )
    if as_json:
        render.print_json(report.to_dict())
    else:
        _show_replay(report)
    raise typer.Exit(0 if report.equal else DIFFERENT)


def _show_replay(report: ReplayReport) -> None:
    for package in report.code_changed:
        render.message(f"weft: the source of package {package} is not what was recorded")
    if report.difference is None:
        render.out(f"equal   {report.tasks} tasks run again, {report.size} records the same")
        render.out(f"head    {report.size} {report.replayed_head}")
    else:
        views.show_difference(report.difference, ("recorded", "replayed"))

"""Commands that run tasks: run, resume, replay."""

from __future__ import annotations

from typing import Annotated

import typer

from weft.console import options, render, views
from weft.console.execution import ExecutionOptions, OutputOptions
from weft.console.groups import with_groups
from weft.console.progress import resumable, watching
from weft.lazy_imports import lazy_imports

with lazy_imports():
    from weft.inspect import products
    from weft.inspect import replay as replays
    from weft.runs import resume as resuming
    from weft.runs import run as running

DIFFERENT = 1

SearchName = Annotated[
    str,
    typer.Argument(
        metavar="SPEC",
        help="module:search, path/file.py:search, or the name of an installed search.",
    ),
]
AcceptCode = Annotated[
    list[str] | None,
    typer.Option(
        "--accept",
        metavar="WHAT",
        help="Go on although: code (it came with the run, from elsewhere).",
    ),
]
Commands = Annotated[bool, typer.Option("--commands", help="Run external commands again too.")]


@with_groups
def run(
    spec: SearchName,
    out: options.Out,
    args: options.Args = "{}",
    seed: options.Seed = 0,
    inputs: options.Inputs = None,
    budgets: options.Budgets = None,
    retries: options.Retries = 0,
    timeout: options.Timeout = None,
    strict: options.Strict = False,
    path: options.SearchPath = None,
    *,
    execution: ExecutionOptions,
    output: OutputOptions,
) -> None:
    """Run a search into a new folder, or continue the run that is there."""
    files, counts = options.read_inputs(inputs), options.read_budgets(budgets)
    values = options.read_args(args)
    options.check_seconds("--timeout", timeout)
    how = execution.execution(out)
    search = resuming.load_search(spec, path)(**values)
    with watching(output.quiet, output.verbose) as watcher, resumable(out):
        done = running.run_search(
            search,
            how,
            seed=seed,
            inputs=files,
            budget=counts,
            policy=running.checked_policy(retries, timeout, strict),
            watcher=watcher,
        )
    render.show_run(done, as_json=output.as_json)
    raise typer.Exit(done.exit_code)


@with_groups
def resume(
    run: options.RunArgument,
    path: options.SearchPath = None,
    *,
    execution: ExecutionOptions,
    output: OutputOptions,
) -> None:
    """Continue an interrupted run, with the options it was started with."""
    changes = execution.changes()
    with watching(output.quiet, output.verbose) as watcher, resumable(run):
        done = resuming.resume(run, changes, path=path, watcher=watcher)
    products.finish_run(done.out, done.search)
    lines = () if output.as_json else products.summary_lines(done.out, done.search)
    render.show_run(done, as_json=output.as_json, lines=lines)
    raise typer.Exit(done.exit_code)


@with_groups
def replay(
    run: options.RunArgument,
    path: options.SearchPath = None,
    workers: options.Workers = None,
    backend: options.Backend = None,
    commands: Commands = False,
    accept: AcceptCode = None,
    *,
    output: OutputOptions,
) -> None:
    """Run every function task of a finished run again and compare the ledger byte for byte.

    External commands are answered from the record unless --commands is given.
    Exit code 0 when the ledgers are equal, 1 when they differ.
    """
    with watching(output.quiet, output.verbose) as watcher:
        report = replays.replay(
            run,
            path=path,
            workers=workers,
            backend=backend or "local",
            commands=commands,
            accept=tuple(accept or ()),
            watcher=watcher,
        )
    if output.as_json:
        render.print_json(report.to_dict())
    else:
        _show_replay(report)
    raise typer.Exit(0 if report.equal else DIFFERENT)


def _show_replay(report: replays.ReplayReport) -> None:
    for package in report.code_changed:
        render.message(f"weft: the source of package {package} is not what was recorded")
    if report.difference is None:
        render.out(f"equal   {report.tasks} tasks run again, {report.size} records the same")
        render.out(f"head    {report.size} {report.replayed_head}")
    else:
        views.show_difference(report.difference, ("recorded", "replayed"))

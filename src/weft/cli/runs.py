"""Commands that run tasks: run, resume, replay."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from weft.console import options, render, views
from weft.console.execution import ExecutionOptions, OutputOptions, SessionOptions
from weft.console.groups import with_groups
from weft.console.progress import resumable, watching
from weft.errors import UsageError
from weft.inspect.report.text import counted
from weft.lazy_imports import lazy_imports

with lazy_imports():
    from weft.inspect import products
    from weft.inspect import replay as replays
    from weft.runs import notices
    from weft.runs import resume as resuming
    from weft.runs import retry as retrying
    from weft.runs import run as running

DIFFERENT = 1

SearchName = Annotated[
    str,
    typer.Argument(
        metavar="SPEC",
        help="module:search, path/file.py:search, or the name of an installed search.",
    ),
]
RetryFailed = Annotated[
    bool, typer.Option("--retry-failed", help="Rerun the failed tasks in a new run, --out.")
]
RetryOut = Annotated[
    Path | None,
    typer.Option("--out", metavar="NEW", help="The new run's folder, with --retry-failed."),
]
Events = Annotated[
    Path | None,
    typer.Option(
        "--events",
        metavar="FILE",
        help="Append the search's own events to FILE as they happen, one JSON object each.",
    ),
]
AcceptCode = Annotated[
    list[str] | None,
    typer.Option(
        "--accept",
        metavar="WHAT",
        help="Continue despite: code (stored in a run from elsewhere).",
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
    tags: options.Tags = None,
    *,
    execution: ExecutionOptions,
    session: SessionOptions,
    output: OutputOptions,
) -> None:
    """Run a search in a new folder, or continue the run in it."""
    files, counts = options.read_inputs(inputs), options.read_budgets(budgets)
    values = options.read_args(args)
    options.check_seconds("--timeout", timeout)
    how = replace(
        execution.execution(out),
        notices=not output.quiet,
        warnings=not output.quiet,
        group_cap=session.group_cap,
        pause_at=session.pause_at,
        tags=tuple(tags or ()),
    )
    search = resuming.called(resuming.load_search(spec, path), spec, values)
    with watching(output.quiet, output.verbose) as watcher, resumable(out):
        result = running.run_search(
            search,
            how,
            seed=seed,
            inputs=files,
            budget=counts,
            policy=running.checked_policy(retries, timeout, strict),
            watcher=watcher,
        )
    render.show_run(result, as_json=output.as_json)
    if not output.quiet:
        notices.warn_of_failures(result)
    raise typer.Exit(result.exit_code)


@with_groups
def resume(
    run: options.RunArgument,
    retry_failed: RetryFailed = False,
    out: RetryOut = None,
    path: options.SearchPath = None,
    events: Events = None,
    *,
    execution: ExecutionOptions,
    session: SessionOptions,
    output: OutputOptions,
) -> None:
    """Continue an interrupted run, with the options it was started with.

    With --retry-failed --out NEW, rerun the failed tasks of a finished run in a new run, which
    reuses the other results as long as the search asks for the same tasks. RUN is not changed.
    The source may have been fixed in the meantime. Continue NEW with weft resume NEW.
    """
    if retry_failed != (out is not None):
        raise UsageError(
            "--retry-failed needs --out, and --out needs --retry-failed: the retry is a new run",
            hint=f"{render.command('resume', run)} --retry-failed --out NEW",
        )
    changes = replace(
        execution.changes(),
        notices=not output.quiet,
        warnings=not output.quiet,
        group_cap=session.group_cap,
        pause_at=session.pause_at,
    )
    search = resuming.search_of(run)
    with (
        watching(output.quiet, output.verbose) as watcher,
        resumable(out or run),
        products.followed(out or run, search, watcher, events) as follower,
    ):
        if out is None:
            result = resuming.resume(run, changes, path=path, watcher=follower)
        else:
            result = retrying.retry_failed(run, out, changes, path=path, watcher=follower)
    products.finish_run(result.out, result.search)
    lines = () if output.as_json else products.summary_lines(result.out, result.search)
    render.show_run(result, as_json=output.as_json, lines=lines)
    if not output.quiet:
        notices.warn_of_failures(result)
    raise typer.Exit(result.exit_code)


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

    Results of external commands are taken from the record unless --commands is given.
    Exit code 0 if the ledgers are equal, 1 if they differ.
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
        render.message(f"weft: the source of package {package} differs from what was recorded")
    if report.difference is None:
        tasks, records = counted(report.tasks, "task"), counted(report.size, "record")
        render.out(f"equal   {tasks} run again, {records} the same")
        render.out(f"head    {report.size} {report.replayed_head}")
    else:
        views.show_difference(report.difference, ("recorded", "replayed"))

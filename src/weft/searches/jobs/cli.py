"""`weft jobs`: script jobs on the slots of nodes. Parses, calls, prints."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

import typer

from weft.console import nodeplan, options, render
from weft.console.execution import OutputOptions, ViewOptions
from weft.console.groups import with_groups
from weft.console.progress import resumable, watching
from weft.errors import UsageError
from weft.inspect.report.text import counted
from weft.lazy_imports import lazy_imports
from weft.searches.jobs import options as opts

with lazy_imports():
    from weft.inspect.report import view as run_views
    from weft.runs import outcome
    from weft.searches.jobs import fetch as fetching
    from weft.searches.jobs import plan as plans
    from weft.searches.jobs import request as requests
    from weft.searches.jobs import run as runs
    from weft.searches.jobs import view as views

TIMEOUT_S = 3600.0
MAX_ROWS = 1000
"""Number of jobs above which the table omits completed ones."""

app = typer.Typer(
    name="jobs",
    help="Run a list of scripts on the GPUs and CPUs of nodes, and collect their results.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@app.command()
@with_groups
def run(
    jobs: opts.Jobs,
    out: opts.OutUnlessDry = None,
    *,
    execution: opts.JobsExecutionOptions,
    dry_run: opts.DryRun = False,
    timeout: opts.JobTimeout = TIMEOUT_S,
    retries: options.Retries = 0,
    seed: options.Seed = 0,
    strict: options.Strict = False,
    output: OutputOptions,
) -> None:
    """Run every job of a file, or continue the run in the folder.

    Exit code 0 if all jobs completed, 4 if any failed.
    """
    options.check_seconds("--timeout", timeout)
    execution.check()
    if out is None and not dry_run:
        raise UsageError("--out DIR is missing", hint="or look at the plan with --dry-run")
    limits = requests.JobLimits(timeout, retries, strict, seed)
    if out is None or dry_run:
        _plan(jobs, limits, execution, as_json=output.as_json)
        return
    how = execution.execution(out)
    request = requests.read_request(jobs, limits, how.nodes, how.workers, anywhere=how.on_ray)
    _show_plan(request, how.placement, as_json=False, quiet=output.quiet)
    with watching(output.quiet, output.verbose) as watcher, resumable(out):
        result = runs.execute_jobs(request, how, watcher)
    _show_done(result, how.placement, as_json=output.as_json, quiet=output.quiet)
    raise typer.Exit(result.exit_code)


def _plan(
    jobs: Path, limits: requests.JobLimits, execution: opts.JobsExecutionOptions, *, as_json: bool
) -> None:
    """Show where jobs would run; other machines are checked only if a cluster is running."""
    nodes, workers = execution.plan_nodes(), execution.workers
    is_ray = execution.backend == "ray"
    anywhere = not execution.simulate_nodes and (is_ray or bool(nodes))
    request = requests.read_request(jobs, limits, nodes, workers, anywhere=anywhere)
    mode = execution.mode()
    address = execution.cluster_address if is_ray else None
    notes = runs.unchecked_nodes(request, address) if anywhere else []
    _show_plan(request, mode, as_json=as_json, quiet=False)
    for line in notes:
        render.message(line)


@app.command()
@with_groups
def fetch(
    run: options.RunArgument,
    to: opts.ResultFolder,
    jobs: opts.FetchedJobs = None,
    *,
    output: ViewOptions,
) -> None:
    """Write the results of a jobs run to files, checked against the ledger's hashes.

    Each goes to DIR/JOB_ID with the suffix of its expected file, or .json. No file is overwritten.
    """
    written = fetching.fetch(run, to, jobs or [])
    if output.as_json:
        files = [
            {"job_id": f.job_id, "path": str(f.path), "bytes": f.size_bytes, "sha256": f.digest}
            for f in written
        ]
        render.print_json({"run": str(run), "files": files})
    else:
        for file in written:
            render.out(f"{file.path}  {file.size_bytes:,} bytes  {file.digest[:12]}")


# -- output -------------------------------------------------------------------------------------


def _show_plan(request: requests.JobsRequest, mode: str, *, as_json: bool, quiet: bool) -> None:
    """Print the number of jobs per node to stderr before anything starts, or the plan as JSON."""
    static = mode == "static"
    dealt = plans.static_plan(request.jobs, request.nodes) if static else []
    if as_json:
        slots = [s.name if s and static else None for s in plans.table(request.jobs, request.nodes)]
        jobs = [
            {"job_id": job.job_id, "gpu": job.gpu, "slot": slot}
            for job, slot in zip(request.jobs, slots, strict=True)
        ]
        nodes = [plan.to_dict() for plan in dealt]
        render.print_json({"placement": mode, "nodes": nodes, "jobs": jobs})
    elif static and not quiet:
        _print_plans(dealt)
    elif not quiet:
        render.message(_sign() + plans.greedy_line(request.jobs, request.nodes))


def _print_plans(node_plans: Sequence[nodeplan.NodePlan]) -> None:
    for plan in node_plans:
        render.message(_sign() + plan.line())


def _sign() -> str:
    """Return the symbol before a line of the plan, if the terminal can show it."""
    encoding = (getattr(sys.stderr, "encoding", None) or "").lower().replace("-", "")
    return nodeplan.SIGN if encoding == "utf8" else ""


def _show_done(done: outcome.Run, mode: str, *, as_json: bool, quiet: bool) -> None:
    """Print each job, the total time, and finally the head."""
    view = run_views.RunView(done.out, done.search)
    jobs, nodes = views.jobs_of(view), views.nodes_of(view)
    timing = views.times_of(jobs, nodes, view.paused_s())
    if as_json:
        more = {"jobs": [job.to_dict() for job in jobs], "times": timing and timing.to_dict()}
        render.print_json({**done.to_dict(), **more})
        return
    if mode == "greedy" and not quiet:
        _print_plans(views.distribution(jobs, nodes))
    _print_table(jobs, done.out)
    for line in timing.lines() if timing else ():
        render.out(line)
    render.show_end(done)


def _print_table(jobs: Sequence[views.ViewedJob], run: Path) -> None:
    listed = jobs if len(jobs) <= MAX_ROWS else [job for job in jobs if job.status != "completed"]
    rows = [("job", "status", "slot", "seconds", "bytes", "result")]
    rows += [_cells(job, run) for job in listed]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for row in rows:
        left = [f"{text:<{width}}" for text, width in zip(row[:3], widths[:3], strict=True)]
        right = [f"{text:>{width}}" for text, width in zip(row[3:5], widths[3:], strict=True)]
        render.out("  ".join([*left, *right, row[5]]).rstrip())
    if len(listed) < len(jobs):
        render.out(f"… and {counted(len(jobs) - len(listed), 'job')} that completed")


def _cells(job: views.ViewedJob, run: Path) -> tuple[str, str, str, str, str, str]:
    seconds = "" if job.seconds is None else f"{job.seconds:.2f}"
    size = "" if job.size_bytes is None else f"{job.size_bytes:,}"
    why = f"{job.why()}; {render.command('explain', run, job.key[:12])}" if job.error else ""
    result = why or f"{job.source} {(job.digest or '')[:12]}" * bool(job.digest)
    return job.job_id, job.status, job.slot or "", seconds, size, result

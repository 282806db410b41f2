"""`weft jobs`: script jobs on the slots of nodes. Parses, calls the wiring, prints."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weft.console import options, render
from weft.console.progress import resumable, watching
from weft.errors import UsageError, WorldError

if TYPE_CHECKING:
    from weft.console.nodeplan import NodePlan
    from weft.runs.outcome import Run
    from weft.searches.jobs.request import JobsRequest
    from weft.searches.jobs.seen import JobSeen

TIMEOUT_S = 3600.0
MAX_ROWS = 1000
"""More jobs than this are not listed for people: only those that failed are."""

app = typer.Typer(
    name="jobs",
    help="Run a list of scripts on the GPUs and CPUs of nodes, and take their results in.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


Jobs = Annotated[Path, typer.Argument(metavar="JOBS", help="Jobs file: JSON, JSON lines or TOML.")]
OutUnlessDry = Annotated[
    Path | None, options.runtime("DIR", "The run's folder; needed unless --dry-run.")
]
JobPlacement = Annotated[
    str | None,
    options.runtime(
        "greedy|static",
        "Next job to the first free slot, or dealt to the slots beforehand:"
        " static with a classic node file, else greedy.",
    ),
]
JobWorkers = Annotated[
    int | None,
    options.runtime(
        "N",
        "Without --nodes: CPU slots of this machine, 1 if not said."
        " With --nodes: how many jobs may run at a time.",
    ),
]
DryRun = Annotated[
    bool, options.runtime(None, "Print the plan and stop; nothing is created.", "--dry-run")
]
JobTimeout = Annotated[
    float,
    options.decision("S", "Seconds for an attempt of a job that has no timeout_s of its own."),
]


@app.command()
def run(
    jobs: Jobs,
    out: OutUnlessDry = None,
    backend: options.Backend = None,
    ray_address: options.RayAddress = None,
    nodes: options.Nodes = None,
    simulate: options.SimulateNodes = False,
    placement: JobPlacement = None,
    stagger: options.Stagger = None,
    workers: JobWorkers = None,
    dry_run: DryRun = False,
    timeout: JobTimeout = TIMEOUT_S,
    retries: options.Retries = 0,
    seed: options.Seed = 0,
    strict: options.Strict = False,
    accept: options.Accept = [],  # noqa: B006 - typer copies it
    wall_limit: options.WallLimit = None,
    sign_key: options.SignKey = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,
) -> None:
    """Run every job of a file, or go on with the run that is there.

    Exit code 0 when all jobs completed, 4 when any failed.
    """
    options.check_seconds("--timeout", timeout)
    options.check_seconds("--wall-limit", wall_limit)
    options.check_stagger(stagger)
    if out is None and not dry_run:
        raise UsageError("--out DIR is missing", hint="or look at the plan with --dry-run")
    places = options.read_nodes(nodes, simulate=simulate, backend=backend, plan_only=dry_run)
    if backend == "ray" and nodes is None:
        raise UsageError("weft jobs with --backend ray needs --nodes FILE", hint="for its plan")
    anywhere = backend == "ray" or (dry_run and not simulate)
    request = _read(jobs, places, workers, timeout, anywhere=anywhere)
    mode = placement or _usual_placement(nodes)
    if out is None or dry_run:
        unseen = _unseen_nodes(request, backend, ray_address, nodes) if anywhere else []
        _show_plan(request, mode, as_json=as_json, quiet=False)
        for line in unseen:
            render.message(line)
        return
    _show_plan(request, mode, as_json=False, quiet=quiet)

    from weft.runs import run as wiring  # noqa: PLC0415
    from weft.searches.jobs.request import on_checked_nodes  # noqa: PLC0415
    from weft.searches.jobs.search import jobs as search  # noqa: PLC0415 - slow to import

    address = options.ray_address(backend, ray_address, nodes)
    cluster = on_checked_nodes(request, out, address, workers, ray=backend == "ray")
    with watching(quiet, verbose) as watcher, resumable(out), cluster:
        done = wiring.run(
            search(jobs=[job.to_dict() for job in request.jobs]),
            out=out,
            seed=seed,
            retries=retries,
            strict=strict,
            workers=workers,
            backend=backend or "local",
            ray_address=address,
            accept=accept,
            wall_limit_s=wall_limit,
            sign_key=sign_key,
            nodes=request.nodes if nodes is not None else (),
            placement=mode,
            stagger_s=stagger or 0.0,
            watcher=watcher,
        )
    _show_done(done, mode, as_json=as_json, quiet=quiet)
    raise typer.Exit(done.exit_code)


@app.command()
def fetch(
    run: options.RunArgument,
    to: Annotated[Path, typer.Option(metavar="DIR", help="Folder to write the results into.")],
    jobs: Annotated[
        list[str] | None,
        typer.Argument(metavar="JOB", help="Jobs to fetch; all that completed if none is named."),
    ] = None,
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001 - main looks for -vv
) -> None:
    """Write the results of a jobs run as files, checked against the ledger's hashes.

    Each goes to DIR/JOB_ID with the suffix of its expected file, or .json. No file is overwritten.
    """
    from weft.searches.jobs.fetch import fetch as write  # noqa: PLC0415 - slow to import
    from weft.searches.jobs.request import check_jobs_run  # noqa: PLC0415
    from weft.searches.jobs.search import NAME  # noqa: PLC0415

    check_jobs_run(run, NAME)
    written = write(run, NAME, to, jobs or [])
    if as_json:
        files = [
            {"job_id": f.job_id, "path": str(f.path), "bytes": f.size_bytes, "sha256": f.digest}
            for f in written
        ]
        render.print_json({"run": str(run), "files": files})
    else:
        for file in written:
            render.out(f"{file.path}  {file.size_bytes:,} bytes  {file.digest[:12]}")


def _read(
    path: Path, nodes: Sequence[Any], workers: int | None, timeout_s: float, *, anywhere: bool
) -> JobsRequest:
    from weft.searches.jobs.request import read_request  # noqa: PLC0415 - slow to import

    if workers is not None and workers < 1:
        raise UsageError(f"--workers must be 1 or more, not {workers}")
    return read_request(path, nodes, workers, timeout_s, anywhere=anywhere)


def _unseen_nodes(
    request: JobsRequest, backend: str | None, address: str | None, nodes: Path | None
) -> list[str]:
    """Look at other machines as far as a cluster of them is up; name those that stay unseen."""
    from weft.searches.jobs.request import check_cluster, other_nodes  # noqa: PLC0415 - slow to import

    others = other_nodes(request)
    if others and backend == "ray":
        try:
            check_cluster(request, options.ray_address(backend, address, nodes))
        except WorldError as error:
            return [f"not checked: {', '.join(others)[:200]}: {error.message}"]
        return []
    return [f"not checked: {name} is not this machine" for name in others]


def _usual_placement(nodes: Path | None) -> str:
    if nodes is None:
        return "greedy"
    from weft.cluster.nodesfile import is_classic  # noqa: PLC0415 - slow to import

    return "static" if is_classic(nodes) else "greedy"


# -- what is printed ----------------------------------------------------------------------------


def _show_plan(request: JobsRequest, mode: str, *, as_json: bool, quiet: bool) -> None:
    """Say on stderr, before anything starts, which node will run how many jobs."""
    from weft.coordinator.placement import PLACEMENTS  # noqa: PLC0415 - slow to import
    from weft.searches.jobs.plan import greedy_line, static_plan, table  # noqa: PLC0415

    if mode not in PLACEMENTS:
        raise UsageError(f"--placement must be one of {', '.join(PLACEMENTS)}, not {mode!r}")
    static = mode == "static"
    plans = static_plan(request.jobs, request.nodes) if static else []
    if as_json:
        slots = [s.name if s and static else None for s in table(request.jobs, request.nodes)]
        dealt = [
            {"job_id": job.job_id, "gpu": job.gpu, "slot": slot}
            for job, slot in zip(request.jobs, slots, strict=True)
        ]
        nodes = [plan.to_dict() for plan in plans]
        render.print_json({"placement": mode, "nodes": nodes, "jobs": dealt})
    elif static and not quiet:
        _print_plans(plans)
    elif not quiet:
        render.message(_sign() + greedy_line(request.jobs, request.nodes))


def _print_plans(plans: Sequence[NodePlan]) -> None:
    for plan in plans:
        render.message(_sign() + plan.line())


def _sign() -> str:
    """The sign before a line of the plan, where it can be written."""
    from weft.console.nodeplan import SIGN  # noqa: PLC0415

    encoding = (getattr(sys.stderr, "encoding", None) or "").lower().replace("-", "")
    return SIGN if encoding == "utf8" else ""


def _show_done(done: Run, mode: str, *, as_json: bool, quiet: bool) -> None:
    """Print each job, how long all took, and last the head."""
    from weft.inspect.report.view import RunView  # noqa: PLC0415
    from weft.searches.jobs.seen import distribution, jobs_of, nodes_of  # noqa: PLC0415 - slow to import
    from weft.searches.jobs.times import times_of  # noqa: PLC0415

    view = RunView(done.out, done.search)
    jobs, nodes = jobs_of(view), nodes_of(view)
    times = times_of(jobs, nodes, view.paused_s())
    if as_json:
        more = {"jobs": [job.to_dict() for job in jobs], "times": times and times.to_dict()}
        render.print_json({**done.to_dict(), **more})
        return
    if mode == "greedy" and not quiet:
        _print_plans(distribution(jobs, nodes))
    _print_table(jobs, done.out)
    for line in times.lines() if times else ():
        render.out(line)
    render.show_end(done)


def _print_table(jobs: Sequence[JobSeen], run: Path) -> None:
    shown = jobs if len(jobs) <= MAX_ROWS else [job for job in jobs if job.status != "completed"]
    rows = [("job", "status", "slot", "seconds", "bytes", "result")]
    rows += [_cells(job, run) for job in shown]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for row in rows:
        left = [f"{text:<{width}}" for text, width in zip(row[:3], widths[:3], strict=True)]
        right = [f"{text:>{width}}" for text, width in zip(row[3:5], widths[3:], strict=True)]
        render.out("  ".join([*left, *right, row[5]]).rstrip())
    if len(shown) < len(jobs):
        render.out(f"… and {len(jobs) - len(shown):,} jobs that completed")


def _cells(job: JobSeen, run: Path) -> tuple[str, str, str, str, str, str]:
    seconds = "" if job.seconds is None else f"{job.seconds:.2f}"
    size = "" if job.size_bytes is None else f"{job.size_bytes:,}"
    why = f"{job.why()}; {render.command('explain', run, job.key[:12])}" if job.error else ""
    result = why or f"{job.source} {(job.digest or '')[:12]}" * bool(job.digest)
    return job.job_id, job.status, job.slot or "", seconds, size, result

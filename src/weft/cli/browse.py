"""Commands for many runs or many results: list, export."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer

from weft.console import options, render
from weft.console.execution import ViewOptions
from weft.console.groups import with_groups
from weft.errors import UsageError
from weft.lazy_imports import lazy_imports

with lazy_imports():
    from weft.inspect import export as exporting
    from weft.inspect import listing, results

ANSWER_CHARS = 60


@with_groups
def list_runs(
    folder: Annotated[Path, typer.Argument(metavar="FOLDER", help="A folder of runs.")] = Path(
        "runs"
    ),
    *,
    output: ViewOptions,
) -> None:
    """List the runs in a folder, newest first: state, start, duration, tasks, answer, tags.

    For a damaged run the line names the damage.
    """
    runs = listing.list_runs(folder)
    if output.as_json:
        render.print_json({"folder": str(folder), "runs": [run.to_dict() for run in runs]})
    elif not runs:
        render.message(f"weft: no runs in {folder}")
    else:
        heading = ("NAME", "SEARCH", "STATE", "STARTED", "DURATION", "TASKS", "ANSWER", "TAGS")
        render.table([heading, *(_line(run) for run in runs)])


def _line(run: listing.RunEntry) -> tuple[str, ...]:
    answer = render.one_line(run.answer)
    if len(answer) > ANSWER_CHARS:
        answer = f"{answer[: ANSWER_CHARS - 1]}…"
    tasks = f"{run.tasks} ({run.failed} failed)" if run.failed else str(run.tasks)
    return (
        render.one_line(run.name), run.search, run.state, _started(run.started_at),
        _duration(run.duration_s), tasks, answer, " ".join(run.tags),
    )  # fmt: skip


def _started(at: float | None) -> str:
    return "" if at is None else time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def _duration(seconds: float | None) -> str:
    """Return a duration in a suitable unit.

    >>> [_duration(s) for s in (None, 0.25, 61, 3 * 3600 + 5)]
    ['', '0.2 s', '1:01', '3:00:05']
    """
    if seconds is None:
        return ""
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest_s = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest_s:02}" if hours else f"{minutes}:{rest_s:02}"


@with_groups
def export(
    run: options.RunArgument,
    csv: Annotated[bool, typer.Option("--csv", help="Write CSV.")] = False,
    parquet: Annotated[
        bool, typer.Option("--parquet", help="Write Parquet; needs pyarrow or polars.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Output file. Default for CSV: stdout.")
    ] = None,
    lane: Annotated[
        str | None, typer.Option(metavar="PATH", help="Only this lane's results; / for the root.")
    ] = None,
    round_: Annotated[
        int | None, typer.Option("--round", metavar="N", help="Only the results of round N.")
    ] = None,
    *,
    output: ViewOptions,
) -> None:
    """Write a run's results as CSV or Parquet: position, arguments, value, error, times.

    For an unfinished run it writes the results so far.
    """
    if csv == parquet:
        raise UsageError("choose one of --csv and --parquet")
    if out is None and (parquet or output.as_json):
        option = "--parquet" if parquet else "--json"
        raise UsageError(f"{option} needs --out FILE")
    rows = results.read_results(run, lane, round_)
    if out is None:
        exporting.print_csv(run, rows, sys.stdout)
        return
    written = rows.to_parquet(out) if parquet else rows.to_csv(out)
    if output.as_json:
        body = {"out": str(written), "rows": len(rows), "size_bytes": written.stat().st_size}
        render.print_json(body)
    else:
        render.out(str(written))

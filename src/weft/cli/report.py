"""`weft report`: one HTML file that shows a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weft.console import options, render
from weft.console.execution import ViewOptions
from weft.console.groups import with_groups
from weft.lazy_imports import lazy_imports

with lazy_imports():
    from weft.inspect.report import page
    from weft.runs import run as running


@with_groups
def report(
    run: options.RunArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write it; RUN/report.html at first."),
    ] = None,
    *,
    output: ViewOptions,
) -> None:
    """Write one HTML file that shows the run, to be opened in any browser, offline.

    A damaged run gets a report that says so.
    """
    written = page.write_report(run, running.real_place().heads, out)
    if output.as_json:
        render.print_json({"report": str(written), "size_bytes": written.stat().st_size})
    else:
        render.out(str(written))

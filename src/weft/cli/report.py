"""`weft report`: one HTML file that shows a run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weft.console import options, render


def report(
    run: options.RunArgument,
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write it; RUN/report.html without it."),
    ] = None,
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001 - main looks for -vv
) -> None:
    """Write one HTML file that shows the run, to be opened in any browser, offline.

    A damaged run gets a report that names the damage.
    """
    from weft.inspect.report.page import write_report  # noqa: PLC0415 - slow to import
    from weft.runs.run import real_place  # noqa: PLC0415

    written = write_report(run, real_place().heads, out)
    if as_json:
        render.print_json({"report": str(written), "size_bytes": written.stat().st_size})
    else:
        render.out(str(written))

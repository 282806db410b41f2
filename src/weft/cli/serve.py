"""`weft serve`: runs as they go on, in a browser on this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from weft.console import render
from weft.console.execution import OutputOptions
from weft.console.groups import with_groups
from weft.lazy_imports import lazy_imports

with lazy_imports():
    from weft.inspect.serve import serving


@with_groups
def serve(
    runs: Annotated[
        Path, typer.Argument(metavar="RUNS", help="A folder that holds runs, or one run.")
    ] = Path("runs"),
    port: Annotated[
        int, typer.Option(metavar="N", help="Port on this machine; 0 takes a free one.")
    ] = 0,
    *,
    output: OutputOptions,
) -> None:
    """Show runs in a browser as they go on: list, views, comparison of two.

    It prints the address to open, which holds a token that is new at each start. It listens on
    127.0.0.1 only, reads only and can start nothing. Ctrl-C ends it and leaves the runs alone.
    """

    def announce(served: serving.Served) -> None:
        if output.as_json:
            render.print_json({"url": served.url, "port": served.port, "runs": str(runs)})
        else:
            render.out(served.url)
        sys.stdout.flush()
        if not output.quiet:
            render.message(f"weft: showing {runs}, on this machine only; Ctrl-C ends it")

    try:
        serving.serve(runs, port, announce)
    except KeyboardInterrupt:
        return

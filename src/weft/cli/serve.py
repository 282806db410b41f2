"""`weft serve`: runs as they go on, in a browser on this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from weft.console import options, render

if TYPE_CHECKING:
    from weft.inspect.serve.serving import ServerAddress


def serve(
    runs: Annotated[
        Path, typer.Argument(metavar="RUNS", help="A folder that holds runs, or one run.")
    ] = Path("runs"),
    port: Annotated[
        int, typer.Option(metavar="N", help="Port on this machine; 0 takes a free one.")
    ] = 0,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = 0,  # noqa: ARG001 - main looks for -vv
) -> None:
    """Show runs live in a browser: a list, a page for each, two compared.

    It prints the address to open, which holds a token that is new at each start. It listens on
    127.0.0.1 only, reads only and can start nothing. Ctrl-C ends it and leaves the runs alone.
    """
    from weft.inspect.serve.serving import serve as listen  # noqa: PLC0415 - slow to import

    def announce(served: ServerAddress) -> None:
        if as_json:
            render.print_json({"url": served.url, "port": served.port, "runs": str(runs)})
        else:
            render.out(served.url)
        sys.stdout.flush()
        if not quiet:
            render.message(f"weft: showing {runs}, on this machine only; Ctrl-C ends it")

    try:
        listen(runs, port, announce)
    except KeyboardInterrupt:
        return

"""`weft pack`: a run in one text, to be handed over."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from weft.console import options, render

DAMAGED = 5


def pack(
    run: options.RunArgument,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Also write a folder with all that repeating the run needs."
        ),
    ] = None,
    replay: Annotated[
        bool, typer.Option("--replay", help="Run every function task again, to check the ledger.")
    ] = False,
    as_json: options.AsJson = False,
    verbose: options.Verbose = 0,  # noqa: ARG001 - main looks for -vv
) -> None:
    """Summarise a run for someone who is to continue it: a status pack in Markdown.

    What was asked, commands to repeat it, results, failures with examples, telemetry, invariants
    and how each was checked, the head, open ends. --json prints the same for programs.
    Exit code 0, and 5 when the run is damaged; the pack then names the damage.
    """
    from weft.inspect.pack.markdown import to_markdown  # noqa: PLC0415 - slow to import
    from weft.inspect.pack.packing import make_pack  # noqa: PLC0415

    made = make_pack(run, out, replayed=replay)
    if as_json:
        render.print_json(made.to_dict())
    else:
        render.out(to_markdown(made).rstrip("\n"))
    raise typer.Exit(0 if made.sound else DAMAGED)
